// The k largest or smallest elements of rows, sorted, with their indices.
#ifndef ASCENDC_ADV_TOPK_H
#define ASCENDC_ADV_TOPK_H

#include "ascendc/adv/sort.h"
#include "ascendc/vec_scalar.h"
#include "kernel_tiling/library_choices.h"

namespace AscendC {

// Words of the sorting library that kernels use.
constexpr uint32_t EIGHT = 8;
constexpr uint32_t SIXTEEN = 16;

/// Rows of `n` elements, `inner` (a multiple of 32) apart. The elements behind the first n of a row are overwritten.
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

namespace detail {

/// The first `k` records as values and indices.
template <typename T>
ASC_API void TakeRecords(
    const LocalTensor<T>& values, const LocalTensor<int32_t>& indices, const LocalTensor<T>& records, uint32_t k)
{
    constexpr uint8_t firstOfRecord = sizeof(T) == 2 ? 3 : 1;
    constexpr uint8_t oddWords = 2;
    constexpr uint32_t width = static_cast<uint32_t>(8 / sizeof(T));
    uint64_t kept = 0;
    GatherMask(values, records, firstOfRecord, true, k * width, GatherMaskParams(1, 1, 0, 0), kept);
    GatherMask(indices, records.template ReinterpretCast<int32_t>(), oddWords, true, k * 2, GatherMaskParams(1, 1, 0, 0),
               kept);
    ResetMask();
    PipeBarrier<PIPE_V>();
}

}  // namespace detail

/// Row r of the results starts at r * k rounded up to whole blocks. Without initial indices they count from 0; where a row
/// is finished its indices are n.
template <
    typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
    TopKMode topkMode = TopKMode::TOPK_NORMAL, typename Tiling>
ASC_API void TopK(
    const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal, const LocalTensor<T>& srcLocal,
    const LocalTensor<int32_t>& srcIndexLocal, const LocalTensor<bool>& finishLocal,
    const LocalTensor<uint8_t>& tmpLocal, const int32_t k, const Tiling& tilling, const TopKInfo& topKInfo,
    const bool isLargest = true)
{
    ASCENDC_CHECK_DTYPE(TopK, T, half, float);
    (void)tilling;
    const uint32_t inner = static_cast<uint32_t>(topKInfo.inner);
    const uint32_t n = static_cast<uint32_t>(topKInfo.n);
    const uint32_t count = static_cast<uint32_t>(k);
    const uint32_t recordBytes = inner * 8;
    if (inner % detail::SORT_RUN != 0 || n > inner || count > n) {
        ascendsim::Fault("bad_argument", "TopK: inner must be a multiple of 32, n at most inner, k at most n");
        return;
    }
    const uint32_t needed = 2 * recordBytes + (isInitIndex ? 0 : inner * static_cast<uint32_t>(sizeof(int32_t)));
    if (!detail::EnoughTmp("TopK", needed, tmpLocal.GetSize())) {
        return;
    }
    const LocalTensor<T> records = detail::TmpPart<T>(tmpLocal, 0, recordBytes / sizeof(T));
    LocalTensor<T> merged = detail::TmpPart<T>(tmpLocal, recordBytes, recordBytes / sizeof(T));
    LocalTensor<int32_t> index = srcIndexLocal;
    if constexpr (!isInitIndex) {
        index = detail::TmpPart<int32_t>(tmpLocal, 2 * recordBytes, inner);
        CreateVecIndex(index, 0, inner);
        PipeBarrier<PIPE_V>();
    }
    const uint32_t valuePitch = detail::RoundUp(count, detail::blockElements<T>);
    const uint32_t indexPitch = detail::RoundUp(count, detail::blockElements<int32_t>);
    for (uint32_t row = 0; row < static_cast<uint32_t>(topKInfo.outter); ++row) {
        const LocalTensor<T> src = srcLocal[row * inner];
        const LocalTensor<T> values = dstValueLocal[row * valuePitch];
        const LocalTensor<int32_t> indices = dstIndexLocal[row * indexPitch];
        if (!isLargest) {
            Muls(src, src, static_cast<T>(-1.0f), static_cast<int32_t>(n));
            PipeBarrier<PIPE_V>();
        }
        if (n < inner) {
            detail::Order(HardEvent::V_S);
            for (uint32_t i = n; i < inner; ++i) {
                src.SetValue(i, static_cast<T>(-__builtin_inff()));
            }
            detail::Order(HardEvent::S_V);
        }
        Sort<T, true>(records, src, index.template ReinterpretCast<uint32_t>(), merged,
                      static_cast<int32_t>(inner / detail::SORT_RUN));
        detail::TakeRecords(values, indices, records, count);
        if (!isLargest) {
            Muls(src, src, static_cast<T>(-1.0f), static_cast<int32_t>(n));
            Muls(values, values, static_cast<T>(-1.0f), k);
            PipeBarrier<PIPE_V>();
        }
        if constexpr (isHasfinish) {
            if (finishLocal.GetValue(row)) {
                Duplicate(indices, topKInfo.n, k);
                PipeBarrier<PIPE_V>();
            }
        } else {
            (void)finishLocal;
        }
    }
}
template <
    typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
    TopKMode topkMode = TopKMode::TOPK_NORMAL, typename Tiling>
ASC_API void TopK(
    const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal, const LocalTensor<T>& srcLocal,
    const LocalTensor<int32_t>& srcIndexLocal, const LocalTensor<bool>& finishLocal, const int32_t k,
    const Tiling& tilling, const TopKInfo& topKInfo, const bool isLargest = true)
{
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(
        dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, detail::StackTmp(), k, tilling, topKInfo,
        isLargest);
}

}  // namespace AscendC

#endif
