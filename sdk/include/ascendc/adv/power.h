// Powers: tensor by tensor, tensor by scalar, scalar by tensor.
#ifndef ASCENDC_ADV_POWER_H
#define ASCENDC_ADV_POWER_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

/// high = the upper half of a's significant bits, low = the rest, so that products of halves are exact. |a| < 1e34.
ASC_API void SplitBits(lanes::Floats high, lanes::Floats low, lanes::Floats a)
{
    lanes::Muls(high, a, 4097.0f);
    lanes::Sub(low, high, a);
    lanes::Sub(high, high, low);
    lanes::Sub(low, a, high);
}

/// error = a1 * b1 - product + a1 * b2 + a2 * b1 + a2 * b2, smallest parts last; u is spent.
ASC_API void ProductError(
    lanes::Floats error, lanes::Floats product, lanes::Floats a1, lanes::Floats a2, lanes::Floats b1,
    lanes::Floats b2, lanes::Floats u)
{
    lanes::Mul(u, a1, b1);
    lanes::Sub(error, u, product);
    lanes::Mul(u, a1, b2);
    lanes::Add(error, error, u);
    lanes::Mul(u, a2, b1);
    lanes::Add(error, error, u);
    lanes::Mul(u, a2, b2);
    lanes::Add(error, error, u);
}

/// t[0] + t[1] = ln(t[0]) with nearly twice the precision of float, for positive finite t[0]. Spends t[0..8].
///
/// The value is 2^e * m with m near 1; ln(m) = 2 s + s^3 * polynomial with s = (m - 1) / (m + 1), where only the leading
/// s has to be known more precisely than float holds it.
template <uint32_t n>
ASC_API void LongLn(const lanes::Slots<n>& t)
{
    using Ints = lanes::Run<int32_t>;
    // Subnormal values are scaled up first.
    lanes::LessScalar(t.bits, t[0], 1.17549435e-38f);
    lanes::Muls(t[1], t[0], 16777216.0f);
    lanes::Pick(t[0], t[1], t[0]);
    lanes::Fill(t[1], -24.0f);
    lanes::Fill(t[2], 0.0f);
    lanes::Pick(t[1], t[1], t[2]);
    // Exponent so that m lies in [sqrt(1/2), sqrt(2)).
    const Ints value = reinterpret_cast<Ints>(t[0]);
    const Ints exponent = reinterpret_cast<Ints>(t[2]);
    lanes::Adds(exponent, value, -0x3F3504F3);
    vshr(exponent, exponent, 23, 1, BLK, BLK, REP, REP, false);
    pipe_barrier(PIPE_V);
    const Ints shifted = reinterpret_cast<Ints>(t[3]);
    vshl(shifted, exponent, 23u, 1, BLK, BLK, REP, REP);
    pipe_barrier(PIPE_V);
    lanes::Sub(value, value, shifted);
    vconv_s322f32(t[2], exponent, 1, BLK, BLK, REP, REP);
    pipe_barrier(PIPE_V);
    lanes::Add(t[1], t[1], t[2]);
    // f = m - 1 in t[0]; m + 1 = t[2] + t[3]; s in t[4].
    lanes::Adds(t[0], t[0], -1.0f);
    lanes::Adds(t[2], t[0], 2.0f);
    lanes::Adds(t[3], t[2], -2.0f);
    lanes::Sub(t[3], t[0], t[3]);
    lanes::Div(t[4], t[0], t[2]);
    // What f / (m + 1) leaves: (f - s * t[2] - s * t[3]) / t[2], in t[0].
    lanes::Mul(t[3], t[3], t[4]);
    SplitBits(t[5], t[6], t[4]);
    SplitBits(t[7], t[8], t[2]);
    ProductError(t[0], t[0], t[5], t[6], t[7], t[8], t[9]);
    lanes::Add(t[0], t[0], t[3]);
    lanes::Div(t[0], t[0], t[2]);
    // Tail: -2 * t[0] + s^3 * polynomial + e * low part of ln 2.
    lanes::Mul(t[2], t[4], t[4]);
    lanes::Polynomial(t[3], t[2], 2.33304679e-01f, 2.85508215e-01f, 4.00001228e-01f, 6.66666687e-01f);
    lanes::Mul(t[3], t[3], t[2]);
    lanes::Mul(t[3], t[3], t[4]);
    lanes::Axpy(t[3], t[0], -2.0f);
    lanes::Axpy(t[3], t[1], 1.428606765330187e-06f);
    // Head: e * high part of ln 2, exact, plus 2 s.
    lanes::Muls(t[1], t[1], 0.693145751953125f);
    lanes::Muls(t[4], t[4], 2.0f);
    lanes::Add(t[0], t[1], t[4]);
    lanes::Sub(t[1], t[0], t[1]);
    lanes::Sub(t[1], t[4], t[1]);
    lanes::Add(t[1], t[1], t[3]);
    lanes::Add(t[2], t[0], t[1]);
    lanes::Sub(t[3], t[2], t[0]);
    lanes::Sub(t[1], t[1], t[3]);
    lanes::Muls(t[0], t[2], 1.0f);
}

