// Another path of op_common/op_host/util/math_util.h.
#ifndef ASCEND_SDK_FORWARD_UTIL_MATH_UTIL_H
#define ASCEND_SDK_FORWARD_UTIL_MATH_UTIL_H

#include "../op_common/op_host/util/math_util.h"

#endif
