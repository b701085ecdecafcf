// Another path of op_common/op_host/tiling_base_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_TILING_BASE_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_TILING_BASE_UTIL_H

#include "../op_common/op_host/tiling_base_util.h"

#endif
