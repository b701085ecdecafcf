// Vector functions of one source.
#ifndef ASCENDC_VEC_UNARY_H
#define ASCENDC_VEC_UNARY_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/tensor.h"

namespace AscendC {

#define ASCENDC_VEC_UNARY(Name, instr, ...)                                                                        \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[], const uint8_t repeatTime,           \
        const UnaryRepeatParams& repeatParams)                                                                     \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(mask[1], mask[0]);                                                           \
        instr(detail::Ub(dst), detail::Ub(src), repeatTime, repeatParams.dstBlkStride, repeatParams.srcBlkStride,  \
              repeatParams.dstRepStride, repeatParams.srcRepStride);                                               \
    }                                                                                                              \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const uint8_t repeatTime,             \
        const UnaryRepeatParams& repeatParams)                                                                     \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));                                                 \
        instr(detail::Ub(dst), detail::Ub(src), repeatTime, repeatParams.dstBlkStride, repeatParams.srcBlkStride,  \
              repeatParams.dstRepStride, repeatParams.srcRepStride);                                               \
    }                                                                                                              \
    template <typename T>                                                                                          \
    ASC_API void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count)                  \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::BeginCount(static_cast<uint64_t>(count));                                                          \
        instr(detail::Ub(dst), detail::Ub(src), 1, DEFAULT_BLK_STRIDE, DEFAULT_BLK_STRIDE, DEFAULT_REPEAT_STRIDE,  \
              DEFAULT_REPEAT_STRIDE);                                                                              \
        detail::EndCount();                                                                                        \
    }

ASCENDC_VEC_UNARY(Relu, vrelu, half, float, int32_t)
ASCENDC_VEC_UNARY(Exp, vexp, half, float)
ASCENDC_VEC_UNARY(Ln, vln, half, float)
ASCENDC_VEC_UNARY(Abs, vabs, half, float)
ASCENDC_VEC_UNARY(Reciprocal, vrec, half, float)
ASCENDC_VEC_UNARY(Rsqrt, vrsqrt, half, float)
ASCENDC_VEC_UNARY(Sqrt, vsqrt, half, float)
ASCENDC_VEC_UNARY(Not, vnot, int16_t, uint16_t)
#undef ASCENDC_VEC_UNARY

}  // namespace AscendC

#endif
