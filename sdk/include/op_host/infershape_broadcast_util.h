// Another path of op_common/op_host/infershape_broadcast_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_BROADCAST_UTIL_H

#include "../op_common/op_host/infershape_broadcast_util.h"

#endif
