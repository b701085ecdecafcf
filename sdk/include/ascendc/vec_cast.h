// Conversions between dtypes.
#ifndef ASCENDC_VEC_CAST_H
#define ASCENDC_VEC_CAST_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {

/// A rounding mode that the pair of dtypes does not have: the hardware would do nothing.
ASC_API void NoSuchCast(const char* pair, const RoundMode& mode)
{
    FaultText text;
    text << "Cast: no rounding mode " << static_cast<uint64_t>(mode) << " for " << pair;
    ascendsim::Fault("bad_argument", text.Text());
}

#define ASCENDC_CAST_ARGS dst, src, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride
#define ASCENDC_CAST_HEAD(D, S) \
    ASC_API void CastInstr(     \
        __ubuf__ D* dst, __ubuf__ S* src, const RoundMode& mode, uint8_t repeat, const UnaryRepeatParams& p)

// Five rounding modes, without and with an unrounded form.
#define ASCENDC_CAST_MODES(instr)                                         \
    case RoundMode::CAST_RINT: instr##r(ASCENDC_CAST_ARGS); return;       \
    case RoundMode::CAST_FLOOR: instr##f(ASCENDC_CAST_ARGS); return;      \
    case RoundMode::CAST_CEIL: instr##c(ASCENDC_CAST_ARGS); return;       \
    case RoundMode::CAST_ROUND: instr##a(ASCENDC_CAST_ARGS); return;      \
    case RoundMode::CAST_TRUNC: instr##z(ASCENDC_CAST_ARGS); return;
