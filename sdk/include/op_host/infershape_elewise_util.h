// Another path of op_common/op_host/infershape_elewise_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H
#define ASCEND_SDK_FORWARD_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H

#include "../op_common/op_host/infershape_elewise_util.h"

#endif
