// Reductions: by pair, by block, by repeat, and over a whole tensor.
#ifndef ASCENDC_VEC_REDUCE_H
#define ASCENDC_VEC_REDUCE_H

#include "ascendc/mask.h"
#include "ascendc/tpipe.h"

namespace AscendC {

// ---- one instruction each ----------------------------------------------------------------------------
// `MaskType` is a lane count or a mask array; the parameter order differs between the families.
namespace detail {
template <typename T, bool isSetMask>
ASC_API void SetReduceMask(const int32_t mask)
{
    SetMask<T, isSetMask>(mask);
}
template <typename T, bool isSetMask>
ASC_API void SetReduceMask(const uint64_t mask[])
{
    SetMask<T, isSetMask>(mask[1], mask[0]);
}
/// What an instruction counts to: 255.
ASC_API uint8_t Repeats(const int32_t repeatTime)
{
    if (repeatTime < 0 || repeatTime > 255) {
        ascendsim::Fault(
            "repeat_overflow",
            Describe("repeatTime is ", static_cast<uint64_t>(repeatTime), ", the limit is ", 255, "").Text());
    }
    return static_cast<uint8_t>(repeatTime);
}
/// What an instruction has sixteen bits for; a longer stride would wrap to another one.
ASC_API uint16_t Stride(const int32_t stride)
{
    if (stride < 0 || stride > 65535) {
        ascendsim::Fault(
            "bad_argument", Describe("a stride is ", static_cast<uint64_t>(stride), ", the limit is ", 65535, "").Text());
    }
    return static_cast<uint16_t>(stride);
}
}  // namespace detail

#define ASCENDC_REDUCE_BLOCKS(Name, instr, MaskParam)                                                             \
    template <typename T, bool isSetMask = true>                                                                  \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, MaskParam,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                       \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::SetReduceMask<T, isSetMask>(mask);                                                                \
        instr(detail::Ub(dst), detail::Ub(src), detail::Repeats(repeatTime),                                      \
              detail::Stride(dstRepStride), detail::Stride(srcBlkStride),                                         \
              detail::Stride(srcRepStride));                                                                      \
    }
ASCENDC_REDUCE_BLOCKS(BlockReduceSum, vcgadd, const int32_t mask)
ASCENDC_REDUCE_BLOCKS(BlockReduceSum, vcgadd, const uint64_t mask[])
ASCENDC_REDUCE_BLOCKS(BlockReduceMax, vcgmax, const int32_t mask)
ASCENDC_REDUCE_BLOCKS(BlockReduceMax, vcgmax, const uint64_t mask[])
ASCENDC_REDUCE_BLOCKS(BlockReduceMin, vcgmin, const int32_t mask)
ASCENDC_REDUCE_BLOCKS(BlockReduceMin, vcgmin, const uint64_t mask[])
ASCENDC_REDUCE_BLOCKS(PairReduceSum, vcpadd, const int32_t mask)
ASCENDC_REDUCE_BLOCKS(PairReduceSum, vcpadd, const uint64_t mask[])
#undef ASCENDC_REDUCE_BLOCKS

#define ASCENDC_REDUCE_WHOLE_SUM(MaskParam)                                                                       \
    template <typename T, bool isSetMask = true>                                                                  \
    ASC_API void WholeReduceSum(                                                                                  \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, MaskParam, const int32_t repeatTime,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                       \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(WholeReduceSum, T, half, float);                                                      \
        detail::SetReduceMask<T, isSetMask>(mask);                                                                \
        vcadd(detail::Ub(dst), detail::Ub(src), detail::Repeats(repeatTime),                                      \
              detail::Stride(dstRepStride), detail::Stride(srcBlkStride),                                         \
              detail::Stride(srcRepStride), false);                                                               \
    }
ASCENDC_REDUCE_WHOLE_SUM(const int32_t mask)
ASCENDC_REDUCE_WHOLE_SUM(const uint64_t mask[])
#undef ASCENDC_REDUCE_WHOLE_SUM

#define ASCENDC_REDUCE_WHOLE_EXTREME(Name, instr, MaskParam)                                                      \
    template <typename T, bool isSetMask = true>                                                                  \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, MaskParam, const int32_t repeatTime,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                       \
        ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)                                                       \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::SetReduceMask<T, isSetMask>(mask);                                                                \
        instr(detail::Ub(dst), detail::Ub(src), detail::Repeats(repeatTime),                                      \
              detail::Stride(dstRepStride), detail::Stride(srcBlkStride),                                         \
              detail::Stride(srcRepStride), static_cast<Order_t>(order));                                         \
    }
