// Another path of tiling/platform/platform_ascendc.h.
#ifndef ASCEND_SDK_FORWARD_PLATFORM_PLATFORM_ASCENDC_H
#define ASCEND_SDK_FORWARD_PLATFORM_PLATFORM_ASCENDC_H

#include "../tiling/platform/platform_ascendc.h"

#endif
