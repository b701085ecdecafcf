// Activation functions of one tensor: Gelu and its faster forms, Swish.
#ifndef ASCENDC_ADV_GELU_H
#define ASCENDC_ADV_GELU_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

/// x / (1 + exp(-1.5957691216 * (x + 0.044715 x^3))), the form that the hyperbolic tangent approximates Gelu by.
struct GeluStep {
    static constexpr uint32_t slots = 1;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Mul(t[0], x, x);
        lanes::Muls(t[0], t[0], -0.0713548163f);
        lanes::Adds(t[0], t[0], -1.59576912f);
        lanes::Mul(t[0], t[0], x);
        lanes::Exp(t[0], t[0]);
        lanes::Adds(t[0], t[0], 1.0f);
        lanes::Div(d, x, t[0]);
    }
};

/// x / (1 + exp(-1.702 x))
struct FasterGeluStep {
    static constexpr uint32_t slots = 1;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Muls(t[0], x, -1.702f);
        lanes::Exp(t[0], t[0]);
        lanes::Adds(t[0], t[0], 1.0f);
        lanes::Div(d, x, t[0]);
    }
};

/// x * (sgn(x) * (0.5 - 0.1444 * (min(0.7071 |x|, 1.769) - 1.769)^2) + 0.5), where sgn comes of scaling and
/// holding back, which infinities survive.
struct FasterGeluV2Step {
    static constexpr uint32_t slots = 2;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::Muls(t[0], x, 3e38f);
        lanes::Mins(t[0], t[0], 1.0f);
        lanes::Maxs(t[0], t[0], -1.0f);
        lanes::Muls(t[1], x, 0.7071f);
        lanes::Abs(t[1], t[1]);
        lanes::Mins(t[1], t[1], 1.769f);
        lanes::Adds(t[1], t[1], -1.769f);
        lanes::Mul(t[1], t[1], t[1]);
        lanes::Muls(t[1], t[1], -0.1444f);
        lanes::Adds(t[1], t[1], 0.5f);
        lanes::Mul(t[1], t[1], t[0]);
        lanes::Adds(t[1], t[1], 0.5f);
        lanes::Mul(d, x, t[1]);
    }
};

}  // namespace detail

// Half is computed in float whatever the precision asked for.
#define ASCENDC_ADV_GELU(Name)                                                                                     \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                                            \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                 \
        detail::lanes::Map<detail::Name##Step>(#Name, dstLocal, srcLocal, sharedTmpBuffer, dataSize);              \
    }                                                                                                              \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                                \
    ASC_API void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dataSize)     \
    {                                                                                                              \
        Name<T, highPrecision, highPerformance>(dstLocal, srcLocal, detail::lanes::Stack(), dataSize);             \
    }
ASCENDC_ADV_GELU(Gelu)
ASCENDC_ADV_GELU(FasterGelu)
ASCENDC_ADV_GELU(FasterGeluV2)
#undef ASCENDC_ADV_GELU

/// dst = src / (1 + exp(-scalar * src)). Computed in dst, which must not be the source.
template <typename T, bool isReuseSource = false>
ASC_API void Swish(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize, const T scalarValue)
{
    ASCENDC_CHECK_DTYPE(Swish, T, half, float);
    namespace lanes = detail::lanes;
    const lanes::Run<T> d = detail::Ub(dstLocal);
    const lanes::Run<T> x = detail::Ub(srcLocal);
    if (d == x) {
        ascendsim::Fault("bad_argument", "Swish: the destination must not be the source");
        return;
    }
    detail::BeginCount(dataSize);
    lanes::Muls(d, x, static_cast<T>(-static_cast<float>(scalarValue)));
    lanes::Exp(d, d);
    lanes::Adds(d, d, static_cast<T>(1.0f));
    lanes::Div(d, x, d);
    detail::EndCount();
}

}  // namespace AscendC

#endif
