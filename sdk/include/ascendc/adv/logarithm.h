// Logarithms.
#ifndef ASCENDC_ADV_LOGARITHM_H
#define ASCENDC_ADV_LOGARITHM_H

#include "ascendc/adv/lanes.h"

namespace AscendC {
namespace detail {

/// d = ln(x) * factor in the dtype's own arithmetic, as a call without a temporary buffer has to do it.
template <typename T>
ASC_API void ScaledLn(const LocalTensor<T>& dst, const LocalTensor<T>& src, T factor, uint32_t count)
{
    BeginCount(count);
    lanes::Ln(Ub(dst), Ub(src));
    lanes::Muls(Ub(dst), Ub(dst), factor);
    EndCount();
}

struct Log2Step {
    static constexpr uint32_t slots = 0;
    static constexpr bool bits = false;
    template <uint32_t n>
    static ASC_API void Compute(lanes::Floats d, lanes::Floats x, const lanes::Slots<n>&)
    {
        lanes::Ln(d, x);
        lanes::Muls(d, d, 1.44269502f);
    }
};

}  // namespace detail

template <typename T, bool isReuseSource = false>
ASC_API void Log(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Log, T, half, float);
    detail::BeginCount(calCount);
    detail::lanes::Ln(detail::Ub(dstTensor), detail::Ub(srcTensor));
    detail::EndCount();
}
template <typename T, bool isReuseSource = false>
ASC_API void Log(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor)
{
    Log<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());
}

template <typename T, bool isReuseSource = false>
ASC_API void Log10(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Log10, T, half, float);
    detail::ScaledLn(dstTensor, srcTensor, static_cast<T>(0.434294492f), calCount);
}
template <typename T, bool isReuseSource = false>
ASC_API void Log10(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor)
{
    Log10<T, isReuseSource>(dstTensor, srcTensor, srcTensor.GetSize());
}

/// Half is computed in float, in the temporary buffer; float needs none.
template <typename T, bool isReuseSource = false>
ASC_API void Log2(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(Log2, T, half, float);
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)sharedTmpBuffer;
        detail::ScaledLn(dstTensor, srcTensor, 1.44269502f, calCount);
    } else {
        detail::lanes::Map<detail::Log2Step>("Log2", dstTensor, srcTensor, sharedTmpBuffer, calCount);
    }
}
ASCENDC_ADV_UNARY_FORMS(Log2)

}  // namespace AscendC

#endif
