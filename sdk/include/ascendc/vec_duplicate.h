// Filling: one value over many elements, one element over a block, arithmetic progressions.
#ifndef ASCENDC_VEC_DUPLICATE_H
#define ASCENDC_VEC_DUPLICATE_H

#include "ascendc/tpipe.h"
#include "ascendc/vec_scalar.h"

namespace AscendC {

namespace detail {
template <typename T>
ASC_API void DuplicateInstr(__ubuf__ T* dst, T value, uint8_t repeat, uint16_t dstBlk, uint8_t dstRep)
{
    vector_dup(dst, value, repeat, dstBlk, 1, dstRep, 0);
}
}  // namespace detail

#define ASCENDC_CHECK_DUPLICATE \
    ASCENDC_CHECK_DTYPE(Duplicate, T, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t, float)

template <typename T, bool isSetMask = true>
ASC_API void Duplicate(
    const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask, const uint8_t repeatTime,
    const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
    ASCENDC_CHECK_DUPLICATE;
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    detail::DuplicateInstr(detail::Ub(dst), scalarValue, repeatTime, dstBlockStride, dstRepeatStride);
}
template <typename T, bool isSetMask = true>
ASC_API void Duplicate(
    const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[], const uint8_t repeatTime,
    const uint16_t dstBlockStride, const uint8_t dstRepeatStride)
{
    ASCENDC_CHECK_DUPLICATE;
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    detail::DuplicateInstr(detail::Ub(dst), scalarValue, repeatTime, dstBlockStride, dstRepeatStride);
}
template <typename T>
ASC_API void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count)
{
    ASCENDC_CHECK_DUPLICATE;
    detail::BeginCount(static_cast<uint64_t>(count));
    detail::DuplicateInstr(detail::Ub(dst), scalarValue, 1, DEFAULT_BLK_STRIDE, DEFAULT_REPEAT_STRIDE);
    detail::EndCountMaskFirst();
}
#undef ASCENDC_CHECK_DUPLICATE

/// Spreads each of eight elements per repeat over one block.
template <typename T>
ASC_API void Brcb(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t repeatTime,
    const BrcbRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Brcb, T, int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float);
    ResetMask();
    using Lane = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    vbrcb(detail::UbAs<Lane>(dst), detail::UbAs<Lane>(src), repeatParams.dstBlkStride, repeatParams.dstRepStride,
          repeatTime);
}

namespace detail {

/// value + step * index in the arithmetic of the dtype's family.
template <typename T>
ASC_API T ProgressionValue(const T& first, const T& step, int32_t index)
{
    if constexpr (std::is_integral<T>::value) {
        return static_cast<T>(static_cast<int64_t>(first) + static_cast<int64_t>(step) * index);
    } else {
        return static_cast<T>(static_cast<float>(first) + static_cast<float>(step) * static_cast<float>(index));
    }
}

/// Writes elements one by one with the scalar unit, then lets the vector unit go on.
template <typename T>
ASC_API void ProgressionByScalar(const LocalTensor<T>& dst, const T& first, const T& step, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        dst.SetValue(static_cast<uint32_t>(i), ProgressionValue(first, step, i));
    }
    Order(HardEvent::S_V);
}

/// Extends `have` elements (whole blocks) by adding a constant to what is there, up to `want` elements.
template <typename T>
ASC_API void ExtendProgression(const LocalTensor<T>& dst, const T& step, int32_t unit, int32_t want)
{
    const UnaryRepeatParams params;
    const T increment = ProgressionValue(T(0), step, unit);
    for (int32_t at = unit; at < want; at += unit) {
        const int32_t count = want - at < unit ? want - at : unit;
        Adds(dst[static_cast<uint32_t>(at)], dst[static_cast<uint32_t>(at - unit)], increment,
             static_cast<uint64_t>(count), 1, params);
        PipeBarrier<PIPE_V>();
    }
}

