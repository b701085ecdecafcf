// Vector-with-scalar functions that a kernel hands on by name, as in `Elementwise<half, Adds>`.
//
// The headers declare several templates that fit such an argument. Partial ordering prefers the one with a single type, and
// clang, on which the device's compiler rests, takes it; g++ orders the instantiations instead of the templates and finds
// none better. An ordinary function is preferred to any template, so g++ gets one for each type; calls with a scalar of
// another type are refused here as the headers refuse them.
#ifndef ASCENDSIM_TOOLKIT_SCALAR_FUNCTIONS_H
#define ASCENDSIM_TOOLKIT_SCALAR_FUNCTIONS_H

#if defined(__GNUC__) && !defined(__clang__) && defined(ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H)

#include <type_traits>

#define ASCENDSIM_BY_NAME(function, type)                                                                             \
    __attribute__((always_inline)) inline void function(const LocalTensor<type>& dst, const LocalTensor<type>& src,   \
        const type& scalarValue, const int32_t& count)                                                                \
    {                                                                                                                 \
        function<type, true>(dst, src, scalarValue, count);                                                           \
    }                                                                                                                 \
    template <typename Other, std::enable_if_t<std::is_arithmetic_v<Other> && !std::is_same_v<Other, type>, int> = 0> \
    void function(const LocalTensor<type>& dst, const LocalTensor<type>& src, const Other& scalarValue,               \
        const int32_t& count) = delete;

#define ASCENDSIM_BY_NAME_OF_EACH_TYPE(function) \
    ASCENDSIM_BY_NAME(function, half)            \
    ASCENDSIM_BY_NAME(function, float)           \
    ASCENDSIM_BY_NAME(function, int16_t)         \
    ASCENDSIM_BY_NAME(function, int32_t)

namespace AscendC {
ASCENDSIM_BY_NAME_OF_EACH_TYPE(Adds)
ASCENDSIM_BY_NAME_OF_EACH_TYPE(Muls)
ASCENDSIM_BY_NAME_OF_EACH_TYPE(Maxs)
ASCENDSIM_BY_NAME_OF_EACH_TYPE(Mins)
}  // namespace AscendC

#undef ASCENDSIM_BY_NAME_OF_EACH_TYPE
#undef ASCENDSIM_BY_NAME

#endif

#if defined(ASCENDC_MODULE_OPERATOR_VEC_CMPSEL_INTERFACE_H)

#include <type_traits>

namespace AscendC {
// A float as the scalar of narrower tensors: on the device it converts as numbers do; here these types are classes, to which
// it converts no better than to anything else that can be made of it.
template <typename T, typename U, bool isSetMask = true,
    std::enable_if_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>, int> = 0>
__attribute__((always_inline)) inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
    const LocalTensor<T>& src0, float src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime,
    const BinaryRepeatParams& repeatParams)
{
    Select<T, U, isSetMask>(dst, selMask, src0, static_cast<T>(src1), selMode, mask, repeatTime, repeatParams);
}

template <typename T, typename U, std::enable_if_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>, int> = 0>
__attribute__((always_inline)) inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
    const LocalTensor<T>& src0, float src1, SELMODE selMode, uint32_t count)
{
    Select<T, U>(dst, selMask, src0, static_cast<T>(src1), selMode, count);
}
}  // namespace AscendC

#endif

#endif
