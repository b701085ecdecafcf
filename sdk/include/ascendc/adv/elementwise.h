// Small element-wise functions: Sign, Xor, ClampMax, ClampMin, Fmod, Axpy and Exp with a temporary buffer.
#ifndef ASCENDC_ADV_ELEMENTWISE_H
#define ASCENDC_ADV_ELEMENTWISE_H

#include "ascendc/adv/lanes.h"
#include "ascendc/vec_scalar.h"
#include "ascendc/vec_unary.h"

namespace AscendC {
namespace detail {

/// Elements of T per slot-sized piece of a temporary buffer that `slots` slots of T and one bit per element share.
template <typename T>
ASC_API lanes::Share ShareOutNative(
    const char* api, const LocalTensor<uint8_t>& temporary, uint32_t slots, bool withBits)
{
    const uint64_t bytes = temporary.GetSize();
    const uint32_t aside = withBits ? ONE_BLK_SIZE : 0;
    const uint32_t bitsPerElement = slots * static_cast<uint32_t>(sizeof(T)) * 8 + (withBits ? 1 : 0);
    constexpr uint32_t repeat = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    uint32_t room = bytes < aside ? 0 : static_cast<uint32_t>((bytes - aside) * 8 / bitsPerElement);
    room = room >= repeat ? room / repeat * repeat : room / block * block;
    if (room == 0) {
        FaultText text;
        text << api << ": a temporary buffer of " << bytes << " bytes is too small; it takes at least "
             << slots * ONE_BLK_SIZE + aside + (withBits ? block / 8 : 0);
        ascendsim::Fault("bad_argument", text.Text());
    }
    return {room, room * slots * static_cast<uint32_t>(sizeof(T))};
}

}  // namespace detail

/// 1, -1, or 0 for zeros and NaN.
template <typename T, bool isReuseSource = false>
ASC_API void Sign(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Sign, T, half, float);
    namespace lanes = detail::lanes;
    const lanes::Share share = detail::ShareOutNative<T>("Sign", sharedTmpBuffer, 2, true);
    if (share.room == 0) {
        return;
    }
    const lanes::Run<T> value = detail::UbAs<T>(sharedTmpBuffer);
    const lanes::Run<T> result = value + share.room;
    const lanes::Bits bits = detail::Ub(sharedTmpBuffer) + share.bitsAt;
    lanes::ReadBits(sharedTmpBuffer[share.bitsAt]);
    set_mask_count();
    for (uint32_t done = 0; done < calCount; done += share.room) {
        set_vector_mask(0, calCount - done < share.room ? calCount - done : share.room);
        const lanes::Run<T> x = detail::Ub(srcTensor) + done;
        lanes::GreaterScalar(bits, x, static_cast<T>(0.0f));
        lanes::Fill(result, static_cast<T>(0.0f));
        lanes::Fill(value, static_cast<T>(1.0f));
        lanes::Pick(result, value, result);
        lanes::LessScalar(bits, x, static_cast<T>(0.0f));
        lanes::Fill(value, static_cast<T>(-1.0f));
        lanes::Pick(detail::Ub(dstTensor) + done, value, result);
    }
    detail::EndCount();
}
ASCENDC_ADV_UNARY_FORMS(Sign)

/// (a | b) & ~(a & b)
template <typename T, bool isReuseSource = false>
ASC_API void Xor(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Xor, T, int16_t, uint16_t);
    namespace lanes = detail::lanes;
    const lanes::Share share = detail::ShareOutNative<T>("Xor", sharedTmpBuffer, 1, false);
    if (share.room == 0) {
        return;
    }
    const lanes::Run<T> both = detail::UbAs<T>(sharedTmpBuffer);
    set_mask_count();
    for (uint32_t done = 0; done < calCount; done += share.room) {
        set_vector_mask(0, calCount - done < share.room ? calCount - done : share.room);
        const lanes::Run<T> a = detail::Ub(src0Tensor) + done;
        const lanes::Run<T> b = detail::Ub(src1Tensor) + done;
        const lanes::Run<T> d = detail::Ub(dstTensor) + done;
        lanes::And(both, a, b);
        lanes::Not(both, both);
        lanes::Or(d, a, b);
        lanes::And(d, d, both);
    }
    detail::EndCount();
}
template <typename T, bool isReuseSource = false>
ASC_API void Xor(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const LocalTensor<uint8_t>& sharedTmpBuffer)
{
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize());
}
template <typename T, bool isReuseSource = false>
ASC_API void Xor(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const uint32_t calCount)
{
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, detail::lanes::Stack(), calCount);
}
template <typename T, bool isReuseSource = false>
ASC_API void Xor(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor)
{
    Xor<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, detail::lanes::Stack(), src0Tensor.GetSize());
}

// Values beyond the scalar are replaced by it. One instruction; the temporary buffer is not needed.
#define ASCENDC_ADV_CLAMP(Name, Instr)                                                                             \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const T scalar, const uint32_t calCount) \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                 \
        detail::BeginCount(calCount);                                                                              \
        detail::lanes::Instr(detail::Ub(dstTensor), detail::Ub(srcTensor), scalar);                                \
        detail::EndCount();                                                                                        \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                          \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar, const uint32_t calCount)                      \
    {                                                                                                              \
        (void)sharedTmpBuffer;                                                                                     \
        Name<T, isReuseSource>(dstTensor, srcTensor, scalar, calCount);                                            \
    }
ASCENDC_ADV_CLAMP(ClampMax, Mins)
ASCENDC_ADV_CLAMP(ClampMin, Maxs)
#undef ASCENDC_ADV_CLAMP

