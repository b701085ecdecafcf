// Hyperbolic functions and their inverses.
#ifndef ASCENDC_ADV_HYPERBOLIC_H
#define ASCENDC_ADV_HYPERBOLIC_H

#include "ascendc/adv/inverse_trigonometry.h"

namespace AscendC {
namespace detail {

constexpr float LN_2 = 0.693147182f;

/// h = exp(y) / 2 without overflow before the result does, e = exp(-y) / 2.
ASC_API void HalfExponentials(lanes::Floats h, lanes::Floats e, lanes::Floats y)
{
    lanes::Muls(h, y, 0.5f);
    lanes::Exp(h, h);
    lanes::Muls(e, h, 0.5f);
    lanes::Mul(h, h, e);
    lanes::Fill(e, 0.25f);
    lanes::Div(e, e, h);
}

struct CoshStep {
    static constexpr uint32_t slots = 2;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(d, x);
        HalfExponentials(t[0], t[1], d);
        lanes::Add(d, t[0], t[1]);
    }
};

/// The difference of exponentials loses everything near zero: a polynomial serves there.
struct SinhStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        HalfExponentials(t[1], t[2], t[0]);
        lanes::Sub(t[1], t[1], t[2]);
        TakeSign(t[1], t[1], x, t[2], t.bits);
        lanes::LessScalar(t.bits, t[0], 1.0f);
        lanes::Odd(t[0], x, t[2], t[3], 2.80628024e-06f, 1.98381022e-04f, 8.33333936e-03f, 1.66666672e-01f);
        lanes::Pick(d, t[0], t[1]);
    }
};

struct TanhStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        // 1 - 2 / (exp(2 y) + 1)
        lanes::Muls(t[1], t[0], 2.0f);
        lanes::Exp(t[1], t[1]);
        lanes::Adds(t[1], t[1], 1.0f);
        lanes::Fill(t[2], -2.0f);
        lanes::Div(t[1], t[2], t[1]);
        lanes::Adds(t[1], t[1], 1.0f);
        TakeSign(t[1], t[1], x, t[2], t.bits);
        lanes::LessScalar(t.bits, t[0], 0.7f);
        lanes::Odd(t[0], x, t[2], t[3], 2.06062151e-03f, -8.11350718e-03f, 2.16894057e-02f, -5.39481714e-02f,
                   1.33332506e-01f, -3.33333313e-01f);
        lanes::Pick(d, t[0], t[1]);
    }
};

/// d = ln(1 + u), precise for small u too: what 1 + u loses comes back as a first-order term. w is spent; d may be u.
ASC_API void LnOnePlus(lanes::Floats d, lanes::Floats u, lanes::Floats w, lanes::Floats v)
{
    lanes::Mins(v, u, 1e30f);
    lanes::Adds(d, u, 1.0f);
    lanes::Ln(d, d);
    // v = (v - ((v + 1) - 1)) / (v + 1)
    lanes::Adds(w, v, 1.0f);
    lanes::Adds(w, w, -1.0f);
    lanes::Sub(v, v, w);
    lanes::Adds(w, w, 1.0f);
    lanes::Div(v, v, w);
    lanes::Add(d, d, v);
}

/// ln(x + sqrt(x * x - 1)) by u = x - 1; plain ln(2 x) where the sum could overflow.
struct AcoshStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Adds(t[0], x, -1.0f);
        lanes::Adds(t[1], t[0], 2.0f);
        lanes::Sqrt(t[1], t[1]);
        lanes::Sqrt(t[2], t[0]);
        lanes::Mul(t[1], t[1], t[2]);
        lanes::Add(t[0], t[0], t[1]);
        LnOnePlus(t[0], t[0], t[1], t[2]);
        lanes::GreaterScalar(t.bits, x, 1e6f);
        lanes::Ln(t[1], x);
        lanes::Adds(t[1], t[1], LN_2);
        lanes::Pick(d, t[1], t[0]);
    }
};

/// ln(1 + y + y / (1 / y + sqrt(1 + 1 / y / y))), which no argument drives out of range.
struct AsinhStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        lanes::Fill(t[1], 1.0f);
        lanes::Div(t[1], t[1], t[0]);
        lanes::Mul(t[2], t[1], t[1]);
        lanes::Adds(t[2], t[2], 1.0f);
        lanes::Sqrt(t[2], t[2]);
        lanes::Add(t[2], t[2], t[1]);
        lanes::Div(t[2], t[0], t[2]);
        lanes::Add(t[1], t[0], t[2]);
        LnOnePlus(t[1], t[1], t[2], t[3]);
        lanes::GreaterScalar(t.bits, t[0], 1e6f);
        lanes::Ln(t[0], t[0]);
        lanes::Adds(t[0], t[0], LN_2);
        lanes::Pick(t[1], t[0], t[1]);
        TakeSign(d, t[1], x, t[2], t.bits);
    }
};

/// ln(1 + 2 y / (1 - y)) / 2.
struct AtanhStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        lanes::Muls(t[1], t[0], -1.0f);
        lanes::Adds(t[1], t[1], 1.0f);
        lanes::Muls(t[0], t[0], 2.0f);
        lanes::Div(t[0], t[0], t[1]);
        LnOnePlus(t[0], t[0], t[1], t[2]);
        lanes::Muls(t[0], t[0], 0.5f);
        TakeSign(d, t[0], x, t[1], t.bits);
    }
};

}  // namespace detail

ASCENDC_ADV_UNARY(Sinh, detail::SinhStep)
ASCENDC_ADV_UNARY(Cosh, detail::CoshStep)
ASCENDC_ADV_UNARY(Tanh, detail::TanhStep)
ASCENDC_ADV_UNARY(Asinh, detail::AsinhStep)
ASCENDC_ADV_UNARY(Acosh, detail::AcoshStep)
ASCENDC_ADV_UNARY(Atanh, detail::AtanhStep)

}  // namespace AscendC

#endif
