// Another path of platform/platform_ascendc.h.
#ifndef ASCEND_SDK_FORWARD_ACLNN_OPDEV_PLATFORM_H
#define ASCEND_SDK_FORWARD_ACLNN_OPDEV_PLATFORM_H

#include "../../platform/platform_ascendc.h"

#endif