template <typename T>
ASC_API void Progression(const LocalTensor<T>& dst, const T& first, const T& step, int32_t count)
{
    ASCENDC_CHECK_DTYPE(CreateVecIndex, T, half, int16_t, float, int32_t);
    constexpr int32_t block = static_cast<int32_t>(ONE_BLK_SIZE / sizeof(T));
    constexpr int32_t repeat = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    ProgressionByScalar(dst, first, step, count < block ? count : block);
    ExtendProgression(dst, step, block, count < repeat ? count : repeat);
    ExtendProgression(dst, step, repeat, count);
}

}  // namespace detail

/// firstValue, firstValue + 1, ... in `count` elements.
template <typename T>
ASC_API void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count)
{
    detail::Progression(dst, firstValue, static_cast<T>(1), static_cast<int32_t>(count));
}
/// The same with repeats: lane i of repeat r gets firstValue + r * lanes + i.
template <typename T>
ASC_API void CreateVecIndex(
    LocalTensor<T>& dst, const T& firstValue, uint64_t mask, uint8_t repeatTime, uint16_t dstBlkStride,
    uint8_t dstRepStride)
{
    ASCENDC_CHECK_DTYPE(CreateVecIndex, T, half, int16_t, float, int32_t);
    constexpr int32_t block = static_cast<int32_t>(ONE_BLK_SIZE / sizeof(T));
    constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    const int32_t active = static_cast<int32_t>(mask);
    if (repeatTime == 0) {
        return;
    }
    const UnaryRepeatParams within;
    detail::ProgressionByScalar(dst, firstValue, static_cast<T>(1), active < block ? active : block);
    for (int32_t at = block; at < active; at += block) {
        const int32_t count = active - at < block ? active - at : block;
        const uint32_t to = static_cast<uint32_t>(at * dstBlkStride);
        Adds(dst[to], dst[to - static_cast<uint32_t>(block * dstBlkStride)], static_cast<T>(block),
             static_cast<uint64_t>(count), 1, within);
        PipeBarrier<PIPE_V>();
    }
    const UnaryRepeatParams across(dstBlkStride, dstBlkStride, DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);
    const uint32_t advance = static_cast<uint32_t>(dstRepStride * block);
    for (uint32_t r = 1; r < repeatTime; ++r) {
        Adds(dst[r * advance], dst[(r - 1) * advance], static_cast<T>(lanes), mask, 1, across);
        PipeBarrier<PIPE_V>();
    }
}
/// The same in the lanes of a mask; the first repeat is written element by element.
template <typename T>
ASC_API void CreateVecIndex(
    LocalTensor<T>& dst, const T& firstValue, uint64_t mask[], uint8_t repeatTime, uint16_t dstBlkStride,
    uint8_t dstRepStride)
{
    ASCENDC_CHECK_DTYPE(CreateVecIndex, T, half, int16_t, float, int32_t);
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<uint32_t>(sizeof(T));
    if (repeatTime == 0) {
        return;
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        if ((mask[lane / 64] >> (lane % 64) & 1) != 0) {
            dst.SetValue(
                lane / block * block * dstBlkStride + lane % block,
                detail::ProgressionValue(firstValue, static_cast<T>(1), static_cast<int32_t>(lane)));
        }
    }
    detail::Order(HardEvent::S_V);
    const UnaryRepeatParams across(dstBlkStride, dstBlkStride, DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);
    const uint32_t advance = dstRepStride * block;
    for (uint32_t r = 1; r < repeatTime; ++r) {
        Adds(dst[r * advance], dst[(r - 1) * advance], static_cast<T>(lanes), mask, 1, across);
        PipeBarrier<PIPE_V>();
    }
}

/// firstValue, firstValue + diffValue, ... in `count` elements.
template <typename T>
ASC_API void ArithProgression(
    const LocalTensor<T>& dstLocal, const T firstValue, const T diffValue, const int32_t count)
{
    detail::Progression(dstLocal, firstValue, diffValue, count);
}
template <typename T>
ASC_API void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count)
{
    detail::Progression(dst, firstValue, diffValue, count);
}

}  // namespace AscendC

#endif
