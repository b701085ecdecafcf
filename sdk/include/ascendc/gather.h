// Gathering by offsets, by bit patterns, and sorting.
#ifndef ASCENDC_GATHER_H
#define ASCENDC_GATHER_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/scalar.h"
#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {
template <typename T>
using GatherLane = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
template <typename T>
ASC_API uint64_t GatherBase(const LocalTensor<T>& src, uint32_t offset)
{
    return src.GetPhyAddr() + offset;
}
}  // namespace detail

#define ASCENDC_CHECK_GATHER(API) \
    ASCENDC_CHECK_DTYPE(API, T, half, bfloat16_t, int16_t, uint16_t, float, int32_t, uint32_t)

/// Blocks of 32 bytes from byte offsets, eight per repeat.
template <typename T>
ASC_API void Gatherb(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offset,
    const uint8_t repeatTime, const GatherRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Gatherb, T, uint16_t, uint32_t);
    ResetMask();
    vgatherb(detail::Ub(dst), detail::Ub(offset), detail::GatherBase(src, 0), repeatParams.dstRepStride,
             repeatParams.dstBlkStride, repeatTime);
}

/// Elements from byte offsets relative to src + srcBaseOffset.
template <typename T>
ASC_API void Gather(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
    const uint32_t srcBaseOffset, const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride)
{
    ASCENDC_CHECK_GATHER(Gather);
    detail::SetMaskLen<T>(static_cast<int32_t>(mask));
    vgather(detail::UbAs<detail::GatherLane<T>>(dst), detail::Ub(srcOffset), detail::GatherBase(src, srcBaseOffset),
            dstRepStride, repeatTime);
}
template <typename T>
ASC_API void Gather(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
    const uint32_t srcBaseOffset, const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride)
{
    ASCENDC_CHECK_GATHER(Gather);
    set_vector_mask(mask[1], mask[0]);
    vgather(detail::UbAs<detail::GatherLane<T>>(dst), detail::Ub(srcOffset), detail::GatherBase(src, srcBaseOffset),
            dstRepStride, repeatTime);
}
template <typename T>
ASC_API void Gather(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& srcOffset,
    const uint32_t srcBaseOffset, const uint32_t count)
{
    ASCENDC_CHECK_GATHER(Gather);
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const uint32_t repeats = count / lanes;
    const uint32_t tail = count % lanes;
    if (repeats > MAX_REPEAT_TIMES) {
        ascendsim::Fault(
            "repeat_overflow", detail::Describe("Gather: the count takes ", repeats, " repeats, the limit is ", 255, "").Text());
        return;
    }
    if (repeats > 0) {
        Gather(dst, src, srcOffset, srcBaseOffset, static_cast<uint64_t>(lanes), static_cast<uint8_t>(repeats),
               DEFAULT_REPEAT_STRIDE);
    }
    if (tail > 0) {
        const uint32_t at = count - tail;
        Gather(dst[at], src, srcOffset[at], srcBaseOffset, static_cast<uint64_t>(tail), 1, DEFAULT_REPEAT_STRIDE);
    }
}

namespace detail {
template <typename Lane>
ASC_API void GatherMaskInstr(
    __ubuf__ Lane* dst, __ubuf__ Lane* src0, __ubuf__ Lane* src1, uint8_t pattern, bool reduceMode, uint32_t mask,
    const GatherMaskParams& p, uint64_t& rsvdCnt)
{
    if (reduceMode) {
        set_mask_count();
        set_vector_mask(0, mask);
    } else {
        // Without counting, all lanes take part whatever `mask` says.
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
    }
    vreducev2(dst, src0, src1, p.repeatTimes, p.src0BlockStride, pattern, p.src0RepeatStride, p.src1RepeatStride);
    rsvdCnt = static_cast<uint64_t>(get_rsvd_cnt());
    set_mask_norm();
}
}  // namespace detail

/// Packs the elements whose bit in src1Pattern is set; rsvdCnt gets their number.
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
ASC_API void GatherMask(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern, const bool reduceMode,
    const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt)
{
    ASCENDC_CHECK_GATHER(GatherMask);
    static_assert(std::is_same<U, detail::GatherLane<T>>::value,
                  "GatherMask: the pattern must be uint16_t for 16-bit elements, uint32_t for 32-bit elements");
    detail::GatherMaskInstr(
        detail::UbAs<U>(dst), detail::UbAs<U>(src0), detail::Ub(src1Pattern), 0, reduceMode, mask, gatherMaskParams,
        rsvdCnt);
}
/// Packs by a fixed pattern: 1 even and 2 odd elements, 3 to 6 one of four, 7 all.
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
ASC_API void GatherMask(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern, const bool reduceMode,
    const uint32_t mask, const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt)
{
    ASCENDC_CHECK_GATHER(GatherMask);
    using Lane = detail::GatherLane<T>;
    if (src1Pattern < 1 || src1Pattern > 7) {
        ascendsim::Fault(
            "bad_argument", detail::Describe("GatherMask: the pattern is ", src1Pattern, ", allowed are 1 to ", 7, "").Text());
        rsvdCnt = 0;
        return;
    }
    detail::GatherMaskInstr(
        detail::UbAs<Lane>(dst), detail::UbAs<Lane>(src0), detail::UbAs<Lane>(src0), src1Pattern, reduceMode, mask,
        gatherMaskParams, rsvdCnt);
}
ASC_API int64_t GetGatherMaskRemainCount() { return get_rsvd_cnt(); }
#undef ASCENDC_CHECK_GATHER

}  // namespace AscendC

#endif
