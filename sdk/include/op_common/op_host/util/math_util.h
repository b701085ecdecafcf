// Integer arithmetic of tiling functions. Division by zero gives the dividend (or 0 for alignment) instead of a trap,
// because callers test for the bad result, not for the zero.
#ifndef ASCEND_SDK_OPBASE_MATH_UTIL_H
#define ASCEND_SDK_OPBASE_MATH_UTIL_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type FloorDiv(T x, T y)
{
    return y == 0 ? x : static_cast<T>(x / y);
}

// Quotient rounded towards plus infinity.
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type CeilDiv(T x, T y)
{
    if (y == 0) {
        return x;
    }
    const T quotient = static_cast<T>(x / y);
    const T rest = static_cast<T>(x % y);
    const bool same_sign = (rest > 0) == (y > 0);
    return rest != 0 && same_sign ? static_cast<T>(quotient + 1) : quotient;
}

template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type FloorAlign(T x, T align)
{
    return align == 0 ? T(0) : static_cast<T>(x / align * align);
}

// The largest value of T when the aligned one does not fit.
template <typename T>
typename std::enable_if<std::is_integral<T>::value, T>::type CeilAlign(T x, T align)
{
    T result = 0;
    if (align == 0) {
        return result;
    }
    if (__builtin_mul_overflow(CeilDiv(x, align), align, &result)) {
        return std::numeric_limits<T>::max();
    }
    return result;
}

template <typename T>
typename std::enable_if<std::is_floating_point<T>::value, bool>::type IsFloatEqual(T a, T b)
{
    if (std::isinf(a) || std::isinf(b)) {
        return a == b;
    }
    return std::abs(a - b) <= std::numeric_limits<T>::epsilon();
}

// The largest power of two that is not above n; 0 for 0.
OPBASE_API uint64_t LastPow2(uint64_t n);
} // namespace Base
} // namespace Ops

#endif
