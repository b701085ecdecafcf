// Arc sine, arc cosine, arc tangent.
#ifndef ASCENDC_ADV_INVERSE_TRIGONOMETRY_H
#define ASCENDC_ADV_INVERSE_TRIGONOMETRY_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

/// d = -d where x < 0. t is spent.
ASC_API void TakeSign(lanes::Floats d, lanes::Floats from, lanes::Floats x, lanes::Floats t, lanes::Bits bits)
{
    lanes::LessScalar(bits, x, 0.0f);
    lanes::Muls(t, from, -1.0f);
    lanes::Pick(d, t, from);
}

/// For y = |x| in t[0]: t[1] = asin(y) up to a half, else asin(sqrt((1 - y) / 2)), by which arc sine and arc cosine are
/// made there. Beyond 1 it is NaN.
template <uint32_t n>
ASC_API void HalfArc(const lanes::Slots<n>& t)
{
    lanes::Muls(t[2], t[0], -0.5f);
    lanes::Adds(t[2], t[2], 0.5f);
    lanes::Sqrt(t[2], t[2]);
    lanes::GreaterScalar(t.bits, t[0], 0.5f);
    lanes::Pick(t[1], t[2], t[0]);
    lanes::Odd(t[1], t[1], t[2], t[3], 3.36908475e-02f, 1.71492379e-02f, 3.11006624e-02f, 4.45994027e-02f,
               7.50009418e-02f, 1.66666657e-01f);
}

constexpr float HALF_PI_HIGH = 1.57079637f;
constexpr float HALF_PI_LOW = -4.37113883e-08f;

struct AsinStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        HalfArc(t);
        // pi / 2 - 2 * part beyond a half
        lanes::Muls(t[2], t[1], -2.0f);
        lanes::Adds(t[2], t[2], HALF_PI_LOW);
        lanes::Adds(t[2], t[2], HALF_PI_HIGH);
        lanes::GreaterScalar(t.bits, t[0], 0.5f);
        lanes::Pick(t[1], t[2], t[1]);
        TakeSign(d, t[1], x, t[2], t.bits);
    }
};

struct AcosStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        HalfArc(t);
        // acos(y): twice the part beyond a half, pi / 2 - part up to there; pi - acos(y) for negative x.
        lanes::Muls(t[2], t[1], 2.0f);
        lanes::Muls(t[1], t[1], -1.0f);
        lanes::Adds(t[1], t[1], HALF_PI_LOW);
        lanes::Adds(t[1], t[1], HALF_PI_HIGH);
        lanes::GreaterScalar(t.bits, t[0], 0.5f);
        lanes::Pick(t[1], t[2], t[1]);
        lanes::LessScalar(t.bits, x, 0.0f);
        lanes::Muls(t[2], t[1], -1.0f);
        lanes::Adds(t[2], t[2], 2.0f * HALF_PI_LOW);
        lanes::Adds(t[2], t[2], 2.0f * HALF_PI_HIGH);
        lanes::Pick(d, t[2], t[1]);
    }
};

/// atan(y) on [0, 1], pi / 2 - atan(1 / y) beyond.
struct AtanStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        lanes::Fill(t[1], 1.0f);
        lanes::Div(t[1], t[1], t[0]);
        lanes::Min(t[1], t[1], t[0]);
        lanes::Odd(t[1], t[1], t[2], t[3], -2.38699722e-03f, 1.35077713e-02f, -3.58715393e-02f, 6.25016913e-02f,
                   -8.65688026e-02f, 1.10337645e-01f, -1.42785683e-01f, 1.99997395e-01f, -3.33333313e-01f);
        lanes::Muls(t[2], t[1], -1.0f);
        lanes::Adds(t[2], t[2], HALF_PI_LOW);
        lanes::Adds(t[2], t[2], HALF_PI_HIGH);
        lanes::GreaterScalar(t.bits, t[0], 1.0f);
        lanes::Pick(t[1], t[2], t[1]);
        TakeSign(d, t[1], x, t[2], t.bits);
    }
};

}  // namespace detail

ASCENDC_ADV_UNARY(Asin, detail::AsinStep)
ASCENDC_ADV_UNARY(Acos, detail::AcosStep)
ASCENDC_ADV_UNARY(Atan, detail::AtanStep)

}  // namespace AscendC

#endif
