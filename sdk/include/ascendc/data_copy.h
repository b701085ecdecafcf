// Transfers between global memory and the Unified Buffer, and within the Unified Buffer.
#ifndef ASCENDC_DATA_COPY_H
#define ASCENDC_DATA_COPY_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/scalar.h"
#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {

/// Keeps a GM tensor's L2 hint in force for one transfer.
class L2Hint {
public:
    ASC_API explicit L2Hint(bool bypass) : bypass_(bypass)
    {
        if (bypass_) {
            ascendsim::SetL2Bypass(true);
        }
    }
    ASC_API ~L2Hint()
    {
        if (bypass_) {
            ascendsim::SetL2Bypass(false);
        }
    }
    L2Hint(const L2Hint&) = delete;
    L2Hint& operator=(const L2Hint&) = delete;

private:
    bool bypass_;
};

/// One burst of `count` elements. The transfer moves whole blocks: what does not fill one is not moved.
template <typename T>
ASC_API DataCopyParams WholeBlocks(uint32_t count)
{
    const uint64_t bytes = BytesOf<T>(uint64_t(count));
    if (bytes % ONE_BLK_SIZE != 0) {
        ascendsim::Fault(
            "misaligned",
            Describe("DataCopy: ", bytes, " bytes are not a multiple of 32, the last ", bytes % ONE_BLK_SIZE,
                     " bytes are not moved; use DataCopyPad").Text());
    }
    const uint64_t blocks = bytes / ONE_BLK_SIZE;
    if (blocks > 65535) {
        ascendsim::Fault(
            "bad_argument", Describe("DataCopy: ", blocks, " blocks of 32 bytes exceed the limit of ", 65535, "").Text());
    }
    return DataCopyParams(1, static_cast<uint16_t>(blocks), 0, 0);
}

/// The memory that a tensor's position stands for.
template <typename T>
ASC_API Hardware MemoryOf(const LocalTensor<T>& tensor)
{
    return GetPhyType(static_cast<TPosition>(tensor.GetPosition()));
}

/// From L1 to the bias table (units of 64 bytes) or the fixpipe buffer (units of 128 bytes).
template <typename T>
ASC_API void CopyFromL1(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& p)
{
    switch (MemoryOf(dst)) {
        case Hardware::BIAS:
            copy_cbuf_to_bt(
                dst.GetPhyAddr(), Ub(src), static_cast<uint16_t>(0), p.blockCount, p.blockLen, p.srcStride,
                p.dstStride);
            return;
        case Hardware::FIXBUF:
            copy_cbuf_to_fbuf(Ub(dst), Ub(src), p.blockCount, p.blockLen, p.srcStride, p.dstStride);
            return;
        default:
            ascendsim::Fault(
                "unsupported", "DataCopy: on a cube core L1 is copied to the bias table or the fixpipe buffer only");
    }
}

}  // namespace detail

// ---- DataCopy: lengths and gaps in blocks of 32 bytes ------------------------------------------------
template <typename T>
ASC_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams)
{
    const detail::L2Hint hint(src.BypassesL2(CacheRwMode::READ));
    if constexpr (g_coreType == AIC) {
        copy_gm_to_cbuf(
            detail::Ub(dst), src.GetPhyAddr(), 0, repeatParams.blockCount, repeatParams.blockLen,
            repeatParams.srcStride, repeatParams.dstStride, PAD_NONE);
    } else {
        copy_gm_to_ubuf(
            detail::Ub(dst), src.GetPhyAddr(), 0, repeatParams.blockCount, repeatParams.blockLen,
            repeatParams.srcStride, repeatParams.dstStride);
    }
}
template <typename T>
ASC_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams)
{
    const detail::L2Hint hint(dst.BypassesL2(CacheRwMode::WRITE));
    if constexpr (g_coreType == AIC) {
        copy_cbuf_to_gm(
            dst.GetPhyAddr(0), detail::Ub(src), 0, repeatParams.blockCount, repeatParams.blockLen,
            repeatParams.srcStride, repeatParams.dstStride);
    } else {
        copy_ubuf_to_gm(
            dst.GetPhyAddr(0), detail::Ub(src), 0, repeatParams.blockCount, repeatParams.blockLen,
            repeatParams.srcStride, repeatParams.dstStride);
    }
}
template <typename T>
ASC_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams)
{
    if constexpr (g_coreType == AIC) {
        detail::CopyFromL1(dst, src, repeatParams);
    } else {
        copy_ubuf_to_ubuf(
            detail::Ub(dst), detail::Ub(src), 0, repeatParams.blockCount, repeatParams.blockLen,
            repeatParams.srcStride, repeatParams.dstStride);
    }
}

