// Another path of op_common/op_kernel/math_util.h.
#ifndef ASCEND_SDK_FORWARD_OP_KERNEL_MATH_UTIL_H
#define ASCEND_SDK_FORWARD_OP_KERNEL_MATH_UTIL_H

#include "op_common/op_kernel/math_util.h"

#endif
