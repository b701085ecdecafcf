// Reductions of rows and columns: Sum and Mean over the last axis, and reductions by pattern.
#ifndef ASCENDC_ADV_REDUCE_H
#define ASCENDC_ADV_REDUCE_H

#include "ascendc/adv/row_tools.h"
#include "ascendc/vec_binary.h"
#include "ascendc/vec_reduce.h"

namespace AscendC {

/// `outter` rows of `n` elements, `inner` apart (n rounded up to whole blocks).
struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

/// Which axes go (R) and which stay (A), outermost first.
namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

namespace detail {

/// One reducing instruction over `count` elements, a result per repeat.
template <typename T, ReduceMode mode>
ASC_API void ReduceStep(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t srcRep)
{
    if constexpr (mode == ReduceMode::REDUCE_SUM) {
        vcadd(dst, src, repeat, 1, 1, srcRep, false);
    } else if constexpr (mode == ReduceMode::REDUCE_MAX) {
        vcmax(dst, src, repeat, 1, 1, srcRep, ONLY_VALUE);
    } else {
        vcmin(dst, src, repeat, 1, 1, srcRep, ONLY_VALUE);
    }
}

/// Bytes of temporary memory that a row of n elements takes: results of the passes.
template <typename T>
ASC_API uint32_t RowTmpBytes(uint32_t n)
{
    uint32_t bytes = 0;
    while (n > repeatElements<T>) {
        n = RoundUp(n, repeatElements<T>) / repeatElements<T>;
        bytes += RoundUp(n * static_cast<uint32_t>(sizeof(T)), ONE_BLK_SIZE);
    }
    return bytes;
}

/// Results of `rows` rows, one after another at dst.
template <typename T, ReduceMode mode>
ASC_API void ReduceRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t pitch, uint32_t n,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t lanes = repeatElements<T>;
    const uint32_t rowBlocks = pitch / blockElements<T>;
    if (n <= lanes && rowBlocks <= 255) {
        SetMaskLen<T>(static_cast<int32_t>(n));
        for (uint32_t row = 0; row < rows; row += MAX_REPEAT_TIMES) {
            const uint32_t now = rows - row < MAX_REPEAT_TIMES ? rows - row : MAX_REPEAT_TIMES;
            ReduceStep<T, mode>(
                Ub(dst[row]), Ub(src[row * pitch]), static_cast<uint8_t>(now), static_cast<uint16_t>(rowBlocks));
        }
        ResetMask();
        PipeBarrier<PIPE_V>();
        return;
    }
    if (!EnoughTmp("reduction of rows", RowTmpBytes<T>(n), tmp.GetSize())) {
        return;
    }
    for (uint32_t row = 0; row < rows; ++row) {
        LocalTensor<T> from = src[row * pitch];
        uint32_t offset = 0;
        set_mask_count();
        for (uint32_t left = n;;) {
            const uint32_t results = RoundUp(left, lanes) / lanes;
            const LocalTensor<T> to = results == 1 ? dst[row] : TmpPart<T>(tmp, offset, results);
            set_vector_mask(0, left);
            ReduceStep<T, mode>(Ub(to), Ub(from), 1, DEFAULT_REPEAT_STRIDE);
            PipeBarrier<PIPE_V>();
            if (results == 1) {
                break;
            }
            offset += RoundUp(results * static_cast<uint32_t>(sizeof(T)), ONE_BLK_SIZE);
            from = to;
            left = results;
        }
        EndCount();
    }
}

template <typename T, ReduceMode mode>
ASC_API void Combine(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b, uint32_t count)
{
    if constexpr (mode == ReduceMode::REDUCE_SUM) {
        Add(dst, a, b, static_cast<int32_t>(count));
    } else if constexpr (mode == ReduceMode::REDUCE_MAX) {
        Max(dst, a, b, static_cast<int32_t>(count));
    } else {
        Min(dst, a, b, static_cast<int32_t>(count));
    }
    PipeBarrier<PIPE_V>();
}

/// Results of all columns: the rows one after another into dst.
template <typename T, typename Fold>
ASC_API void FoldRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t pitch, uint32_t cols,
    const Fold& fold)
{
    CopyCount(dst, src, cols);
    for (uint32_t row = 1; row < rows; ++row) {
        fold(dst, src[row * pitch], cols);
    }
}

