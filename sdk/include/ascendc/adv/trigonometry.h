// Sine, cosine, tangent.
#ifndef ASCENDC_ADV_TRIGONOMETRY_H
#define ASCENDC_ADV_TRIGONOMETRY_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

/// r = x - m * pi / 2 for whole m of at most 16 bits, by Cody and Waite: the parts of pi / 2 have so few bits that the
/// first products are exact. Arguments up to 65504, the documented range, keep full precision.
ASC_API void TakeQuarterTurns(lanes::Floats r, lanes::Floats x, lanes::Floats m)
{
    constexpr float parts[] = {1.5703125f, 4.825592041015625e-4f, 1.2665987014770508e-06f, 9.89530235528946e-10f,
                               2.5633440682570896e-12f};
    lanes::Muls(r, x, 1.0f);
    for (const float part : parts) {
        lanes::Axpy(r, m, -part);
    }
}

/// sin(r) for |r| up to pi / 2 and what an inexact quotient adds; arguments beyond the range of the reduction are held
/// back to that.
ASC_API void SineNearZero(lanes::Floats d, lanes::Floats r, lanes::Floats z, lanes::Floats p)
{
    constexpr float limit = 1.58f;
    lanes::Mins(r, r, limit);
    lanes::Maxs(r, r, -limit);
    lanes::Odd(d, r, z, p, -2.40801903e-08f, 2.75364641e-06f, -1.98410868e-04f, 8.33333284e-03f, -1.66666672e-01f);
}

/// sign = 1 for even whole numbers in k, -1 for odd ones.
ASC_API void SignOfParity(lanes::Floats sign, lanes::Floats k)
{
    lanes::Muls(sign, k, 0.5f);
    lanes::RoundDown(sign, sign);
    lanes::Muls(sign, sign, -2.0f);
    lanes::Add(sign, sign, k);
    lanes::Muls(sign, sign, -2.0f);
    lanes::Adds(sign, sign, 1.0f);
}

/// sin(x) = (-1)^k sin(x - k pi).
struct SinStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Muls(t[0], x, 0.318309886f);
        lanes::RoundEven(t[0], t[0]);
        lanes::Muls(t[1], t[0], 2.0f);
        TakeQuarterTurns(t[2], x, t[1]);
        SignOfParity(t[1], t[0]);
        lanes::Mul(t[2], t[2], t[1]);
        SineNearZero(d, t[2], t[0], t[3]);
    }
};

/// cos(x) = -(-1)^k sin(x - (k + 1/2) pi).
struct CosStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Muls(t[0], x, 0.318309886f);
        lanes::Adds(t[0], t[0], -0.5f);
        lanes::RoundEven(t[0], t[0]);
        lanes::Muls(t[1], t[0], 2.0f);
        lanes::Adds(t[1], t[1], 1.0f);
        TakeQuarterTurns(t[2], x, t[1]);
        SignOfParity(t[1], t[0]);
        lanes::Muls(t[1], t[1], -1.0f);
        lanes::Mul(t[2], t[2], t[1]);
        SineNearZero(d, t[2], t[0], t[3]);
    }
};

/// With k quarter turns taken off: tan(r) for even k, -1 / tan(r) for odd.
struct TanStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        constexpr float limit = 0.795f;
        lanes::Muls(t[0], x, 0.636619747f);
        lanes::RoundEven(t[0], t[0]);
        TakeQuarterTurns(t[1], x, t[0]);
        lanes::Mins(t[1], t[1], limit);
        lanes::Maxs(t[1], t[1], -limit);
        lanes::Odd(t[1], t[1], t[2], t[3], 3.84313986e-03f, 1.1853216e-03f, 9.9621471e-03f, 2.16211267e-02f,
                   5.39944656e-02f, 1.33332312e-01f, 3.33333343e-01f);
        // even = 1 or 0; numerator = tan * even - odd, denominator = tan * odd + even
        SignOfParity(t[2], t[0]);
        lanes::Muls(t[2], t[2], 0.5f);
        lanes::Adds(t[2], t[2], 0.5f);
        lanes::Muls(t[3], t[2], -1.0f);
        lanes::Adds(t[3], t[3], 1.0f);
        lanes::Mul(t[0], t[1], t[2]);
        lanes::Sub(t[0], t[0], t[3]);
        lanes::Mul(t[1], t[1], t[3]);
        lanes::Add(t[1], t[1], t[2]);
        lanes::Div(d, t[0], t[1]);
    }
};

}  // namespace detail

ASCENDC_ADV_UNARY(Sin, detail::SinStep)
ASCENDC_ADV_UNARY(Cos, detail::CosStep)
ASCENDC_ADV_UNARY(Tan, detail::TanStep)

}  // namespace AscendC

#endif