// ---- The same with what a path from or to the L0C buffer would do beside it: here all but that path is the plain copy ---
template <typename T>
ASC_API void DataCopy(
    const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& repeatParams,
    const DataCopyEnhancedParams&)
{
    DataCopy(dst, src, repeatParams);
}
template <typename T>
ASC_API void DataCopy(
    const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& repeatParams,
    const DataCopyEnhancedParams&)
{
    DataCopy(dst, src, repeatParams);
}
template <typename T, typename U>
ASC_API void DataCopy(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& repeatParams,
    const DataCopyEnhancedParams&)
{
    if constexpr (std::is_same_v<T, U>) {
        if (detail::MemoryOf(dst) != Hardware::L0C && detail::MemoryOf(src) != Hardware::L0C) {
            DataCopy(dst, src, repeatParams);
            return;
        }
    }
    ascendsim::Fault(
        "unsupported", "DataCopy: NPU architecture 2201 has no path between the L0C buffer and others but Fixpipe");
}

template <typename T>
ASC_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count)
{
    DataCopy(dst, src, detail::WholeBlocks<T>(count));
}
template <typename T>
ASC_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count)
{
    DataCopy(dst, src, detail::WholeBlocks<T>(count));
}
template <typename T>
ASC_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count)
{
    DataCopy(dst, src, detail::WholeBlocks<T>(count));
}

// ---- DataCopy of a box out of a tensor of up to K_MAX_SHAPE_DIM axes ------------------------------------
namespace detail {
/// Elements between the starts of two neighbours along each axis, the last axis being dense.
struct SliceSteps {
    uint64_t step[K_MAX_SHAPE_DIM > 0 ? K_MAX_SHAPE_DIM : 1];
};
ASC_API SliceSteps StepsOf(const ShapeInfo& shape, uint32_t axes)
{
    SliceSteps steps = {};
    uint64_t step = 1;
    for (uint32_t axis = axes; axis-- > 0;) {
        steps.step[axis] = step;
        step *= shape.shape[axis];
    }
    return steps;
}
/// Positions taken along one axis: segments of burstLen blocks (last axis) or of single elements, stride apart.
ASC_API uint64_t SliceCount(const SliceInfo& slice) { return slice.endIndex - slice.startIndex + 1; }

/// Segments of the last axis and where each starts, in elements from startIndex.
template <typename T>
ASC_API uint32_t SegmentElements(const SliceInfo& slice)
{
    return slice.burstLen * static_cast<uint32_t>(ONE_BLK_SIZE / sizeof(T));
}

/// Calls `move(dst offset, src offset, elements)` for every dense piece.
template <typename T, typename Move>
ASC_API void ForEachSegment(
    const SliceInfo dstSlice[], const SliceSteps& dstSteps, const SliceInfo srcSlice[], const SliceSteps& srcSteps,
    uint32_t axes, const Move& move)
{
    const uint32_t last = axes - 1;
    const uint32_t dstLen = SegmentElements<T>(dstSlice[last]);
    const uint32_t srcLen = SegmentElements<T>(srcSlice[last]);
    if (dstLen == 0 || dstLen != srcLen) {
        ascendsim::Fault("bad_argument", "DataCopy: burstLen of the two slices must be equal and not 0");
        return;
    }
    const uint64_t dstPitch = uint64_t(dstLen) + dstSlice[last].stride;
    const uint64_t srcPitch = uint64_t(srcLen) + srcSlice[last].stride;
    const uint64_t segments = (SliceCount(srcSlice[last]) + srcSlice[last].stride) / srcPitch;
    uint64_t rows = 1;
    for (uint32_t axis = 0; axis < last; ++axis) {
        rows *= SliceCount(srcSlice[axis]);
    }
    for (uint64_t row = 0; row < rows; ++row) {
        uint64_t rest = row;
        uint64_t to = dstSlice[last].startIndex;
        uint64_t from = srcSlice[last].startIndex;
        for (uint32_t axis = last; axis-- > 0;) {
            const uint64_t at = rest % SliceCount(srcSlice[axis]);
            rest /= SliceCount(srcSlice[axis]);
            to += (dstSlice[axis].startIndex + at) * dstSteps.step[axis];
            from += (srcSlice[axis].startIndex + at) * srcSteps.step[axis];
        }
        for (uint64_t segment = 0; segment < segments; ++segment) {
            move(to + segment * dstPitch, from + segment * srcPitch, dstLen);
        }
    }
}
}  // namespace detail

template <typename T>
ASC_API void DataCopy(
    const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
    const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    const auto move = [&](uint64_t to, uint64_t from, uint32_t count) __attribute__((always_inline)) {
        DataCopy(dst[static_cast<uint32_t>(to)], src[from], count);
    };
    detail::ForEachSegment<T>(
        dstSliceInfo, detail::StepsOf(dst.GetShapeInfo(), dimValue), srcSliceInfo,
        detail::StepsOf(src.GetShapeInfo(), dimValue), dimValue, move);
}
template <typename T>
ASC_API void DataCopy(
    const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
    const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1)
{
    const auto move = [&](uint64_t to, uint64_t from, uint32_t count) __attribute__((always_inline)) {
        DataCopy(dst[to], src[static_cast<uint32_t>(from)], count);
    };
    detail::ForEachSegment<T>(
        dstSliceInfo, detail::StepsOf(dst.GetShapeInfo(), dimValue), srcSliceInfo,
        detail::StepsOf(src.GetShapeInfo(), dimValue), dimValue, move);
}

