// Sorting of whole tensors: runs of 32 by hardware, then merging four runs into one until one is left.
#ifndef ASCENDC_ADV_SORT_H
#define ASCENDC_ADV_SORT_H

#include "ascendc/adv/row_tools.h"
#include "ascendc/sort.h"

namespace AscendC {
namespace detail {

constexpr uint32_t SORT_RUN = 32;
constexpr uint32_t SORT_WAYS = 4;

/// Merges runs of `run` records of `count` into runs of up to four times that.
template <typename T>
ASC_API void MergeRuns(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count, uint32_t run)
{
    const uint32_t width = static_cast<uint32_t>(8 / sizeof(T));
    for (uint32_t at = 0; at < count; at += SORT_WAYS * run) {
        uint16_t lengths[SORT_WAYS] = {0, 0, 0, 0};
        uint32_t lists = 0;
        for (; lists < SORT_WAYS && at + lists * run < count; ++lists) {
            const uint32_t left = count - at - lists * run;
            lengths[lists] = static_cast<uint16_t>(left < run ? left : run);
        }
        const uint32_t to = at * width;
        if (lists == 1) {
            CopyCount(dst[to].template ReinterpretCast<uint32_t>(), src[to].template ReinterpretCast<uint32_t>(),
                      lengths[0] * 2u);
            continue;
        }
        const LocalTensor<T> second = src[to + run * width];
        const MrgSortSrcList<T> sources(
            src[to], second, lists > 2 ? src[to + 2 * run * width] : second,
            lists > 3 ? src[to + 3 * run * width] : second);
        MrgSort(dst[to], sources, MrgSort4Info(lengths, false, static_cast<uint16_t>((1u << lists) - 1), 1));
        PipeBarrier<PIPE_V>();
    }
}

}  // namespace detail

/// Sorts 32 * repeatTime values with their indices, descending, into records: each 32 by itself, or all. The length of a
/// merged run is limited to 65535 records.
template <typename T, bool isFullSort>
ASC_API void Sort(
    const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index, LocalTensor<T>& tmp,
    const int32_t repeatTime)
{
    ASCENDC_CHECK_DTYPE(Sort, T, half, float);
    const uint32_t width = static_cast<uint32_t>(8 / sizeof(T));
    const uint32_t count = static_cast<uint32_t>(repeatTime) * detail::SORT_RUN;
    for (uint32_t done = 0; done < count; done += MAX_REPEAT_TIMES * detail::SORT_RUN) {
        const uint32_t limit = MAX_REPEAT_TIMES * detail::SORT_RUN;
        const uint32_t now = count - done < limit ? count - done : limit;
        Sort32(dst[done * width], concat[done], index[done], static_cast<int32_t>(now / detail::SORT_RUN));
    }
    PipeBarrier<PIPE_V>();
    if constexpr (isFullSort) {
        bool inDst = true;
        for (uint32_t run = detail::SORT_RUN; run < count; run *= detail::SORT_WAYS) {
            if (inDst) {
                detail::MergeRuns(tmp, dst, count, run);
            } else {
                detail::MergeRuns(dst, tmp, count, run);
            }
            inDst = !inDst;
        }
        if (!inDst) {
            detail::CopyCount(
                dst.template ReinterpretCast<uint32_t>(), tmp.template ReinterpretCast<uint32_t>(), count * 2);
        }
    } else {
        (void)tmp;
    }
}

}  // namespace AscendC

#endif