ASCENDC_REDUCE_WHOLE_EXTREME(WholeReduceMax, vcmax, const int32_t mask)
ASCENDC_REDUCE_WHOLE_EXTREME(WholeReduceMax, vcmax, const uint64_t mask[])
ASCENDC_REDUCE_WHOLE_EXTREME(WholeReduceMin, vcmin, const int32_t mask)
ASCENDC_REDUCE_WHOLE_EXTREME(WholeReduceMin, vcmin, const uint64_t mask[])
#undef ASCENDC_REDUCE_WHOLE_EXTREME

template <typename T, bool isSetMask = true>
ASC_API void RepeatReduceSum(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t mask,
    const int32_t dstBlkStride, const int32_t srcBlkStride, const int32_t dstRepStride, const int32_t srcRepStride)
{
    (void)dstBlkStride;
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);
}

/// The newer names of the same instructions.
#define ASCENDC_REDUCE_NEW(MaskParam)                                                                             \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                               \
    ASC_API void ReduceDataBlock(                                                                                 \
        const LocalTensor<T>& dst, const LocalTensor<U>& src, MaskParam, const int32_t repeatTime,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                       \
    {                                                                                                             \
        if constexpr (reduceType == ReduceType::SUM) {                                                            \
            BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);   \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                     \
            BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);   \
        } else {                                                                                                  \
            BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);   \
        }                                                                                                         \
    }                                                                                                             \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                               \
    ASC_API void ReducePairElem(                                                                                  \
        const LocalTensor<T>& dst, const LocalTensor<U>& src, MaskParam, const int32_t repeatTime,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride)                       \
    {                                                                                                             \
        static_assert(reduceType == ReduceType::SUM, "ReducePairElem: only ReduceType::SUM exists");              \
        PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);        \
    }                                                                                                             \
    template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>                               \
    ASC_API void ReduceRepeat(                                                                                    \
        const LocalTensor<T>& dst, const LocalTensor<U>& src, MaskParam, const int32_t repeatTime,                \
        const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                       \
        ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)                                                       \
    {                                                                                                             \
        (void)order;                                                                                              \
        if constexpr (reduceType == ReduceType::SUM) {                                                            \
            WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride);   \
        } else if constexpr (reduceType == ReduceType::MAX) {                                                     \
            WholeReduceMax<T, isSetMask>(                                                                         \
                dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);                     \
        } else {                                                                                                  \
            WholeReduceMin<T, isSetMask>(                                                                         \
                dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order);                     \
        }                                                                                                         \
    }
ASCENDC_REDUCE_NEW(const int32_t mask)
ASCENDC_REDUCE_NEW(const uint64_t mask[])
#undef ASCENDC_REDUCE_NEW