namespace detail {
/// d = a - trunc(a / b) * b: as precise as the quotient, which is all that a call without a temporary buffer can do.
ASC_API void FmodStep(lanes::Floats d, lanes::Floats a, lanes::Floats b)
{
    lanes::Div(d, a, b);
    lanes::RoundToZero(d, d);
    lanes::Mul(d, d, b);
    lanes::Sub(d, a, d);
}
}  // namespace detail

/// Remainder with the sign of the first operand. A float destination must be neither source.
template <typename T, bool isReuseSource = false>
ASC_API void Fmod(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Fmod, T, half, float);
    namespace lanes = detail::lanes;
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)sharedTmpBuffer;
        const auto* d = detail::Ub(dstTensor);
        if (d == detail::Ub(src0Tensor) || d == detail::Ub(src1Tensor)) {
            ascendsim::Fault("bad_argument", "Fmod: a float destination must not be a source");
            return;
        }
        detail::BeginCount(calCount);
        detail::FmodStep(detail::Ub(dstTensor), detail::Ub(src0Tensor), detail::Ub(src1Tensor));
        detail::EndCount();
    } else {
        const lanes::Share share = lanes::ShareOut("Fmod", sharedTmpBuffer, 3, false, true);
        if (share.room == 0) {
            return;
        }
        const lanes::Slots<3> t = lanes::CutSlots<3>(sharedTmpBuffer, share);
        set_mask_count();
        for (uint32_t done = 0; done < calCount; done += share.room) {
            set_vector_mask(0, calCount - done < share.room ? calCount - done : share.room);
            lanes::Widen(t[0], detail::Ub(src0Tensor) + done);
            lanes::Widen(t[1], detail::Ub(src1Tensor) + done);
            detail::FmodStep(t[2], t[0], t[1]);
            lanes::Narrow(detail::Ub(dstTensor) + done, t[2]);
        }
        detail::EndCount();
    }
}
template <typename T, bool isReuseSource = false>
ASC_API void Fmod(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const LocalTensor<uint8_t>& sharedTmpBuffer)
{
    Fmod<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer, src0Tensor.GetSize());
}
template <typename T, bool isReuseSource = false>
ASC_API void Fmod(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor,
    const uint32_t calCount)
{
    Fmod<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, detail::lanes::Stack(), calCount);
}
template <typename T, bool isReuseSource = false>
ASC_API void Fmod(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor, const LocalTensor<T>& src1Tensor)
{
    Fmod<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, detail::lanes::Stack(), src0Tensor.GetSize());
}

/// dst += src * scalar. The form with a temporary buffer rounds half once, because it sums in float.
template <typename T, typename U, bool isReuseSource = false>
ASC_API void Axpy(
    const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor, const U scalarValue,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)
{
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)sharedTmpBuffer;
        Axpy(dstTensor, srcTensor, scalarValue, static_cast<int32_t>(calCount));
    } else {
        ASCENDC_CHECK_DTYPE(Axpy, T, half, float);
        ASCENDC_CHECK_DTYPE(Axpy, U, half);
        namespace lanes = detail::lanes;
        const lanes::Share share = lanes::ShareOut("Axpy", sharedTmpBuffer, 2, false, true);
        if (share.room == 0) {
            return;
        }
        const lanes::Slots<2> t = lanes::CutSlots<2>(sharedTmpBuffer, share);
        set_mask_count();
        for (uint32_t done = 0; done < calCount; done += share.room) {
            set_vector_mask(0, calCount - done < share.room ? calCount - done : share.room);
            lanes::Widen(t[0], detail::Ub(srcTensor) + done);
            lanes::Widen(t[1], detail::Ub(dstTensor) + done);
            lanes::Axpy(t[1], t[0], static_cast<float>(scalarValue));
            lanes::Narrow(detail::Ub(dstTensor) + done, t[1]);
        }
        detail::EndCount();
    }
}

namespace detail {
/// exp(n) * (1 + f + f^2 / 2! + ...) with n the nearest whole number and f the rest, up to f^level.
template <uint8_t level>
struct ExpandedExpStep {
    static constexpr uint32_t slots = 3;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        // Beyond +-1e4 the result is certain; without the bound an infinite argument would leave NaN as the rest.
        lanes::Mins(t[0], x, 1e4f);
        lanes::Maxs(t[0], t[0], -1e4f);
        lanes::RoundDown(t[1], t[0]);
        lanes::Sub(t[0], t[0], t[1]);
        lanes::Exp(t[1], t[1]);
        lanes::Fill(t[2], 1.0f);
        for (uint8_t term = level; term > 0; --term) {
            lanes::Mul(t[2], t[2], t[0]);
            lanes::Muls(t[2], t[2], 1.0f / static_cast<float>(term));
            lanes::Adds(t[2], t[2], 1.0f);
        }
        lanes::Mul(d, t[1], t[2]);
    }
};
}  // namespace detail

/// The instruction's exponential for level 0, else a Taylor series of that many terms around the next lower whole number.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
ASC_API void Exp(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Exp, T, half, float);
    if constexpr (taylorExpandLevel == 0) {
        (void)sharedTmpBuffer;
        Exp(dstLocal, srcLocal, static_cast<int32_t>(calCount));
    } else {
        detail::lanes::Map<detail::ExpandedExpStep<taylorExpandLevel>>(
            "Exp", dstLocal, srcLocal, sharedTmpBuffer, calCount);
    }
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
ASC_API void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t calCount)
{
    Exp<T, taylorExpandLevel, isReuseSource>(dstLocal, srcLocal, detail::lanes::Stack(), calCount);
}

}  // namespace AscendC

#endif