/// t[0] = t[0] ^ y for positive finite t[0] and |y| <= 1e10: exp of the product in twice the precision.
template <uint32_t n>
ASC_API void LongPower(lanes::Floats y, const lanes::Slots<n>& t)
{
    LongLn(t);
    lanes::Mul(t[2], t[0], y);
    SplitBits(t[3], t[4], t[0]);
    SplitBits(t[5], t[6], y);
    ProductError(t[7], t[2], t[3], t[4], t[5], t[6], t[8]);
    lanes::Mul(t[1], t[1], y);
    lanes::Add(t[1], t[1], t[7]);
    lanes::Mins(t[1], t[1], 0.5f);
    lanes::Maxs(t[1], t[1], -0.5f);
    lanes::Adds(t[1], t[1], 1.0f);
    lanes::Exp(t[0], t[2]);
    lanes::Mul(t[0], t[0], t[1]);
}

/// Where x is zero or infinite, or an operand is NaN, the long logarithm means nothing: replaces t[0] there.
template <uint32_t n>
ASC_API void PowerOfExtremes(lanes::Floats x, lanes::Floats y, const lanes::Slots<n>& t)
{
    lanes::Abs(t[1], x);
    lanes::Fill(t[2], 1.0f);
    lanes::Div(t[2], t[2], t[1]);
    lanes::GreaterScalar(t.bits, y, 0.0f);
    lanes::Pick(t[2], t[1], t[2]);
    lanes::EqualScalar(t.bits, t[1], 0.0f);
    lanes::Pick(t[0], t[2], t[0]);
    lanes::EqualScalar(t.bits, t[1], __builtin_inff());
    lanes::Pick(t[0], t[2], t[0]);
    lanes::Equal(t.bits, x, x);
    lanes::Pick(t[0], t[0], x);
    lanes::Equal(t.bits, y, y);
    lanes::Pick(t[0], t[0], y);
}

/// t[0] is |x| ^ y; gives it the sign, or NaN for a negative x and a fraction as y. `held` is y held back to |1e10|.
template <uint32_t n>
ASC_API void PowerOfNegatives(lanes::Floats x, lanes::Floats held, const lanes::Slots<n>& t)
{
    using Ints = lanes::Run<int32_t>;
    // t[1] = -1 where x has the sign bit, else 0
    vshr(reinterpret_cast<Ints>(t[1]), reinterpret_cast<Ints>(x), 31, 1, BLK, BLK, REP, REP, false);
    pipe_barrier(PIPE_V);
    vconv_s322f32(t[1], reinterpret_cast<Ints>(t[1]), 1, BLK, BLK, REP, REP);
    pipe_barrier(PIPE_V);
    // t[2] = y modulo 2; 1 makes t[3] = 1, every other value 0
    lanes::Muls(t[2], held, 0.5f);
    lanes::RoundDown(t[2], t[2]);
    lanes::Muls(t[2], t[2], -2.0f);
    lanes::Add(t[2], t[2], held);
    lanes::Adds(t[3], t[2], -1.0f);
    lanes::Abs(t[3], t[3]);
    lanes::Muls(t[3], t[3], -1073741824.0f);
    lanes::Adds(t[3], t[3], 1.0f);
    lanes::Relu(t[3], t[3]);
    lanes::Mul(t[3], t[3], t[1]);
    lanes::Muls(t[3], t[3], 2.0f);
    lanes::Adds(t[3], t[3], 1.0f);
    lanes::Mul(t[0], t[0], t[3]);
    // The root of a negative number is the NaN: fraction of y times t[1], where x is neither zero nor infinite.
    lanes::RoundDown(t[3], held);
    lanes::Sub(t[3], held, t[3]);
    lanes::Mul(t[3], t[3], t[1]);
    lanes::Sqrt(t[3], t[3]);
    lanes::Add(t[3], t[3], t[0]);
    lanes::Abs(t[1], x);
    lanes::EqualScalar(t.bits, t[1], 0.0f);
    lanes::Pick(t[3], t[0], t[3]);
    lanes::EqualScalar(t.bits, t[1], __builtin_inff());
    lanes::Pick(t[0], t[0], t[3]);
}