// ---- over a whole tensor -----------------------------------------------------------------------------------
namespace detail {

/// Source of a whole-tensor reduction: repeats of `mask` lanes, srcRepStride blocks apart.
struct ReduceSource {
    uint64_t high;
    uint64_t low;
    int32_t repeats;
    int32_t repStride;
};

template <typename T>
ASC_API ReduceSource SourceOf(int32_t lanes, int32_t repeats, int32_t repStride)
{
    const bool full = lanes >= ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    const uint64_t low = lanes >= HALF_MASK_LEN ? FULL_MASK : (uint64_t(1) << static_cast<uint32_t>(lanes)) - 1;
    uint64_t high = 0;
    if (lanes >= FULL_MASK_LEN || (full && lanes > HALF_MASK_LEN)) {
        high = FULL_MASK;
    } else if (lanes > HALF_MASK_LEN) {
        high = (uint64_t(1) << static_cast<uint32_t>(lanes - HALF_MASK_LEN)) - 1;
    }
    return {high, low, repeats, repStride};
}

template <typename T, ReduceMode mode>
ASC_API void ReduceInstr(__ubuf__ T* dst, __ubuf__ T* src, int32_t repeats, int32_t repStride, uint64_t high, uint64_t low)
{
    set_vector_mask(high, low);
    const uint8_t repeat = static_cast<uint8_t>(repeats);
    const uint16_t stride = static_cast<uint16_t>(repStride);
    if constexpr (mode == ReduceMode::REDUCE_SUM) {
        vcadd(dst, src, repeat, 1, 1, stride, false);
    } else if constexpr (mode == ReduceMode::REDUCE_MAX) {
        vcmax(dst, src, repeat, 1, 1, stride, VALUE_INDEX);
    } else {
        vcmin(dst, src, repeat, 1, 1, stride, VALUE_INDEX);
    }
}

/// First pass over the source: one result (sum) or one pair (value, index) per repeat.
template <typename T, ReduceMode mode>
ASC_API void ReduceFirstPass(__ubuf__ T* tmp, __ubuf__ T* src, const ReduceSource& from)
{
    constexpr int32_t perRepeat = mode == ReduceMode::REDUCE_SUM ? 1 : VREDUCE_PER_REP_OUTPUT;
    const int32_t advance = from.repStride * static_cast<int32_t>(ONE_BLK_SIZE / sizeof(T));
    for (int32_t done = 0; done < from.repeats; done += MAX_REPEAT_TIMES) {
        const int32_t now = from.repeats - done < MAX_REPEAT_TIMES ? from.repeats - done : MAX_REPEAT_TIMES;
        ReduceInstr<T, mode>(tmp + done * perRepeat, src + done * advance, now, from.repStride, from.high, from.low);
    }
}

/// Every other lane, for the values among (value, index) pairs.
ASC_API uint64_t EveryOther(int32_t pairs)
{
    return pairs <= 0 ? 0 : (pairs >= 32 ? 0x5555555555555555u : 0x5555555555555555u >> (64 - 2 * pairs));
}

/// One pass over `pairs` pairs at `src`; returns the number of pairs it leaves at `dst`.
template <typename T, ReduceMode mode>
ASC_API int32_t ReducePairsPass(__ubuf__ T* dst, __ubuf__ T* src, int32_t pairs)
{
    constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    constexpr int32_t pairsPerRepeat = lanes / VREDUCE_PER_REP_OUTPUT;
    const int32_t full = pairs / pairsPerRepeat;
    const int32_t rest = pairs % pairsPerRepeat;
    if (full > 0) {
        ReduceInstr<T, mode>(
            dst, src, full, DEFAULT_REPEAT_STRIDE, EveryOther(pairsPerRepeat - 32), EveryOther(pairsPerRepeat));
    }
    if (rest > 0) {
        ReduceInstr<T, mode>(
            dst + full * VREDUCE_PER_REP_OUTPUT, src + full * lanes, 1, DEFAULT_REPEAT_STRIDE, EveryOther(rest - 32),
            EveryOther(rest));
    }
    return full + (rest > 0 ? 1 : 0);
}

/// A result written by the scalar unit is there for the vector unit and for transfers out.
ASC_API void PublishScalarResult()
{
    Order(HardEvent::S_V);
    Order(HardEvent::S_MTE3);
}

template <typename T>
ASC_API uint32_t IndexBits(const T* at)
{
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    return ReadScalar(reinterpret_cast<const Bits*>(at));
}
template <typename T>
ASC_API void WriteIndex(T* at, uint32_t index)
{
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    WriteScalar(reinterpret_cast<Bits*>(at), static_cast<Bits>(index));
}

/// Value and index: passes until one pair is left, each to memory of its own; then the index is followed back.
template <typename T, ReduceMode mode>
ASC_API void ReduceWithIndex(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ T* tmp, const ReduceSource& from)
{
    if (from.repeats == 1) {
        ReduceInstr<T, mode>(dst, src, 1, from.repStride, from.high, from.low);
        return;
    }
    constexpr int32_t block = static_cast<int32_t>(ONE_BLK_SIZE / sizeof(T));
    constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    int32_t starts[8] = {0};
    int32_t level = 0;
    ReduceFirstPass<T, mode>(tmp, src, from);
    int32_t pairs = from.repeats;
    do {
        const int32_t end = starts[level] + pairs * VREDUCE_PER_REP_OUTPUT;
        starts[level + 1] = (end + block - 1) / block * block;
        PipeBarrier<PIPE_V>();
        pairs = ReducePairsPass<T, mode>(tmp + starts[level + 1], tmp + starts[level], pairs);
        ++level;
    } while (pairs > 1 && level < 7);
    Order(HardEvent::V_S);
    WriteScalar(dst, ReadScalar(tmp + starts[level]));
    // The index at each level is a lane of the level below, within the repeat that the lane above stands for.
    uint32_t repeatOfBelow = 0;
    for (int32_t at = level; at > 0; --at) {
        const uint32_t lane = IndexBits(tmp + starts[at] + repeatOfBelow * VREDUCE_PER_REP_OUTPUT + 1);
        repeatOfBelow = (repeatOfBelow * static_cast<uint32_t>(lanes) + lane) / VREDUCE_PER_REP_OUTPUT;
    }
    const uint32_t lane = IndexBits(tmp + repeatOfBelow * VREDUCE_PER_REP_OUTPUT + 1);
    WriteIndex(dst + 1, repeatOfBelow * static_cast<uint32_t>(from.repStride * block) + lane);
    PublishScalarResult();
}

/// Value only: the passes work in place.
template <typename T, ReduceMode mode>
ASC_API void ReduceExtreme(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ T* tmp, const ReduceSource& from)
{
    constexpr int32_t pairsPerRepeat = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T)) / VREDUCE_PER_REP_OUTPUT;
    ReduceFirstPass<T, mode>(tmp, src, from);
    if (from.repeats > 1) {
        PipeBarrier<PIPE_V>();
        int32_t pairs = ReducePairsPass<T, mode>(tmp, tmp, from.repeats);
        if (pairs > pairsPerRepeat) {
            PipeBarrier<PIPE_V>();
            pairs = ReducePairsPass<T, mode>(tmp, tmp, pairs);
        }
        PipeBarrier<PIPE_V>();
        ReducePairsPass<T, mode>(tmp, tmp, pairs);
    }
    Order(HardEvent::V_S);
    WriteScalar(dst, ReadScalar(tmp));
    PublishScalarResult();
}