// ---- DataCopyPad: lengths in bytes, GM gaps in bytes, UB gaps in blocks, paddings in elements ----------
namespace detail {

template <typename T>
ASC_API void CopyPadIn(
    const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint16_t count, uint32_t len, uint32_t srcStride,
    uint32_t dstStride, uint8_t left, uint8_t right)
{
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
        "DataCopyPad: elements must have 1, 2, 4 or 8 bytes");
    const L2Hint hint(src.BypassesL2(CacheRwMode::READ));
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_ubuf_align_b8(Ub(dst), src.GetPhyAddr(), 0, count, len, left, right, srcStride, dstStride);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_ubuf_align_b16(Ub(dst), src.GetPhyAddr(), 0, count, len, left, right, srcStride, dstStride);
    } else {
        constexpr uint32_t words = sizeof(T) / 4;
        copy_gm_to_ubuf_align_b32(
            Ub(dst), src.GetPhyAddr(), 0, count, len, static_cast<uint8_t>(left * words),
            static_cast<uint8_t>(right * words), srcStride, dstStride);
    }
}

template <typename T>
ASC_API void CopyPadOut(
    const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint16_t count, uint32_t len, uint32_t srcStride,
    uint32_t dstStride)
{
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
        "DataCopyPad: elements must have 1, 2, 4 or 8 bytes");
    const L2Hint hint(dst.BypassesL2(CacheRwMode::WRITE));
    if constexpr (sizeof(T) == 1) {
        copy_ubuf_to_gm_align_b8(dst.GetPhyAddr(0), Ub(src), 0, count, len, 0, 0, srcStride, dstStride);
    } else if constexpr (sizeof(T) == 2) {
        copy_ubuf_to_gm_align_b16(dst.GetPhyAddr(0), Ub(src), 0, count, len, 0, 0, srcStride, dstStride);
    } else {
        copy_ubuf_to_gm_align_b32(dst.GetPhyAddr(0), Ub(src), 0, count, len, 0, 0, srcStride, dstStride);
    }
}

}  // namespace detail

template <typename T>
ASC_API void DataCopyPad(
    const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& dataCopyParams,
    const DataCopyPadParams& padParams)
{
    if (padParams.isPad) {
        set_mov_pad_val(padParams.paddingValue);
    }
    detail::CopyPadIn(
        dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
        dataCopyParams.dstStride, padParams.leftPadding, padParams.rightPadding);
}
template <typename T>
ASC_API void DataCopyPad(
    const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& dataCopyParams,
    const DataCopyPadExtParams<T>& padParams)
{
    if (padParams.isPad) {
        set_mov_pad_val(GetScalarBitcodeValue(padParams.paddingValue));
    }
    detail::CopyPadIn(
        dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
        dataCopyParams.dstStride, padParams.leftPadding, padParams.rightPadding);
}
template <typename T>
ASC_API void DataCopyPad(
    const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& dataCopyParams)
{
    detail::CopyPadOut(
        dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
        dataCopyParams.dstStride);
}
template <typename T>
ASC_API void DataCopyPad(
    const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& dataCopyParams)
{
    detail::CopyPadOut(
        dst, src, dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
        dataCopyParams.dstStride);
}
template <typename T, TPosition pos = TPosition::MAX>
ASC_API void SetPadValue(T paddingValue)
{
    set_mov_pad_val(GetScalarBitcodeValue(paddingValue));
}

// ---- Copy: within the Unified Buffer by the vector unit ----------------------------------------------------
namespace detail {
template <typename T>
ASC_API void VectorCopy(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint8_t repeatTime, const CopyRepeatParams& params)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Copy: elements must have 2 or 4 bytes on NPU architecture 2201");
    using Lane = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    vcopy(
        UbAs<Lane>(dst), UbAs<Lane>(src), repeatTime, params.dstStride, params.srcStride, params.dstRepeatSize,
        params.srcRepeatSize);
}
}  // namespace detail

template <typename T, bool isSetMask = true>
ASC_API void Copy(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[], const uint8_t repeatTime,
    const CopyRepeatParams& repeatParams)
{
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    detail::VectorCopy(dst, src, repeatTime, repeatParams);
}
template <typename T, bool isSetMask = true>
ASC_API void Copy(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask, const uint8_t repeatTime,
    const CopyRepeatParams& repeatParams)
{
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    detail::VectorCopy(dst, src, repeatTime, repeatParams);
}

}  // namespace AscendC

#endif
