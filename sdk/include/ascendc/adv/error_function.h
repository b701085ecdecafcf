// The error function and its complement.
#ifndef ASCENDC_ADV_ERROR_FUNCTION_H
#define ASCENDC_ADV_ERROR_FUNCTION_H

#include "ascendc/adv/inverse_trigonometry.h"

namespace AscendC {
namespace detail {

/// An odd polynomial up to 1, 1 - exp(polynomial) beyond; from 4 on the result is 1.
struct ErfStep {
    static constexpr uint32_t slots = 4;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        lanes::Mins(t[0], t[0], 4.0f);
        lanes::Polynomial(t[1], t[0], 1.6371514e-06f, -4.60580413e-05f, 5.9680565e-04f, -4.7595962e-03f,
                          2.64211353e-02f, -1.10080086e-01f, -6.31826043e-01f, -1.13023341f, 3.2013806e-04f);
        lanes::Exp(t[1], t[1]);
        lanes::Muls(t[1], t[1], -1.0f);
        lanes::Adds(t[1], t[1], 1.0f);
        TakeSign(t[1], t[1], x, t[2], t.bits);
        lanes::LessScalar(t.bits, t[0], 1.0f);
        lanes::Mul(t[2], t[0], t[0]);
        lanes::Polynomial(t[3], t[2], 7.87587487e-05f, -8.0168643e-04f, 5.18908724e-03f, -2.68542115e-02f,
                          1.12835944e-01f, -3.7612626e-01f, 1.12837911f);
        lanes::Mul(t[3], t[3], x);
        lanes::Pick(d, t[3], t[1]);
    }
};

/// s * exp(polynomial(s) - y * y) with s = 1 / (1 + y / 2), relative precision down to where it vanishes. The square is
/// taken in two parts, because exp magnifies its rounding. 2 - that for negative x.
struct ErfcStep {
    static constexpr uint32_t slots = 5;
    static constexpr bool bits = true;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Abs(t[0], x);
        lanes::Mins(t[0], t[0], 10.4f);
        lanes::Muls(t[1], t[0], 0.5f);
        lanes::Adds(t[1], t[1], 1.0f);
        lanes::Fill(t[2], 1.0f);
        lanes::Div(t[1], t[2], t[1]);
        lanes::Polynomial(t[2], t[1], -7.65047073e-02f, 3.47513765e-01f, -4.14134502e-01f, -4.99101162e-01f,
                          1.79665077f, -1.79122663f, 7.93858171e-01f, -4.14621532e-01f, 1.578293e-01f,
                          3.64424914e-01f, 1.00085354f, -1.26554191f);
        // high = y in eleven bits, its square exact; the rest is (y - high) * (y + high)
        lanes::Muls(t[3], t[0], 4097.0f);
        lanes::Sub(t[4], t[3], t[0]);
        lanes::Sub(t[3], t[3], t[4]);
        lanes::Sub(t[4], t[0], t[3]);
        lanes::Add(t[0], t[0], t[3]);
        lanes::Mul(t[4], t[4], t[0]);
        lanes::Sub(t[2], t[2], t[4]);
        lanes::Exp(t[2], t[2]);
        lanes::Mul(t[3], t[3], t[3]);
        lanes::Muls(t[3], t[3], -1.0f);
        lanes::Exp(t[3], t[3]);
        lanes::Mul(t[2], t[2], t[1]);
        lanes::Mul(t[1], t[2], t[3]);
        lanes::LessScalar(t.bits, x, 0.0f);
        lanes::Muls(t[2], t[1], -1.0f);
        lanes::Adds(t[2], t[2], 2.0f);
        lanes::Pick(d, t[2], t[1]);
    }
};

}  // namespace detail

ASCENDC_ADV_UNARY(Erf, detail::ErfStep)
ASCENDC_ADV_UNARY(Erfc, detail::ErfcStep)

}  // namespace AscendC

#endif
