// Sorting by hardware: runs of 32 elements, and merging of sorted runs of (value, index) records of 8 bytes.
#ifndef ASCENDC_SORT_H
#define ASCENDC_SORT_H

#include "ascendc/data_copy.h"
#include "ascendc/gather.h"
#include "ascendc/vec_reduce.h"

namespace AscendC {

struct MrgSort4Info {
    ASC_API MrgSort4Info() {}
    ASC_API MrgSort4Info(
        const uint16_t elementLengthsIn[MRG_SORT_ELEMENT_LEN], const bool ifExhaustedSuspensionIn,
        const uint16_t validBitIn, const uint16_t repeatTimesIn)
        : ifExhaustedSuspension(ifExhaustedSuspensionIn), validBit(validBitIn),
          repeatTimes(static_cast<uint8_t>(repeatTimesIn))
    {
        for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) {
            elementLengths[i] = elementLengthsIn[i];
        }
    }
    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

template <typename T>
struct MrgSortSrcList {
    ASC_API MrgSortSrcList() {}
    ASC_API MrgSortSrcList(
        const LocalTensor<T>& src1In, const LocalTensor<T>& src2In, const LocalTensor<T>& src3In,
        const LocalTensor<T>& src4In)
        : src1(src1In), src2(src2In), src3(src3In), src4(src4In)
    {}
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

/// Sorts each run of 32 elements, descending, into records.
template <typename T>
ASC_API void Sort32(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
    const int32_t repeatTime)
{
    ASCENDC_CHECK_DTYPE(Sort32, T, half, float);
    vbitsort(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), detail::Repeats(repeatTime));
}

/// Merges up to four sorted runs of records.
template <typename T>
ASC_API void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params)
{
    ASCENDC_CHECK_DTYPE(MrgSort, T, half, float);
    if (params.validBit != 3 && params.validBit != 7 && params.validBit != 15) {
        ascendsim::Fault(
            "bad_argument",
            detail::Describe("MrgSort: validBit is ", params.validBit, "; the first two, three or four runs are 3, 7 or 15").Text());
    }
    const uint64_t config = uint64_t(params.repeatTimes) | (uint64_t(params.validBit & 15u) << 8)
        | (uint64_t(params.ifExhaustedSuspension ? 1u : 0u) << 12);
    uint64_t lengths = 0;
    for (uint32_t i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) {
        lengths |= uint64_t(params.elementLengths[i]) << (16 * i);
    }
    __ubuf__ T* lists[MRG_SORT_ELEMENT_LEN] = {
        detail::Ub(src.src1), detail::Ub(src.src2), detail::Ub(src.src3), detail::Ub(src.src4)};
    vmrgsort4(detail::Ub(dst), lists, lengths, config);
}
/// Records that the last merge took from each run.
ASC_API void GetMrgSortResult(
    uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3, uint16_t& mrgSortList4)
{
    const uint64_t taken = static_cast<uint64_t>(get_vms4_sr());
    mrgSortList1 = static_cast<uint16_t>(taken);
    mrgSortList2 = static_cast<uint16_t>(taken >> 16);
    mrgSortList3 = static_cast<uint16_t>(taken >> 32);
    mrgSortList4 = static_cast<uint16_t>(taken >> 48);
}
template <typename T, bool isExhaustedSuspension = false>
ASC_API void MrgSort(
    const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
    uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime)
{
    MrgSort(dst, sortList,
            MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeatTime)));
    uint16_t taken[4] = {0, 0, 0, 0};
    GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
    for (int32_t i = 0; i < 4; ++i) {
        sortedNum[i] = taken[i];
    }
}

/// Position of record `elemOffset`, in elements of T.
template <typename T>
ASC_API uint32_t GetSortOffset(const uint32_t elemOffset)
{
    return elemOffset * static_cast<uint32_t>(8 / sizeof(T));
}
/// Elements of T that `elemCount` records take.
template <typename T>
ASC_API uint32_t GetSortLen(const uint32_t elemCount)
{
    return elemCount * static_cast<uint32_t>(8 / sizeof(T));
}

/// On this architecture sorting takes plain values: nothing has to be combined.
template <typename T>
ASC_API void Concat(
    LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp, const int32_t repeatTime)
{
    (void)tmp;
    (void)repeatTime;
    concat = src;
}

/// Splits records into values and indices; 32 records per repeat.
template <typename T>
ASC_API void Extract(
    const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
    const int32_t repeatTime)
{
    ASCENDC_CHECK_DTYPE(Extract, T, half, float);
    constexpr uint8_t evenElements = 1;
    constexpr uint8_t oddElements = 2;
    constexpr uint8_t firstOfFour = 3;
    uint64_t kept = 0;
    if constexpr (sizeof(T) == 2) {
        GatherMaskParams values(1, static_cast<uint16_t>(repeatTime), DEFAULT_REPEAT_STRIDE, 0);
        GatherMask(dstValue, sorted, firstOfFour, false, 0, values, kept);
    } else {
        GatherMaskParams values(1, static_cast<uint16_t>(repeatTime), DEFAULT_REPEAT_STRIDE, 0);
        GatherMask(dstValue, sorted, evenElements, false, 0, values, kept);
    }
    GatherMaskParams indices(1, static_cast<uint16_t>(repeatTime), DEFAULT_REPEAT_STRIDE, 0);
    GatherMask(dstIndex, sorted.template ReinterpretCast<uint32_t>(), oddElements, false, 0, indices, kept);
    ResetMask();
}

}  // namespace AscendC

#endif
