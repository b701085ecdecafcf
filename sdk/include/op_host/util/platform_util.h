// Another path of op_common/op_host/util/platform_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_UTIL_PLATFORM_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_UTIL_PLATFORM_UTIL_H

#include "../../op_common/op_host/util/platform_util.h"

#endif