template <typename T, class pattern, ReduceMode mode>
ASC_API void ReducePattern(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp, const uint32_t srcShape[],
    bool srcInnerPad)
{
    static_assert(
        std::is_same<pattern, Pattern::Reduce::AR>::value || std::is_same<pattern, Pattern::Reduce::RA>::value,
        "reduction: the patterns of NPU architecture 2201 are AR and RA");
    if (!srcInnerPad) {
        ascendsim::Fault("bad_argument", "reduction by pattern: rows must be padded to whole blocks (srcInnerPad)");
        return;
    }
    const uint32_t pitch = RoundUp(srcShape[1], blockElements<T>);
    if constexpr (std::is_same<pattern, Pattern::Reduce::AR>::value) {
        ReduceRows<T, mode>(dst, src, srcShape[0], pitch, srcShape[1], tmp);
    } else {
        const auto fold = [](const LocalTensor<T>& to, const LocalTensor<T>& row, uint32_t cols)
                              __attribute__((always_inline)) { Combine<T, mode>(to, to, row, cols); };
        FoldRows(dst, src, srcShape[0], pitch, srcShape[1], fold);
    }
}

/// Products of rows: halves are multiplied while they are whole blocks, the last block by the scalar unit.
template <typename T>
ASC_API void MultiplyRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t pitch, uint32_t n,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t block = blockElements<T>;
    if (!EnoughTmp("ReduceProd", RoundUp(n, block) * sizeof(T), tmp.GetSize())) {
        return;
    }
    const LocalTensor<T> work = TmpPart<T>(tmp, 0, n);
    for (uint32_t row = 0; row < rows; ++row) {
        CopyCount(work, src[row * pitch], n);
        uint32_t left = n;
        while (left > block) {
            const uint32_t kept = RoundUp((left + 1) / 2, block);
            Mul(work, work, work[kept], static_cast<int32_t>(left - kept));
            PipeBarrier<PIPE_V>();
            left = kept;
        }
        Order(HardEvent::V_S);
        T product = work.GetValue(0);
        for (uint32_t i = 1; i < left; ++i) {
            product = static_cast<T>(product * work.GetValue(i));
        }
        dst.SetValue(row, product);
        Order(HardEvent::S_V);
    }
    PublishScalarResult();
}

}  // namespace detail

#define ASCENDC_REDUCE_PATTERN(Name, mode)                                                                        \
    template <class T, class pattern, bool isReuseSource = false>                                                 \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                         \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[], bool srcInnerPad)                 \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::ReducePattern<T, pattern, mode>(dstTensor, srcTensor, sharedTmpBuffer, srcShape, srcInnerPad);    \
    }                                                                                                             \
    template <class T, class pattern, bool isReuseSource = false>                                                 \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t srcShape[],              \
        bool srcInnerPad)                                                                                         \
    {                                                                                                             \
        Name<T, pattern, isReuseSource>(dstTensor, srcTensor, detail::StackTmp(), srcShape, srcInnerPad);         \
    }
ASCENDC_REDUCE_PATTERN(ReduceSum, ReduceMode::REDUCE_SUM)
ASCENDC_REDUCE_PATTERN(ReduceMax, ReduceMode::REDUCE_MAX)
ASCENDC_REDUCE_PATTERN(ReduceMin, ReduceMode::REDUCE_MIN)
#undef ASCENDC_REDUCE_PATTERN

template <class T, class pattern, bool isReuseSource = false>
ASC_API void ReduceMean(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const uint32_t srcShape[], bool srcInnerPad)
{
    constexpr bool rows = std::is_same<pattern, Pattern::Reduce::AR>::value;
    ReduceSum<T, pattern, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcShape, srcInnerPad);
    Muls(dstTensor, dstTensor, static_cast<T>(1.0f / static_cast<float>(srcShape[rows ? 1 : 0])),
         static_cast<int32_t>(srcShape[rows ? 0 : 1]));
    PipeBarrier<PIPE_V>();
}
template <class T, class pattern, bool isReuseSource = false>
ASC_API void ReduceMean(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t srcShape[], bool srcInnerPad)
{
    ReduceMean<T, pattern, isReuseSource>(dstTensor, srcTensor, detail::StackTmp(), srcShape, srcInnerPad);
}

