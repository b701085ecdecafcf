// Another path of op_common/op_host/infershape_reduce_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_REDUCE_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_REDUCE_UTIL_H

#include "../op_common/op_host/infershape_reduce_util.h"

#endif