/// Anything to the power 0, and 1 to any power, is 1.
template <uint32_t n>
ASC_API void PowerOfOnes(lanes::Floats d, lanes::Floats x, lanes::Floats y, const lanes::Slots<n>& t)
{
    lanes::Fill(t[1], 1.0f);
    lanes::EqualScalar(t.bits, y, 0.0f);
    lanes::Pick(t[0], t[1], t[0]);
    lanes::EqualScalar(t.bits, x, 1.0f);
    lanes::Pick(d, t[1], t[0]);
}

/// x ^ y of float operands. d may be x or y.
struct PowerStep {
    static constexpr uint32_t slots = 11;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, lanes::Floats y, const lanes::Slots<n>& t)
    {
        const lanes::Floats held = t[10];
        lanes::Mins(held, y, 1e10f);
        lanes::Maxs(held, held, -1e10f);
        lanes::Abs(t[0], x);
        LongPower(held, t);
        PowerOfExtremes(x, y, t);
        PowerOfNegatives(x, held, t);
        PowerOfOnes(d, x, y, t);
    }
};

/// The same for operands that were half: float has bits to spare, and exp and ln know what to do with zero and infinity.
struct ShortPowerStep {
    static constexpr uint32_t slots = 5;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, lanes::Floats y, const lanes::Slots<n>& t)
    {
        const lanes::Floats held = t[4];
        lanes::Mins(held, y, 1e6f);
        lanes::Maxs(held, held, -1e6f);
        lanes::Abs(t[0], x);
        lanes::Ln(t[0], t[0]);
        lanes::Mul(t[0], t[0], held);
        lanes::Exp(t[0], t[0]);
        PowerOfNegatives(x, held, t);
        PowerOfOnes(d, x, y, t);
    }
};

/// x ^ y of int32 by squaring, modulo 2^32; for negative y only 1 and -1 leave something. d is written last.
ASC_API void IntegerPower(
    lanes::Run<int32_t> d, lanes::Run<int32_t> x, lanes::Run<int32_t> y, const lanes::Slots<5>& t)
{
    using Ints = lanes::Run<int32_t>;
    const Ints result = reinterpret_cast<Ints>(t[0]);
    const Ints base = reinterpret_cast<Ints>(t[1]);
    const Ints bit = reinterpret_cast<Ints>(t[2]);
    const Ints factor = reinterpret_cast<Ints>(t[3]);
    const Ints negative = reinterpret_cast<Ints>(t[4]);
    const auto shiftRight = [](Ints to, Ints from, int32_t distance) __attribute__((always_inline)) {
        vshr(to, from, distance, 1, BLK, BLK, REP, REP, false);
        pipe_barrier(PIPE_V);
    };
    lanes::Fill(result, 1);
    lanes::Muls(base, x, 1);
    for (uint32_t at = 0; at < 31; ++at) {
        // bit = -1 where the bit of y is set; factor = bit ? base : 1 = 1 - bit * (base - 1)
        vshl(bit, y, 31 - at, 1, BLK, BLK, REP, REP);
        pipe_barrier(PIPE_V);
        shiftRight(bit, bit, 31);
        lanes::Adds(factor, base, -1);
        lanes::Mul(factor, factor, bit);
        lanes::Muls(factor, factor, -1);
        lanes::Adds(factor, factor, 1);
        lanes::Mul(result, result, factor);
        lanes::Mul(base, base, base);
    }
    // For negative y the loop gave x ^ (y + 2^31), which is right for 1 and -1 (2^31 is even); clear the others.
    shiftRight(negative, y, 31);
    // factor = 0 where x is 1 or -1, else 1
    lanes::Muls(factor, x, 1);
    lanes::Mins(factor, factor, 2);
    lanes::Maxs(factor, factor, -2);
    lanes::Mul(factor, factor, factor);
    lanes::Adds(factor, factor, -1);
    lanes::Mul(factor, factor, factor);
    lanes::Mins(factor, factor, 1);
    lanes::Mul(factor, factor, negative);
    lanes::Adds(factor, factor, 1);
    lanes::Mul(d, result, factor);
}

/// An operand of Power: a run of the tensor, or a slot that the scalar fills.
template <typename T>
struct PowerOperand {
    lanes::Run<T> tensor;
    T scalar;
    ASC_API lanes::Run<T> At(uint32_t done, lanes::Floats slot) const
    {
        return tensor != nullptr ? tensor + done : reinterpret_cast<lanes::Run<T>>(slot);
    }
};
template <typename T>
ASC_API PowerOperand<T> OperandOf(const LocalTensor<T>& tensor)
{
    return {Ub(tensor), T()};
}
template <typename T>
ASC_API PowerOperand<T> OperandOf(const T& scalar)
{
    return {nullptr, scalar};
}
ASC_API void FillWith(lanes::Floats slot, half value) { lanes::Fill(slot, static_cast<float>(value)); }
ASC_API void FillWith(lanes::Floats slot, float value) { lanes::Fill(slot, value); }
ASC_API void FillWith(lanes::Floats slot, int32_t value) { lanes::Fill(reinterpret_cast<lanes::Run<int32_t>>(slot), value); }