/// Sum with a mask and repeats: sums per repeat, then sums of those in counter mode, then the rest.
template <typename T>
ASC_API void ReduceSumRepeats(__ubuf__ T* dst, __ubuf__ T* src, __ubuf__ T* tmp, const ReduceSource& from)
{
    ReduceFirstPass<T, ReduceMode::REDUCE_SUM>(tmp, src, from);
    if (from.repeats > 1) {
        PipeBarrier<PIPE_V>();
        set_mask_count();
        set_vector_mask(0, static_cast<uint64_t>(from.repeats));
        vcadd(tmp, tmp, 1, 1, 1, DEFAULT_REPEAT_STRIDE, false);
        set_mask_norm();
        PipeBarrier<PIPE_V>();
        constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
        const int32_t left = (from.repeats + lanes - 1) / lanes;
        if (left > 1) {
            const ReduceSource rest = SourceOf<T>(left, 1, DEFAULT_REPEAT_STRIDE);
            ReduceInstr<T, ReduceMode::REDUCE_SUM>(dst, tmp, 1, DEFAULT_REPEAT_STRIDE, rest.high, rest.low);
            return;
        }
    }
    Order(HardEvent::V_S);
    WriteScalar(dst, ReadScalar(tmp));
    PublishScalarResult();
}

template <typename T, ReduceMode mode>
ASC_API void ReduceExtremeOrIndex(
    __ubuf__ T* dst, __ubuf__ T* src, __ubuf__ T* tmp, const ReduceSource& from, bool calIndex)
{
    if (calIndex) {
        ReduceWithIndex<T, mode>(dst, src, tmp, from);
    } else {
        ReduceExtreme<T, mode>(dst, src, tmp, from);
    }
}

/// A count that is not whole repeats: the rest is reduced by itself, then both results against each other.
template <typename T, ReduceMode mode>
ASC_API void ReduceTail(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& tmp, int32_t body, int32_t tail,
    bool calIndex)
{
    Order(HardEvent::V_S);
    const T bodyValue = dst.GetValue(0);
    const uint32_t bodyIndex = calIndex ? IndexBits(Ub(dst) + 1) : 0;
    ReduceExtremeOrIndex<T, mode>(
        Ub(dst), Ub(src) + body, Ub(tmp), SourceOf<T>(tail, 1, DEFAULT_REPEAT_STRIDE), calIndex);
    Order(HardEvent::V_S);
    const T tailValue = dst.GetValue(0);
    const uint32_t tailIndex = calIndex ? IndexBits(Ub(dst) + 1) : 0;
    tmp.SetValue(0, bodyValue);
    tmp.SetValue(1, tailValue);
    Order(HardEvent::S_V);
    ReduceExtremeOrIndex<T, mode>(Ub(dst), Ub(tmp), Ub(tmp), SourceOf<T>(2, 1, DEFAULT_REPEAT_STRIDE), calIndex);
    if (calIndex) {
        Order(HardEvent::V_S);
        const bool fromTail = IndexBits(Ub(dst) + 1) == 1;
        WriteIndex(Ub(dst) + 1, fromTail ? static_cast<uint32_t>(body) + tailIndex : bodyIndex);
        PublishScalarResult();
    }
}

