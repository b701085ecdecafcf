// Another path of op_common/op_host/util/shape_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_UTIL_SHAPE_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_UTIL_SHAPE_UTIL_H

#include "../../op_common/op_host/util/shape_util.h"

#endif
