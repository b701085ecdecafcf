// Another path of toolchain/log_types.h.
#ifndef ASCEND_SDK_FORWARD_BASE_LOG_TYPES_H
#define ASCEND_SDK_FORWARD_BASE_LOG_TYPES_H

#include "../toolchain/log_types.h"

#endif