template <typename T, ReduceMode mode>
ASC_API void ReduceCount(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& tmp, int32_t count, bool calIndex)
{
    if (count <= 0) {
        return;
    }
    constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(T));
    const int32_t repeats = count < lanes ? 1 : count / lanes;
    const int32_t tail = count < lanes ? 0 : count % lanes;
    ReduceExtremeOrIndex<T, mode>(
        Ub(dst), Ub(src), Ub(tmp), SourceOf<T>(count < lanes ? count : lanes, repeats, DEFAULT_REPEAT_STRIDE), calIndex);
    if (tail != 0) {
        ReduceTail<T, mode>(dst, src, tmp, repeats * lanes, tail, calIndex);
    }
}

}  // namespace detail

#define ASCENDC_REDUCE_EXTREME(Name, mode)                                                                        \
    template <typename T>                                                                                         \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,              \
        const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0)              \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::ReduceExtremeOrIndex<T, mode>(                                                                    \
            detail::Ub(dst), detail::Ub(src), detail::Ub(sharedTmpBuffer),                                        \
            detail::SourceOf<T>(mask, repeatTime, srcRepStride), calIndex);                                       \
    }                                                                                                             \
    template <typename T>                                                                                         \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,              \
        const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0)           \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::ReduceExtremeOrIndex<T, mode>(                                                                    \
            detail::Ub(dst), detail::Ub(src), detail::Ub(sharedTmpBuffer),                                        \
            detail::ReduceSource{mask[1], mask[0], repeatTime, srcRepStride}, calIndex);                          \
    }                                                                                                             \
    template <typename T>                                                                                         \
    ASC_API void Name(                                                                                            \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,              \
        const int32_t count, bool calIndex = 0)                                                                   \
    {                                                                                                             \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                \
        detail::ReduceCount<T, mode>(dst, src, sharedTmpBuffer, count, calIndex);                                 \
    }
ASCENDC_REDUCE_EXTREME(ReduceMax, ReduceMode::REDUCE_MAX)
ASCENDC_REDUCE_EXTREME(ReduceMin, ReduceMode::REDUCE_MIN)
#undef ASCENDC_REDUCE_EXTREME

template <typename T>
ASC_API void ReduceSum(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,
    const int32_t repeatTime, const int32_t srcRepStride)
{
    ASCENDC_CHECK_DTYPE(ReduceSum, T, half, float);
    detail::ReduceSumRepeats<T>(
        detail::Ub(dst), detail::Ub(src), detail::Ub(sharedTmpBuffer),
        detail::SourceOf<T>(mask, repeatTime, srcRepStride));
}
template <typename T>
ASC_API void ReduceSum(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
    const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride)
{
    ASCENDC_CHECK_DTYPE(ReduceSum, T, half, float);
    detail::ReduceSumRepeats<T>(
        detail::Ub(dst), detail::Ub(src), detail::Ub(sharedTmpBuffer),
        detail::ReduceSource{mask[1], mask[0], repeatTime, srcRepStride});
}

/// Bits of the accumulator register as a value.
template <typename T>
ASC_API T GetAccVal()
{
    const int64_t bits = get_acc_val();
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
}

/// The same as plain bits.
ASC_API uint64_t GetAccVal() { return static_cast<uint64_t>(get_acc_val()); }

/// The sum by count accumulates in a register and needs no temporary memory.
template <typename T, bool isSetMask = true>
ASC_API void ReduceSum(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer, const int32_t count)
{
    ASCENDC_CHECK_DTYPE(ReduceSum, T, half, float);
    (void)sharedTmpBuffer;
    if (count <= 0) {
        return;
    }
    if constexpr (isSetMask) {
        detail::BeginCount(static_cast<uint64_t>(count));
    }
    vcadd(detail::Ub(dst), detail::Ub(src), 1, DEFAULT_REDUCE_DST_REP_STRIDE, DEFAULT_BLK_STRIDE,
          DEFAULT_REPEAT_STRIDE, true);
    detail::Order(HardEvent::V_S);
    dst.SetValue(0, GetAccVal<T>());
    detail::PublishScalarResult();
    if constexpr (isSetMask) {
        detail::EndCount();
    }
}

template <typename T>
ASC_API T GetReduceRepeatSumSpr()
{
    return GetAccVal<T>();
}
/// Value and index that the last WholeReduceMax or WholeReduceMin left in the register.
template <typename T>
ASC_API void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex)
{
    const uint64_t bits = static_cast<uint64_t>(get_max_min_cnt());
    const uint64_t index = bits >> 32;
    __builtin_memcpy(static_cast<void*>(&maxMinValue), &bits, sizeof(T));
    __builtin_memcpy(static_cast<void*>(&maxMinIndex), &index, sizeof(T));
}
template <typename T>
ASC_API void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex)
{
    GetReduceMaxMinCount(maxMinValue, maxMinIndex);
}

}  // namespace AscendC

#endif
