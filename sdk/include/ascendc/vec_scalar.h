// Vector functions of one source and a scalar.
#ifndef ASCENDC_VEC_SCALAR_H
#define ASCENDC_VEC_SCALAR_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {
/// As many bits as an element has may be shifted out, and no more.
template <typename T>
ASC_API void CheckDistance(T distance)
{
    if (static_cast<uint64_t>(distance) > 8 * sizeof(T)) {
        ascendsim::Fault(
            "bad_argument", Describe("a shift by ", static_cast<uint64_t>(distance), " bits: an element has ", 8 * sizeof(T), "").Text());
    }
}
template <typename T>
ASC_API void ShiftLeftInstr(
    __ubuf__ T* dst, __ubuf__ T* src, T distance, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep,
    uint16_t srcRep)
{
    CheckDistance(distance);
    vshl(dst, src, static_cast<uint32_t>(distance), repeat, dstBlk, srcBlk, dstRep, srcRep);
}
template <typename T>
ASC_API void ShiftRightInstr(
    __ubuf__ T* dst, __ubuf__ T* src, T distance, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep,
    uint16_t srcRep, bool round = false)
{
    CheckDistance(distance);
    using Distance = std::conditional_t<std::is_signed<T>::value, int32_t, uint32_t>;
    vshr(dst, src, static_cast<Distance>(distance), repeat, dstBlk, srcBlk, dstRep, srcRep, round);
}
}  // namespace detail

// `Tail` and `TailArg` carry ShiftRight's last parameter. The scalar has exactly the tensors' dtype.
#define ASCENDC_VEC_SCALAR(Name, instr, Tail, TailArg, ...)                                                        \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask[],               \
        const uint8_t repeatTime, const UnaryRepeatParams& repeatParams Tail)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(mask[1], mask[0]);                                                           \
        instr(detail::Ub(dst), detail::Ub(src), scalarValue, repeatTime, repeatParams.dstBlkStride,                \
              repeatParams.srcBlkStride, repeatParams.dstRepStride, repeatParams.srcRepStride TailArg);            \
    }                                                                                                              \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, uint64_t mask,                 \
        const uint8_t repeatTime, const UnaryRepeatParams& repeatParams Tail)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));                                                 \
        instr(detail::Ub(dst), detail::Ub(src), scalarValue, repeatTime, repeatParams.dstBlkStride,                \
              repeatParams.srcBlkStride, repeatParams.dstRepStride, repeatParams.srcRepStride TailArg);            \
    }                                                                                                              \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count)          \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        if constexpr (isSetMask) {                                                                                 \
            detail::BeginCount(static_cast<uint64_t>(count));                                                      \
        }                                                                                                          \
        instr(detail::Ub(dst), detail::Ub(src), scalarValue, 1, DEFAULT_BLK_STRIDE, DEFAULT_BLK_STRIDE,            \
              DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);                                                       \
        if constexpr (isSetMask) {                                                                                 \
            detail::EndCountMaskFirst();                                                                           \
        }                                                                                                          \
    }

#define ASCENDC_NOTHING
#define ASCENDC_ROUND_PARAM , bool roundEn = false
#define ASCENDC_ROUND_ARG , roundEn
ASCENDC_VEC_SCALAR(Adds, vadds, ASCENDC_NOTHING, ASCENDC_NOTHING, half, float, int16_t, int32_t)
ASCENDC_VEC_SCALAR(Muls, vmuls, ASCENDC_NOTHING, ASCENDC_NOTHING, half, float, int16_t, int32_t)
ASCENDC_VEC_SCALAR(Maxs, vmaxs, ASCENDC_NOTHING, ASCENDC_NOTHING, half, float, int16_t, int32_t)
ASCENDC_VEC_SCALAR(Mins, vmins, ASCENDC_NOTHING, ASCENDC_NOTHING, half, float, int16_t, int32_t)
ASCENDC_VEC_SCALAR(LeakyRelu, vlrelu, ASCENDC_NOTHING, ASCENDC_NOTHING, half, float)
ASCENDC_VEC_SCALAR(ShiftLeft, detail::ShiftLeftInstr, ASCENDC_NOTHING, ASCENDC_NOTHING, int16_t, uint16_t, int32_t,
                   uint32_t)
ASCENDC_VEC_SCALAR(ShiftRight, detail::ShiftRightInstr, ASCENDC_ROUND_PARAM, ASCENDC_ROUND_ARG, int16_t, uint16_t,
                   int32_t, uint32_t)
#undef ASCENDC_ROUND_ARG
#undef ASCENDC_ROUND_PARAM
#undef ASCENDC_NOTHING
#undef ASCENDC_VEC_SCALAR

// ---- dst = src * scalar + dst; the destination may be wider ---------------------------------------------
#define ASCENDC_CHECK_AXPY                                                                                \
    static_assert(SupportType<Tuple<T, U>, Tuple<half, half>, Tuple<float, float>, Tuple<float, half>>(), \
                  "Axpy: this pair of dtypes is not available on NPU architecture 2201")

template <typename T, typename U, bool isSetMask = true>
ASC_API void Axpy(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
    const uint8_t repeatTime, const UnaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_AXPY;
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    vaxpy(detail::Ub(dst), detail::Ub(src), scalarValue, repeatTime, repeatParams.dstBlkStride,
          repeatParams.srcBlkStride, repeatParams.dstRepStride, repeatParams.srcRepStride);
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Axpy(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask[],
    const uint8_t repeatTime, const UnaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_AXPY;
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    vaxpy(detail::Ub(dst), detail::Ub(src), scalarValue, repeatTime, repeatParams.dstBlkStride,
          repeatParams.srcBlkStride, repeatParams.dstRepStride, repeatParams.srcRepStride);
}
template <typename T, typename U>
ASC_API void Axpy(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, const int32_t& count)
{
    ASCENDC_CHECK_AXPY;
    detail::BeginCount(static_cast<uint64_t>(count));
    vaxpy(detail::Ub(dst), detail::Ub(src), scalarValue, 1, DEFAULT_BLK_STRIDE, DEFAULT_BLK_STRIDE,
          DEFAULT_REPEAT_STRIDE, sizeof(T) > sizeof(U) ? HALF_DEFAULT_REPEAT_STRIDE : DEFAULT_REPEAT_STRIDE);
    detail::EndCountMaskFirst();
}
#undef ASCENDC_CHECK_AXPY

}  // namespace AscendC

#endif
