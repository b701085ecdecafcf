// Division and rounding as the operator base library names them. Zero divides to the dividend.
#ifndef ASCEND_SDK_OPBASE_KERNEL_MATH_UTIL_H
#define ASCEND_SDK_OPBASE_KERNEL_MATH_UTIL_H

#include "kernel_operator.h"

namespace Ops {
namespace Base {
template <typename T>
__aicore__ inline T FloorDiv(T a, T b)
{
    return b == 0 ? a : a / b;
}

template <typename T>
__aicore__ inline T CeilDiv(T a, T b)
{
    return b == 0 ? a : (a + b - 1) / b;
}

template <typename T>
__aicore__ inline T CeilAlign(T a, T b)
{
    return b == 0 ? a : CeilDiv(a, b) * b;
}

template <typename T>
__aicore__ inline T FloorAlign(T a, T b)
{
    return b == 0 ? a : a / b * b;
}
} // namespace Base
} // namespace Ops

#endif
