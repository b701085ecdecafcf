// Selection by a mask of whole elements (zero or not zero) instead of bits.
#ifndef ASCENDC_ADV_SELECT_BYTES_H
#define ASCENDC_ADV_SELECT_BYTES_H

#include "ascendc/adv/row_tools.h"
#include "ascendc/vec_compare_select.h"

namespace AscendC {

/// firstAxis rows; rows of the mask are maskLastAxis elements apart, of which the first srcLastAxis count.
struct SelectWithBytesMaskShapeInfo {
    ASC_API SelectWithBytesMaskShapeInfo() {}
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

namespace detail {

/// Dtype in which mask elements are compared with zero.
template <typename U>
using MaskLane = std::conditional_t<sizeof(U) == 4, float, half>;

/// Bits of "mask compared with zero" for `count` elements, rounded up to whole repeats.
template <typename U, CMPMODE mode>
ASC_API void MaskBits(
    const LocalTensor<uint8_t>& bits, const LocalTensor<U>& mask, const LocalTensor<MaskLane<U>>& work, uint32_t count)
{
    using Lane = MaskLane<U>;
    if constexpr (sizeof(U) == 1) {
        Cast(work, mask.template ReinterpretCast<uint8_t>(), RoundMode::CAST_NONE, count);
    } else if constexpr (sizeof(U) == 2) {
        Cast(work, mask.template ReinterpretCast<int16_t>(), RoundMode::CAST_NONE, count);
    } else {
        Cast(work, mask.template ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, count);
    }
    PipeBarrier<PIPE_V>();
    CompareScalar(bits, work, static_cast<Lane>(0.0f), mode, RoundUp(count, repeatElements<Lane>));
    PipeBarrier<PIPE_V>();
}

template <typename T, typename U, bool scalarWhereZero>
ASC_API void SelectByElements(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, T scalar, const LocalTensor<U>& mask,
    const LocalTensor<uint8_t>& tmp, const SelectWithBytesMaskShapeInfo& info)
{
    static_assert(sizeof(U) == 1 || sizeof(U) == 2 || sizeof(U) == 4, "Select: the mask's elements must have 1, 2 or 4 bytes");
    ASCENDC_CHECK_DTYPE(Select, T, half, float);
    using Lane = MaskLane<U>;
    constexpr uint32_t unit = ONE_REPEAT_BYTE_SIZE;  // elements: whole repeats of every dtype, whole blocks of bits
    constexpr uint32_t perUnit = unit * sizeof(Lane) + unit / ONE_BYTE_BIT_SIZE;
    uint32_t chunk = tmp.GetSize() / perUnit * unit;
    chunk = chunk > RoundUp(info.srcLastAxis, unit) ? RoundUp(info.srcLastAxis, unit) : chunk;
    if (!EnoughTmp("Select", chunk == 0 ? perUnit : 0, tmp.GetSize())) {
        return;
    }
    const LocalTensor<Lane> work = TmpPart<Lane>(tmp, 0, chunk);
    const LocalTensor<uint8_t> bits = tmp[chunk * static_cast<uint32_t>(sizeof(Lane))];
    for (uint32_t row = 0; row < info.firstAxis; ++row) {
        for (uint32_t col = 0; col < info.srcLastAxis; col += chunk) {
            const uint32_t now = info.srcLastAxis - col < chunk ? info.srcLastAxis - col : chunk;
            const uint32_t at = row * info.srcLastAxis + col;
            MaskBits<U, scalarWhereZero ? CMPMODE::NE : CMPMODE::EQ>(bits, mask[row * info.maskLastAxis + col], work, now);
            Select(dst[at], bits, src[at], scalar, SELMODE::VSEL_TENSOR_SCALAR_MODE, now);
            PipeBarrier<PIPE_V>();
        }
    }
}

}  // namespace detail

/// dst = src0 where the mask is zero, else the scalar src1.
template <typename T, typename U, bool isReuseMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info)
{
    detail::SelectByElements<T, U, false>(dst, src0, src1, mask, sharedTmpBuffer, info);
}
/// dst = the scalar src0 where the mask is zero, else src1.
template <typename T, typename U, bool isReuseMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info)
{
    detail::SelectByElements<T, U, true>(dst, src1, src0, mask, sharedTmpBuffer, info);
}
/// The older name of both.
template <typename T, typename U, bool isReuseMask = true>
ASC_API void SelectWithBytesMask(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info)
{
    detail::SelectByElements<T, U, false>(dst, src0, src1, mask, sharedTmpBuffer, info);
}
template <typename T, typename U, bool isReuseMask = true>
ASC_API void SelectWithBytesMask(
    const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const SelectWithBytesMaskShapeInfo& info)
{
    detail::SelectByElements<T, U, true>(dst, src1, src0, mask, sharedTmpBuffer, info);
}

}  // namespace AscendC

#endif