template <class T, class pattern, bool isReuseSource = false>
ASC_API void ReduceProd(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const uint32_t srcShape[], bool srcInnerPad)
{
    ASCENDC_CHECK_DTYPE(ReduceProd, T, half, float);
    if (!srcInnerPad) {
        ascendsim::Fault("bad_argument", "reduction by pattern: rows must be padded to whole blocks (srcInnerPad)");
        return;
    }
    const uint32_t pitch = detail::RoundUp(srcShape[1], detail::blockElements<T>);
    if constexpr (std::is_same<pattern, Pattern::Reduce::AR>::value) {
        detail::MultiplyRows(dstTensor, srcTensor, srcShape[0], pitch, srcShape[1], sharedTmpBuffer);
    } else {
        const auto fold = [](const LocalTensor<T>& to, const LocalTensor<T>& row, uint32_t cols)
                              __attribute__((always_inline)) {
            Mul(to, to, row, static_cast<int32_t>(cols));
            PipeBarrier<PIPE_V>();
        };
        detail::FoldRows(dstTensor, srcTensor, srcShape[0], pitch, srcShape[1], fold);
    }
}
template <class T, class pattern, bool isReuseSource = false>
ASC_API void ReduceProd(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t srcShape[], bool srcInnerPad)
{
    ReduceProd<T, pattern, isReuseSource>(dstTensor, srcTensor, detail::StackTmp(), srcShape, srcInnerPad);
}

// ---- Sum and Mean ----------------------------------------------------------------------------------------
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
ASC_API void Sum(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const SumParams& sumParams)
{
    ASCENDC_CHECK_DTYPE(Sum, T, half, float);
    static_assert(reduceDim == -1, "Sum: only the last axis can be summed");
    detail::ReduceRows<T, ReduceMode::REDUCE_SUM>(
        dstTensor, srcTensor, sumParams.outter, sumParams.inner, sumParams.n, sharedTmpBuffer);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
ASC_API void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const SumParams& sumParams)
{
    Sum<T, reduceDim, isReuseSource, isBasicBlock>(dstTensor, srcTensor, detail::StackTmp(), sumParams);
}

/// accType float makes half rows add up in float.
template <
    typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
ASC_API void Mean(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const MeanParams& meanParams)
{
    ASCENDC_CHECK_DTYPE(Mean, T, half, float);
    static_assert(reduceDim == -1, "Mean: only the last axis can be averaged");
    const float factor = 1.0f / static_cast<float>(meanParams.n);
    const int32_t rows = static_cast<int32_t>(meanParams.outter);
    if constexpr (std::is_same<T, accType>::value) {
        detail::ReduceRows<T, ReduceMode::REDUCE_SUM>(
            dstTensor, srcTensor, meanParams.outter, meanParams.inner, meanParams.n, sharedTmpBuffer);
        Muls(dstTensor, dstTensor, static_cast<T>(factor), rows);
    } else {
        constexpr uint32_t bytes = sizeof(float);
        const uint32_t resultBytes = detail::RoundUp(meanParams.outter * bytes, ONE_BLK_SIZE);
        const uint32_t rowBytes = detail::RoundUp(meanParams.n * bytes, ONE_BLK_SIZE);
        if (!detail::EnoughTmp("Mean", uint64_t(resultBytes) + rowBytes, sharedTmpBuffer.GetSize())) {
            return;
        }
        const LocalTensor<float> results = detail::TmpPart<float>(sharedTmpBuffer, 0, meanParams.outter);
        const LocalTensor<float> row = detail::TmpPart<float>(sharedTmpBuffer, resultBytes, meanParams.n);
        for (uint32_t i = 0; i < meanParams.outter; ++i) {
            Cast(row, srcTensor[i * meanParams.inner], RoundMode::CAST_NONE, meanParams.n);
            PipeBarrier<PIPE_V>();
            detail::ReduceRows<float, ReduceMode::REDUCE_SUM>(
                results[i], row, 1, meanParams.n, meanParams.n, sharedTmpBuffer[resultBytes + rowBytes]);
        }
        Muls(results, results, factor, rows);
        PipeBarrier<PIPE_V>();
        Cast(dstTensor, results, RoundMode::CAST_NONE, meanParams.outter);
    }
    PipeBarrier<PIPE_V>();
}
template <
    typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
ASC_API void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const MeanParams& meanParams)
{
    Mean<T, accType, isReuseSource, isBasicBlock, reduceDim>(dstTensor, srcTensor, detail::StackTmp(), meanParams);
}

}  // namespace AscendC

#endif