template <typename T>
ASC_API void PowerByPiece(
    const LocalTensor<T>& dst, const PowerOperand<T>& base, const PowerOperand<T>& exponent,
    const LocalTensor<uint8_t>& temporary, uint32_t count)
{
    ASCENDC_CHECK_DTYPE(Power, T, half, float, int32_t);
    constexpr bool narrow = sizeof(T) == 2;
    constexpr bool whole = std::is_same<T, int32_t>::value;
    constexpr uint32_t steps = whole ? 5 : narrow ? ShortPowerStep::slots : PowerStep::slots;
    // Half widens both operands; of the others one at most is a scalar.
    constexpr uint32_t slots = steps + (narrow ? 2 : 1);
    const lanes::Share share = lanes::ShareOut("Power", temporary, slots, !whole, narrow);
    if (share.room == 0) {
        return;
    }
    const lanes::Slots<slots> t = lanes::CutSlots<slots>(temporary, share);
    if constexpr (!whole) {
        lanes::ReadBits(temporary[share.bitsAt]);
    }
    set_mask_count();
    set_vector_mask(0, count < share.room ? count : share.room);
    const lanes::Floats x = t[steps];
    const lanes::Floats y = t[slots - 1];
    if (base.tensor == nullptr) {
        FillWith(x, base.scalar);
    }
    if (exponent.tensor == nullptr) {
        FillWith(y, exponent.scalar);
    }
    for (uint32_t done = 0; done < count; done += share.room) {
        set_vector_mask(0, count - done < share.room ? count - done : share.room);
        const lanes::Run<T> to = Ub(dst) + done;
        if constexpr (narrow) {
            if (base.tensor != nullptr) {
                lanes::Widen(x, base.tensor + done);
            }
            if (exponent.tensor != nullptr) {
                lanes::Widen(y, exponent.tensor + done);
            }
            ShortPowerStep::Compute(t[0], x, y, t);
            lanes::Narrow(to, t[0]);
        } else if constexpr (whole) {
            lanes::Slots<5> five;
            for (uint32_t i = 0; i < 5; ++i) {
                five.run[i] = t[i];
            }
            IntegerPower(to, base.At(done, x), exponent.At(done, y), five);
        } else {
            PowerStep::Compute(to, base.At(done, x), exponent.At(done, y), t);
        }
    }
    EndCount();
}

}  // namespace detail

// The four forms for one kind of operands; `Sized` is the tensor that says how many elements where no count does.
#define ASCENDC_ADV_POWER(Base, Exponent, Sized)                                                                   \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Power(                                                                                            \
        const LocalTensor<T>& dstTensor, const Base& src0, const Exponent& src1,                                   \
        const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount)                                            \
    {                                                                                                              \
        detail::PowerByPiece<T>(                                                                                   \
            dstTensor, detail::OperandOf(src0), detail::OperandOf(src1), sharedTmpBuffer, calCount);               \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Power(                                                                                            \
        const LocalTensor<T>& dstTensor, const Base& src0, const Exponent& src1,                                   \
        const LocalTensor<uint8_t>& sharedTmpBuffer)                                                               \
    {                                                                                                              \
        Power<T, isReuseSource>(dstTensor, src0, src1, sharedTmpBuffer, Sized.GetSize());                          \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Power(                                                                                            \
        const LocalTensor<T>& dstTensor, const Base& src0, const Exponent& src1, uint32_t calCount)                \
    {                                                                                                              \
        Power<T, isReuseSource>(dstTensor, src0, src1, detail::lanes::Stack(), calCount);                          \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Power(const LocalTensor<T>& dstTensor, const Base& src0, const Exponent& src1)                    \
    {                                                                                                              \
        Power<T, isReuseSource>(dstTensor, src0, src1, detail::lanes::Stack(), Sized.GetSize());                   \
    }
ASCENDC_ADV_POWER(LocalTensor<T>, LocalTensor<T>, src0)
ASCENDC_ADV_POWER(LocalTensor<T>, T, src0)
ASCENDC_ADV_POWER(T, LocalTensor<T>, src1)
#undef ASCENDC_ADV_POWER

}  // namespace AscendC

#endif
