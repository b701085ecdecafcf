// Another path of op_common/op_host/tiling_base_class.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_TILING_BASE_CLASS_H
#define ASCEND_SDK_FORWARD_OP_HOST_TILING_BASE_CLASS_H

#include "../op_common/op_host/tiling_base_class.h"

#endif
