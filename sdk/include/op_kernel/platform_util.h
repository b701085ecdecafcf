// Another path of op_common/op_kernel/platform_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_KERNEL_PLATFORM_UTIL_H
#define ASCEND_SDK_FORWARD_OP_KERNEL_PLATFORM_UTIL_H

#include "op_common/op_kernel/platform_util.h"

#endif