#define ASCENDC_CAST_ROUNDED(D, S, instr)                                 \
    ASCENDC_CAST_HEAD(D, S)                                               \
    {                                                                     \
        switch (mode) {                                                   \
            ASCENDC_CAST_MODES(instr)                                     \
            default: NoSuchCast(#S " to " #D, mode);                      \
        }                                                                 \
    }
#define ASCENDC_CAST_ALL(D, S, instr)                                     \
    ASCENDC_CAST_HEAD(D, S)                                               \
    {                                                                     \
        switch (mode) {                                                   \
            ASCENDC_CAST_MODES(instr)                                     \
            case RoundMode::CAST_NONE: instr(ASCENDC_CAST_ARGS); return;  \
            default: NoSuchCast(#S " to " #D, mode);                      \
        }                                                                 \
    }
#define ASCENDC_CAST_EXACT(D, S, instr)                                   \
    ASCENDC_CAST_HEAD(D, S)                                               \
    {                                                                     \
        if (mode == RoundMode::CAST_NONE) {                               \
            instr(ASCENDC_CAST_ARGS);                                     \
        } else {                                                          \
            NoSuchCast(#S " to " #D, mode);                               \
        }                                                                 \
    }

ASCENDC_CAST_EXACT(half, int8_t, vconv_s82f16)
ASCENDC_CAST_EXACT(half, uint8_t, vconv_u82f16)
ASCENDC_CAST_EXACT(float, half, vconv_f162f32)
ASCENDC_CAST_EXACT(float, bfloat16_t, vconv_bf162f32)
ASCENDC_CAST_EXACT(float, int16_t, vconv_s162f32)
ASCENDC_CAST_EXACT(int16_t, int32_t, vconv_s322s16)
ASCENDC_CAST_EXACT(int64_t, int32_t, vconv_s322s64)
ASCENDC_CAST_EXACT(int32_t, int64_t, vconv_s642s32)
ASCENDC_CAST_ROUNDED(int32_t, half, vconv_f162s32)
ASCENDC_CAST_ROUNDED(int16_t, half, vconv_f162s16)
ASCENDC_CAST_ROUNDED(int32_t, float, vconv_f322s32)
ASCENDC_CAST_ROUNDED(int16_t, float, vconv_f322s16)
ASCENDC_CAST_ROUNDED(int64_t, float, vconv_f322s64)
ASCENDC_CAST_ROUNDED(float, float, vconv_f322f32)
ASCENDC_CAST_ROUNDED(bfloat16_t, float, vconv_f322bf16)
ASCENDC_CAST_ROUNDED(int32_t, bfloat16_t, vconv_bf162s32)
ASCENDC_CAST_ROUNDED(float, int64_t, vconv_s642f32)
ASCENDC_CAST_ALL(float, int32_t, vconv_s322f32)
ASCENDC_CAST_ALL(int8_t, half, vconv_f162s8)
ASCENDC_CAST_ALL(uint8_t, half, vconv_f162u8)
ASCENDC_CAST_ALL(half, int16_t, vconv_s162f16)
ASCENDC_CAST_HEAD(half, float)
{
    switch (mode) {
        ASCENDC_CAST_MODES(vconv_f322f16)
        case RoundMode::CAST_ODD: vconv_f322f16o(ASCENDC_CAST_ARGS); return;
        case RoundMode::CAST_NONE: vconv_f322f16(ASCENDC_CAST_ARGS); return;
        default: NoSuchCast("float to half", mode);
    }
}
// The scale of SetDeqScale multiplies the result; the rounding mode has no effect.
ASCENDC_CAST_HEAD(half, int32_t)
{
    (void)mode;
    vconv_deq(ASCENDC_CAST_ARGS);
}
#undef ASCENDC_CAST_EXACT
#undef ASCENDC_CAST_ALL
#undef ASCENDC_CAST_ROUNDED
#undef ASCENDC_CAST_MODES
#undef ASCENDC_CAST_HEAD
#undef ASCENDC_CAST_ARGS

// Four-bit integers: out of range values saturate.
ASC_API void CastInstr(
    __ubuf__ int4b_t* dst, __ubuf__ half* src, const RoundMode& mode, uint8_t repeat, const UnaryRepeatParams& p)
{
#define ASCENDC_INT4(instr) \
    instr(dst, src, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride)
    switch (mode) {
        case RoundMode::CAST_RINT: ASCENDC_INT4(vconv_f162s4r); return;
        case RoundMode::CAST_FLOOR: ASCENDC_INT4(vconv_f162s4f); return;
        case RoundMode::CAST_CEIL: ASCENDC_INT4(vconv_f162s4c); return;
        case RoundMode::CAST_ROUND: ASCENDC_INT4(vconv_f162s4a); return;
        case RoundMode::CAST_TRUNC: ASCENDC_INT4(vconv_f162s4z); return;
        case RoundMode::CAST_NONE: ASCENDC_INT4(vconv_f162s4); return;
        default: NoSuchCast("half to int4b_t", mode);
    }
#undef ASCENDC_INT4
}
ASC_API void CastInstr(
    __ubuf__ half* dst, __ubuf__ int4b_t* src, const RoundMode& mode, uint8_t repeat, const UnaryRepeatParams& p)
{
    (void)mode;
    vconv_s42f16(dst, src, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride);
}

template <typename T, typename U>
constexpr bool castExists = SupportType<
    Tuple<T, U>, Tuple<half, int8_t>, Tuple<half, uint8_t>, Tuple<float, half>, Tuple<float, bfloat16_t>,
    Tuple<float, int16_t>, Tuple<int16_t, int32_t>, Tuple<int64_t, int32_t>, Tuple<int32_t, int64_t>,
    Tuple<int32_t, half>, Tuple<int16_t, half>, Tuple<int32_t, float>, Tuple<int16_t, float>, Tuple<int64_t, float>,
    Tuple<float, float>, Tuple<bfloat16_t, float>, Tuple<int32_t, bfloat16_t>, Tuple<float, int64_t>,
    Tuple<float, int32_t>, Tuple<int8_t, half>, Tuple<uint8_t, half>, Tuple<half, int16_t>, Tuple<half, float>, Tuple<half, int32_t>,
    Tuple<int4b_t, half>, Tuple<half, int4b_t>>();

/// Repeat stride of one side of a conversion by count: the narrower side advances by half.
template <typename Side, typename Other>
constexpr uint8_t castRep = std::is_same<Side, int4b_t>::value ? ONE_FOURTH_DEFAULT_REPEAT_STRIDE
    : sizeof(Side) >= sizeof(Other)                            ? DEFAULT_REPEAT_STRIDE
                                                               : HALF_DEFAULT_REPEAT_STRIDE;

}  // namespace detail

#define ASCENDC_CHECK_CAST(T, U) \
    static_assert(detail::castExists<T, U>, "Cast: this pair of dtypes (destination, source) is not available on NPU architecture 2201")

template <typename T, typename U, bool isSetMask = true>
ASC_API void Cast(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask[],
    const uint8_t repeatTime, const UnaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_CAST(T, U);
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    if constexpr (detail::castExists<T, U>) {
        detail::CastInstr(detail::Ub(dst), detail::Ub(src), roundMode, repeatTime, repeatParams);
    }
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Cast(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint64_t mask,
    const uint8_t repeatTime, const UnaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_CAST(T, U);
    // A repeat is as long as its wider side allows.
    constexpr uint64_t lanes = DEFAULT_BLOCK_SIZE / (sizeof(T) >= sizeof(U) ? sizeof(T) : sizeof(U));
    if (isSetMask && mask > lanes) {
        ascendsim::Fault(
            "bad_argument", detail::Describe("Cast: a mask of ", mask, " lanes: a repeat of the wider side has ", lanes, "").Text());
    }
    using Narrower = std::conditional_t<(sizeof(T) >= sizeof(U)), U, T>;
    detail::SetMask<Narrower, isSetMask>(static_cast<int32_t>(mask));
    if constexpr (detail::castExists<T, U>) {
        detail::CastInstr(detail::Ub(dst), detail::Ub(src), roundMode, repeatTime, repeatParams);
    }
}
template <typename T, typename U>
ASC_API void Cast(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count)
{
    ASCENDC_CHECK_CAST(T, U);
    detail::BeginCount(count);
    if constexpr (detail::castExists<T, U>) {
        detail::CastInstr(
            detail::Ub(dst), detail::Ub(src), roundMode, 1,
            {DEFAULT_BLK_STRIDE, DEFAULT_BLK_STRIDE, detail::castRep<T, U>, detail::castRep<U, T>});
    }
    detail::EndCount();
}
#undef ASCENDC_CHECK_CAST

/// The factor of conversions from int32 to half.
ASC_API void SetDeqScale(half scale) { set_deqscale(scale); }

}  // namespace AscendC

#endif
