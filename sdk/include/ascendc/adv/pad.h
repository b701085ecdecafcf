// Padding of the rows of a matrix to whole blocks, and back.
#ifndef ASCENDC_ADV_PAD_H
#define ASCENDC_ADV_PAD_H

#include "ascendc/adv/row_tools.h"
#include "ascendc/vec_scalar.h"

namespace AscendC {

/// Elements to put before and behind the valid ones of a row, and what to put there.
struct PadParams {
    ASC_API PadParams() {}
    ASC_API PadParams(const uint16_t leftPadIn, const uint16_t rightPadIn, const int32_t padValueIn)
        : leftPad(leftPadIn), rightPad(rightPadIn), padValue(padValueIn)
    {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
/// Elements to drop at both ends of a row; the left side must be 0.
struct UnPadParams {
    ASC_API UnPadParams() {}
    ASC_API UnPadParams(const uint16_t leftPadIn, const uint16_t rightPadIn)
        : leftPad(leftPadIn), rightPad(rightPadIn)
    {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

namespace detail {

/// Sets columns [begin, end) of all rows, which are `pitch` elements (whole blocks) long.
template <typename T>
ASC_API void FillColumns(const LocalTensor<T>& dst, T value, uint32_t rows, uint32_t pitch, uint32_t begin, uint32_t end)
{
    constexpr uint32_t block = blockElements<T>;
    const uint32_t rowBlocks = pitch / block;
    for (uint32_t at = begin; at < end;) {
        const uint32_t first = RoundDown(at, block);
        const uint32_t last = end < first + block ? end : first + block;
        const uint64_t lanes = ((uint64_t(1) << (last - first)) - 1) & ~((uint64_t(1) << (at - first)) - 1);
        uint64_t mask[2] = {lanes, 0};
        const uint32_t batch = rowBlocks > 255 ? 1 : MAX_REPEAT_TIMES;
        for (uint32_t row = 0; row < rows; row += batch) {
            const uint32_t now = rows - row < batch ? rows - row : batch;
            Duplicate(dst[row * pitch + first], value, mask, static_cast<uint8_t>(now), 1,
                      static_cast<uint8_t>(batch == 1 ? 0 : rowBlocks));
        }
        at = last;
    }
    ResetMask();
    PipeBarrier<PIPE_V>();
}

/// Rows of `width` elements, one after another, to rows of `pitch` elements that start `left` elements later. What is not
/// covered holds copies of the row's ends.
template <typename T>
ASC_API void SpreadRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t width, uint32_t left, uint32_t pitch,
    const LocalTensor<uint8_t>& tmp)
{
    using Lane = MoveLane<T>;
    constexpr int32_t bytes = sizeof(Lane);
    if (!EnoughTmp("Pad", pitch * sizeof(int32_t), tmp.GetSize())) {
        return;
    }
    const LocalTensor<int32_t> offsets = TmpPart<int32_t>(tmp, 0, pitch);
    const int32_t count = static_cast<int32_t>(pitch);
    CreateVecIndex(offsets, -static_cast<int32_t>(left), pitch);
    PipeBarrier<PIPE_V>();
    Maxs(offsets, offsets, 0, count);
    PipeBarrier<PIPE_V>();
    Mins(offsets, offsets, static_cast<int32_t>(width) - 1, count);
    PipeBarrier<PIPE_V>();
    Muls(offsets, offsets, bytes, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t row = 0; row < rows; ++row) {
        Gather(dst[row * pitch].template ReinterpretCast<Lane>(), src.template ReinterpretCast<Lane>(),
               offsets.ReinterpretCast<uint32_t>(), row * width * static_cast<uint32_t>(bytes), pitch);
    }
    ResetMask();
    PipeBarrier<PIPE_V>();
}

}  // namespace detail

/// Rows that are no whole blocks become whole blocks: padded elements left, the row, padded elements right. Rows of whole blocks
/// with srcOriWidth valid elements get their padding behind those.
template <typename T, typename Tiling>
ASC_API void Pad(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams,
    const LocalTensor<uint8_t>& sharedTmpBuffer, Tiling& tiling)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Pad: elements must have 2 or 4 bytes");
    const uint32_t rows = tiling.srcHeight;
    const uint32_t width = tiling.srcWidth;
    const uint32_t pitch = detail::RoundUp(width, detail::blockElements<T>);
    const T value = static_cast<T>(padParams.padValue);
    const uint32_t left = padParams.leftPad;
    if (pitch == width) {
        if (left != 0 || tiling.srcOriWidth + padParams.rightPad > pitch) {
            ascendsim::Fault("bad_argument", "Pad: rows of whole blocks can only be padded behind their valid elements");
            return;
        }
        detail::CopyCount(dstTensor, srcTensor, rows * pitch);
        detail::FillColumns(
            dstTensor, value, rows, pitch, tiling.srcOriWidth, tiling.srcOriWidth + padParams.rightPad);
        return;
    }
    if (left + width + padParams.rightPad > pitch) {
        ascendsim::Fault("bad_argument", "Pad: the padded row is longer than the row rounded up to whole blocks");
        return;
    }
    detail::SpreadRows(dstTensor, srcTensor, rows, width, left, pitch, sharedTmpBuffer);
    detail::FillColumns(dstTensor, value, rows, pitch, 0, left);
    detail::FillColumns(dstTensor, value, rows, pitch, left + width, left + width + padParams.rightPad);
}
template <typename T, typename Tiling>
ASC_API void Pad(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, PadParams& padParams, Tiling& tiling)
{
    Pad(dstTensor, srcTensor, padParams, detail::StackTmp(), tiling);
}

/// Drops the last rightPad elements of every row.
template <typename T, typename Tiling>
ASC_API void UnPad(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams,
    LocalTensor<uint8_t>& sharedTmpBuffer, Tiling& tiling)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "UnPad: elements must have 2 or 4 bytes");
    (void)sharedTmpBuffer;
    if (unPadParams.leftPad != 0 || unPadParams.rightPad > tiling.srcWidth
        || tiling.srcWidth % detail::blockElements<T> != 0) {
        ascendsim::Fault("bad_argument", "UnPad: drops elements at the right end of rows of whole blocks only");
        return;
    }
    detail::PackRows(
        dstTensor, srcTensor, tiling.srcHeight, tiling.srcWidth - unPadParams.rightPad, tiling.srcWidth);
}
template <typename T, typename Tiling>
ASC_API void UnPad(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, UnPadParams& unPadParams, Tiling& tiling)
{
    LocalTensor<uint8_t> tmp = detail::StackTmp();
    UnPad(dstTensor, srcTensor, unPadParams, tmp, tiling);
}

}  // namespace AscendC

#endif
