// Visibility mark of the operator base library's functions.
#ifndef ASCEND_SDK_OPBASE_EXPORT_H
#define ASCEND_SDK_OPBASE_EXPORT_H

#ifndef OPBASE_API
#define OPBASE_API __attribute__((visibility("default")))
#endif

#endif
