// Broadcasting of tensors of one or two axes along one of them.
#ifndef ASCENDC_ADV_BROADCAST_H
#define ASCENDC_ADV_BROADCAST_H

#include "ascendc/adv/row_tools.h"

namespace AscendC {
namespace detail {

/// Fills `rows` rows of `pitch` elements (whole blocks). Row r comes from src + r * srcRowBlocks blocks; within a row the
/// source advances by srcBlk blocks a block.
template <typename Lane>
ASC_API void FillRows(
    const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src, uint32_t rows, uint32_t pitch, uint16_t srcBlk,
    uint16_t srcRowBlocks)
{
    constexpr uint32_t lanes = repeatElements<Lane>;
    const uint32_t rowBlocks = pitch / blockElements<Lane>;
    const uint32_t batch = rowBlocks > 255 ? 1 : MAX_REPEAT_TIMES;
    for (uint32_t row = 0; row < rows; row += batch) {
        const uint32_t now = rows - row < batch ? rows - row : batch;
        for (uint32_t col = 0; col < pitch; col += lanes) {
            const uint32_t width = pitch - col < lanes ? pitch - col : lanes;
            const uint32_t from = row * srcRowBlocks * blockElements<Lane> + (srcBlk == 0 ? 0 : col);
            Copy(dst[row * pitch + col], src[from], static_cast<uint64_t>(width), static_cast<uint8_t>(now),
                 CopyRepeatParams(1, srcBlk, static_cast<uint16_t>(batch == 1 ? 0 : rowBlocks), srcRowBlocks));
        }
    }
    ResetMask();
    PipeBarrier<PIPE_V>();
}

/// Rows of one pass: all of them, or as many as fit that are a multiple of `unit`. 0 after a fault.
ASC_API uint32_t RowsThatFit(
    const LocalTensor<uint8_t>& tmp, uint32_t fixed, uint32_t bytesPerRow, uint32_t rows, uint32_t unit)
{
    const uint32_t size = tmp.GetSize();
    const uint32_t fit = size > fixed ? (size - fixed) / bytesPerRow : 0;
    const uint32_t batch = fit >= rows ? rows : RoundDown(fit, unit);
    EnoughTmp("BroadCast", batch == 0 ? fixed + uint64_t(rows < unit ? rows : unit) * bytesPerRow : 0, size);
    return batch;
}

/// Rows of one pass that spreads an element of each over a block, eight rows at a time, and has `extra` bytes for a row behind that:
/// all of them, or as many as fit that are a multiple of `unit`. 0 after a fault.
ASC_API uint32_t SpreadRowsThatFit(const LocalTensor<uint8_t>& tmp, uint32_t extra, uint32_t rows, uint32_t unit)
{
    constexpr uint32_t most = 240;
    const uint32_t size = tmp.GetSize();
    const uint64_t all = uint64_t(RoundUp(rows, 8)) * ONE_BLK_SIZE + uint64_t(rows) * extra;
    if (rows <= most && all <= size) {
        return rows;
    }
    const uint32_t fit = size / (ONE_BLK_SIZE + extra);
    const uint32_t batch = RoundDown(fit < most ? fit : most, unit);
    const uint64_t least = uint64_t(unit) * (ONE_BLK_SIZE + extra);
    EnoughTmp("BroadCast", batch == 0 ? (all < least ? all : least) : 0, size);
    return batch;
}

/// One element per row over `cols` columns.
template <typename Lane>
ASC_API void BroadcastColumn(
    const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src, uint32_t rows, uint32_t cols,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t block = blockElements<Lane>;
    const uint32_t pitch = RoundUp(cols, block);
    const bool packed = pitch != cols;
    const bool padded = packed && pitch > block;
    // A block's number of rows keeps both sides of a pass aligned.
    const uint32_t batch =
        SpreadRowsThatFit(tmp, padded ? pitch * static_cast<uint32_t>(sizeof(Lane)) : 0, rows, block);
    if (batch == 0) {
        return;
    }
    const uint32_t spreadRows = RoundUp(batch, 8);
    const LocalTensor<Lane> spread = TmpPart<Lane>(tmp, 0, spreadRows * block);
    const LocalTensor<Lane> wide =
        TmpPart<Lane>(tmp, padded ? spreadRows * ONE_BLK_SIZE : 0, padded ? batch * pitch : 0);
    for (uint32_t row = 0; row < rows; row += batch) {
        const uint32_t now = rows - row < batch ? rows - row : batch;
        Brcb(spread, src[row], static_cast<uint8_t>(RoundUp(now, 8) / 8), BrcbRepeatParams(1, 8));
        PipeBarrier<PIPE_V>();
        if (!packed) {
            FillRows(dst[row * cols], spread, now, pitch, 0, 1);
        } else if (padded) {
            FillRows(wide, spread, now, pitch, 0, 1);
            PackRows(dst[row * cols], wide, now, cols, pitch);
        } else {
            PackRows(dst[row * cols], spread, now, cols, block);
        }
    }
}

/// One row of `cols` elements over `rows` rows.
template <typename Lane>
ASC_API void BroadcastRow(
    const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src, uint32_t rows, uint32_t cols,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t block = blockElements<Lane>;
    const uint32_t pitch = RoundUp(cols, block);
    if (pitch == cols) {
        FillRows(dst, src, rows, pitch, 1, 0);
        return;
    }
    const uint32_t bytesPerRow = pitch * static_cast<uint32_t>(sizeof(Lane));
    const uint32_t batch = RowsThatFit(tmp, 0, bytesPerRow, rows, block);
    if (batch == 0) {
        return;
    }
    const LocalTensor<Lane> wide = TmpPart<Lane>(tmp, 0, batch * pitch);
    FillRows(wide, src, rows < batch ? rows : batch, pitch, 1, 0);
    for (uint32_t row = 0; row < rows; row += batch) {
        PackRows(dst[row * cols], wide, rows - row < batch ? rows - row : batch, cols, pitch);
    }
}

template <typename Lane, int32_t axis>
ASC_API void BroadcastLanes(
    const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src, uint32_t rows, uint32_t cols,
    const LocalTensor<uint8_t>& tmp)
{
    if constexpr (axis == 0) {
        BroadcastRow(dst, src, rows, cols, tmp);
    } else {
        BroadcastColumn(dst, src, rows, cols, tmp);
    }
}

/// Bytes have no vector copy: they travel as half, `batch` rows at a time.
template <int32_t axis>
ASC_API void BroadcastBytes(
    const LocalTensor<uint8_t>& dst, const LocalTensor<uint8_t>& src, uint32_t rows, uint32_t cols,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t unit = 32;
    constexpr uint32_t half2 = sizeof(half);
    const uint32_t rowBytes = RoundUp(cols * half2, ONE_BLK_SIZE);
    // Per row: the source as half, the result as half, and what BroadcastLanes needs (a block and a padded row).
    const uint32_t perRow = (axis == 0 ? 0 : half2) + 2 * rowBytes + ONE_BLK_SIZE;
    const uint32_t fixed = (axis == 0 ? rowBytes : ONE_BLK_SIZE) + 9 * ONE_BLK_SIZE;
    const uint32_t batch = RowsThatFit(tmp, fixed, perRow, rows, unit);
    if (batch == 0) {
        return;
    }
    const uint32_t srcBytes = axis == 0 ? rowBytes : RoundUp(batch * half2, ONE_BLK_SIZE);
    const LocalTensor<half> from = TmpPart<half>(tmp, 0, srcBytes / half2);
    const LocalTensor<half> to = TmpPart<half>(tmp, srcBytes, batch * cols);
    LocalTensor<uint8_t> rest = tmp[RoundUp(srcBytes + batch * cols * half2, ONE_BLK_SIZE)];
    for (uint32_t row = 0; row < rows; row += batch) {
        const uint32_t now = rows - row < batch ? rows - row : batch;
        if (axis != 0 || row == 0) {
            Cast(from, axis == 0 ? src : src[row], RoundMode::CAST_NONE, axis == 0 ? cols : now);
            PipeBarrier<PIPE_V>();
        }
        BroadcastLanes<uint16_t, axis>(
            to.ReinterpretCast<uint16_t>(), from.ReinterpretCast<uint16_t>(), now, cols, rest);
        Cast(dst[row * cols], to, RoundMode::CAST_NONE, now * cols);
        PipeBarrier<PIPE_V>();
    }
}

}  // namespace detail

/// dst[i][j] = src with index 0 along `axis`; other axes must be equal. Shapes of one axis have axis 0.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
ASC_API void BroadCast(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
    const uint32_t srcShape[dim], LocalTensor<uint8_t>& sharedTmpBuffer)
{
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4, "BroadCast: elements must have 1, 2 or 4 bytes");
    static_assert(dim == 1 || dim == 2, "BroadCast: tensors have 1 or 2 axes on NPU architecture 2201");
    static_assert(axis >= 0 && axis < dim, "BroadCast: the axis must be one of the tensor's");
    // A single element over one axis is a column of one row.
    const uint32_t rows = dim == 1 ? 1 : dstShape[0];
    const uint32_t cols = dstShape[dim - 1];
    constexpr int32_t along = dim == 1 ? 1 : axis;
    if (srcShape[axis] != dstShape[axis] && srcShape[axis] != 1) {
        ascendsim::Fault("bad_argument", "BroadCast: the source's size along the axis must be 1");
        return;
    }
    if constexpr (sizeof(T) == 1) {
        if (srcShape[axis] == dstShape[axis]) {
            const uint32_t bytes = rows * cols;
            detail::CopyCount(
                dstLocal.template ReinterpretCast<uint16_t>(), srcLocal.template ReinterpretCast<uint16_t>(),
                (bytes + 1) / 2);
            return;
        }
        detail::BroadcastBytes<along>(
            dstLocal.template ReinterpretCast<uint8_t>(), srcLocal.template ReinterpretCast<uint8_t>(), rows, cols,
            sharedTmpBuffer);
    } else {
        using Lane = detail::MoveLane<T>;
        const LocalTensor<Lane> dst = dstLocal.template ReinterpretCast<Lane>();
        const LocalTensor<Lane> src = srcLocal.template ReinterpretCast<Lane>();
        if (srcShape[axis] == dstShape[axis]) {
            detail::CopyCount(dst, src, rows * cols);
            return;
        }
        detail::BroadcastLanes<Lane, along>(dst, src, rows, cols, sharedTmpBuffer);
    }
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
ASC_API void BroadCast(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
    const uint32_t srcShape[dim])
{
    LocalTensor<uint8_t> tmp = detail::StackTmp();
    BroadCast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, tmp);
}

/// The newer name.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
ASC_API void Broadcast(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
    const uint32_t srcShape[dim], LocalTensor<uint8_t>& sharedTmpBuffer)
{
    BroadCast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, sharedTmpBuffer);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
ASC_API void Broadcast(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dstShape[dim],
    const uint32_t srcShape[dim])
{
    BroadCast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape);
}

}  // namespace AscendC

#endif
