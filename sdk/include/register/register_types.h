// Visibility of what registries hand out.
#ifndef ASCEND_SDK_REGISTER_REGISTER_TYPES_H
#define ASCEND_SDK_REGISTER_REGISTER_TYPES_H

#ifndef FMK_FUNC_HOST_VISIBILITY
#define FMK_FUNC_HOST_VISIBILITY __attribute__((visibility("default")))
#endif
#ifndef FMK_FUNC_DEV_VISIBILITY
#define FMK_FUNC_DEV_VISIBILITY __attribute__((visibility("default")))
#endif

#endif
