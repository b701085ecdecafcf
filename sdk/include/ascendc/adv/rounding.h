// Rounding to whole numbers, and what is left over.
#ifndef ASCENDC_ADV_ROUNDING_H
#define ASCENDC_ADV_ROUNDING_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

// One conversion for float; half goes through float because it has none of its own.
#define ASCENDC_ROUNDING_STEP(Name, Instr)                                             \
    struct Name##Step {                                                                \
        static constexpr uint32_t slots = 0;                                           \
        static constexpr bool bits = false;                                            \
        template <uint32_t n>                                                          \
        static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>&) \
        {                                                                              \
            lanes::Instr(d, x);                                                        \
        }                                                                              \
    };
ASCENDC_ROUNDING_STEP(Floor, RoundDown)
ASCENDC_ROUNDING_STEP(Ceil, RoundUp)
ASCENDC_ROUNDING_STEP(Trunc, RoundToZero)
ASCENDC_ROUNDING_STEP(Round, RoundEven)
#undef ASCENDC_ROUNDING_STEP

/// x - trunc(x). Float has no temporary buffer by contract, so in place is possible for half only.
struct FracStep {
    static constexpr uint32_t slots = 1;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>& t)
    {
        lanes::RoundToZero(t[0], x);
        lanes::Sub(d, x, t[0]);
    }
};

/// Runs a step that needs no slot: float takes no temporary buffer at all.
template <typename Step, typename T>
ASC_API void MapWithoutSlots(
    const char* api, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary,
    uint32_t count)
{
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)api;
        (void)temporary;
        BeginCount(count);
        Step::Compute(Ub(dst), Ub(src), lanes::Slots<1>());
        EndCount();
    } else {
        lanes::Map<Step>(api, dst, src, temporary, count);
    }
}

}  // namespace detail

#define ASCENDC_ADV_ROUNDING(Name)                                                                                 \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                          \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                 \
        detail::MapWithoutSlots<detail::Name##Step>(#Name, dstTensor, srcTensor, sharedTmpBuffer, calCount);       \
    }                                                                                                              \
    ASCENDC_ADV_UNARY_FORMS(Name)
ASCENDC_ADV_ROUNDING(Floor)
ASCENDC_ADV_ROUNDING(Ceil)
ASCENDC_ADV_ROUNDING(Trunc)
/// To nearest, ties to even.
ASCENDC_ADV_ROUNDING(Round)
#undef ASCENDC_ADV_ROUNDING

/// The part behind the point, with the sign of the source. A float destination must not be the source.
template <typename T, bool isReuseSource = false>
ASC_API void Frac(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Frac, T, half, float);
    if constexpr (sizeof(T) == sizeof(float)) {
        if (detail::Ub(dstTensor) == detail::Ub(srcTensor)) {
            ascendsim::Fault("bad_argument", "Frac: a float destination must not be the source");
            return;
        }
        detail::lanes::Slots<1> whole;
        whole.run[0] = detail::Ub(dstTensor);
        detail::BeginCount(calCount);
        detail::FracStep::Compute(detail::Ub(dstTensor), detail::Ub(srcTensor), whole);
        detail::EndCount();
    } else {
        detail::lanes::Map<detail::FracStep>("Frac", dstTensor, srcTensor, sharedTmpBuffer, calCount);
    }
}
ASCENDC_ADV_UNARY_FORMS(Frac)

}  // namespace AscendC

#endif
