// Another path of platform/platform_infos_def.h.
#ifndef ASCEND_SDK_FORWARD_PLATFORM_PLATFORM_INFO_DEF_H
#define ASCEND_SDK_FORWARD_PLATFORM_PLATFORM_INFO_DEF_H

#include "platform_infos_def.h"

#endif
