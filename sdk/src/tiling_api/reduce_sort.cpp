// Reductions, sorting and the best k on the host.
#include <algorithm>

#include "arithmetic.h"
#include "tiling/rearrange_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {
// Largest power of two that is not above n (1 for 0).
uint32_t PowerBelow(uint32_t n)
{
    uint32_t power = 1;
    while (n > 1) {
        power <<= 1;
        n >>= 1;
    }
    return power;
}

// Rows that remain when n rows are folded in two: a power of two below n.
uint32_t FoldedRows(uint32_t n)
{
    const uint32_t power = PowerBelow(n);
    return power == n && n > 1 ? power / 2 : power;
}

uint32_t ReduceTypeSize(TensorDataType dtype)
{
    return dtype == ge::DT_FLOAT || dtype == ge::DT_INT32 ? 4 : dtype == ge::DT_FLOAT16 ? 2 : 1;
}

bool IsReducible(const TensorShape& shape, ReducePattern pattern)
{
    return shape.GetDimNum() == 2 && shape.GetDim(0) > 0 && shape.GetDim(1) > 0 &&
           (pattern == ReducePattern::AR || pattern == ReducePattern::RA);
}

// Maximum, minimum, and the logical ones on float.
void ReduceByRepeats(const TensorShape& shape, TensorDataType dtype, ReducePattern pattern, bool reuse_source,
                     uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t first = Dim(shape, 0);
    const uint32_t last = Dim(shape, 1);
    const uint32_t size = ReduceTypeSize(dtype);
    uint32_t bytes = 0;
    if (!reuse_source) {
        if (pattern == ReducePattern::RA) {
            bytes = FoldedRows(first) * RoundUp(last * size, kBlockBytes);
        } else if (last >= kRepeatBytes / size) {
            bytes = first * kRepeatBytes;
        } else if (last > kBlockBytes / size) {
            bytes = first * kBlockBytes;
        }
    }
    max_bytes = bytes;
    min_bytes = bytes;
}

void ReduceBytes(const TensorShape& shape, ReducePattern pattern, bool reuse_source, uint32_t& max_bytes,
                 uint32_t& min_bytes)
{
    const uint32_t first = Dim(shape, 0);
    const uint32_t last = Dim(shape, 1);
    uint32_t bytes = 0;
    if (pattern == ReducePattern::AR) {
        bytes = RoundUp(last, kBlockBytes) * 2 + first * kBlockBytes;
    } else if (!reuse_source) {
        bytes = FoldedRows(first) * RoundUp(last, kBlockBytes);
    }
    max_bytes = bytes;
    min_bytes = bytes;
}

void ReduceByFolding(const TensorShape& shape, ReducePattern pattern, bool reuse_source, uint32_t& max_bytes,
                     uint32_t& min_bytes)
{
    const uint32_t first = Dim(shape, 0);
    const uint32_t last = Dim(shape, 1);
    uint32_t floats = 0;
    if (!reuse_source) {
        if (pattern == ReducePattern::RA) {
            floats = FoldedRows(first) * RoundUp(last, 8);
        } else if (last > 64) {
            // A single row of a power of two columns is not folded once more.
            const uint32_t power = PowerBelow(last);
            floats = first * (power == last && first > 1 ? power / 2 : power);
        }
    }
    max_bytes = floats * 4;
    min_bytes = max_bytes;
}
} // namespace

void GetReduceProdMaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern, bool,
                                bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (dtype != ge::DT_FLOAT || !IsReducible(shape, pattern)) {
        return;
    }
    const uint32_t first = Dim(shape, 0);
    const uint32_t last = Dim(shape, 1);
    uint32_t bytes = 0;
    if (reuse_source) {
        bytes = pattern == ReducePattern::AR ? kRepeatBytes : 0;
    } else if (pattern == ReducePattern::AR) {
        const uint32_t power = PowerBelow(last);
        const uint32_t folded = power == last && first > 1 ? power / 2 : power;
        bytes = (std::max(8u, folded) + first * 8) * 4 + kRepeatBytes;
    } else {
        bytes = FoldedRows(first) * RoundUp(last * 4, kBlockBytes);
    }
    max_bytes = bytes;
    min_bytes = bytes;
}

void GetReduceSumMaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern, bool,
                               bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (dtype == ge::DT_FLOAT && IsReducible(shape, pattern)) {
        ReduceByFolding(shape, pattern, reuse_source, max_bytes, min_bytes);
    }
}

void GetReduceMeanMaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern, bool,
                                bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (dtype == ge::DT_FLOAT && IsReducible(shape, pattern)) {
        ReduceByFolding(shape, pattern, reuse_source, max_bytes, min_bytes);
    }
}

#define EXTREME(name)                                                                                                 \
    void GetReduce##name##MaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern,  \
                                        bool, bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)            \
    {                                                                                                                 \
        if ((dtype == ge::DT_FLOAT || dtype == ge::DT_FLOAT16) && IsReducible(shape, pattern)) {                      \
            ReduceByRepeats(shape, dtype, pattern, reuse_source, max_bytes, min_bytes);                               \
        }                                                                                                             \
    }
EXTREME(Max)
EXTREME(Min)
#undef EXTREME

#define LOGICAL(name)                                                                                                 \
    void GetReduce##name##MaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern,  \
                                        bool, bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)            \
    {                                                                                                                 \
        if (!IsReducible(shape, pattern)) {                                                                           \
            return;                                                                                                   \
        }                                                                                                             \
        if (dtype == ge::DT_UINT8) {                                                                                  \
            ReduceBytes(shape, pattern, reuse_source, max_bytes, min_bytes);                                          \
        } else if (dtype == ge::DT_FLOAT) {                                                                           \
            ReduceByRepeats(shape, dtype, pattern, reuse_source, max_bytes, min_bytes);                               \
        }                                                                                                             \
    }
LOGICAL(Any)
LOGICAL(All)
#undef LOGICAL

void GetReduceXorSumMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                  uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (shape.GetShapeSize() <= 0 || type_size != 2) {
        return;
    }
    max_bytes = (reuse_source ? 2 : 3) * std::max(Elements(shape) * type_size, kRepeatBytes);
    min_bytes = max_bytes;
}

void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const bool, uint32_t& max_bytes,
                         uint32_t& min_bytes)
{
    if (n == 0 || type_size == 0 || type_size > kBlockBytes) {
        return;
    }
    const uint32_t per_repeat = kRepeatBytes / type_size;
    max_bytes = RoundUp((n + per_repeat - 1) / per_repeat, kBlockBytes / type_size) * type_size;
    min_bytes = max_bytes;
}

void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const uint32_t accumulator_size, const bool,
                          uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (type_size == 0) {
        return;
    }
    const bool widened = type_size == 2 && accumulator_size == 4;
    const uint32_t per_repeat = kRepeatBytes / (widened ? 4 : type_size);
    uint32_t bytes = RoundUp((n + per_repeat - 1) / per_repeat, kBlockBytes);
    if (widened) {
        bytes += RoundUp(n * type_size, kBlockBytes) / type_size * 4;
    }
    max_bytes = bytes;
    min_bytes = bytes;
}

void GetMeanTmpBufferFactorSize(const uint32_t, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = 1;
    extra_bytes = 0;
}

uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t, const uint32_t)
{
    return 0;
}

uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t count, const uint32_t type_size)
{
    // A sorted element and its index are eight bytes.
    return type_size == 4 ? count * 2 * type_size : count * 4 * type_size;
}

void GetSortMaxMinTmpSize(const TensorShape&, TensorDataType, TensorDataType, bool, const SortConfig&, uint32_t&,
                          uint32_t&)
{}

bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const int32_t inner, const int32_t outer,
                          const bool, const bool has_index, enum TopKMode mode, const bool largest, const uint32_t,
                          uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t row = static_cast<uint32_t>(inner);
    const uint32_t all = static_cast<uint32_t>(inner * outer);
    constexpr uint32_t kIndexBytes = 4;
    constexpr uint32_t kMaskBytes = 64;
    if (mode == TopKMode::TOPK_NORMAL) {
        min_bytes = (has_index ? 16 : 16 + kIndexBytes) * row;
    } else {
        // Sorted pairs, the negated values where the smallest are wanted, the indices where none are given.
        min_bytes = all * 8 + kMaskBytes + (largest ? 0 : all * 4) + (has_index ? 0 : all * kIndexBytes);
    }
    max_bytes = min_bytes;
    return true;
}

bool GetTopKMaxMinTmpSize(const int32_t, const int32_t, const int32_t, const bool, const bool, enum TopKMode,
                          const bool, TensorDataType, const TopKConfig&, uint32_t&, uint32_t&)
{
    return false;
}

namespace {
// `count` groups of `period` bits, the bits `first` set in each.
uint32_t EveryBit(int32_t count, uint32_t period, uint32_t first)
{
    uint32_t mask = first;
    for (int32_t i = 1; i < count; ++i) {
        mask = (mask << period) | first;
    }
    return mask;
}

// Masks that gather the indices (odd words) and values of k sorted pairs.
void SetGatherMasks(int32_t k, uint32_t type_size, optiling::TopkTiling& tiling)
{
    if (k <= 16) {
        tiling.set_vreduceIdxMask0(EveryBit(k, 2, 2));
    } else if (k <= 32) {
        tiling.set_vreduceIdxMask0(EveryBit(16, 2, 2));
        tiling.set_vreduceIdxMask1(EveryBit(k - 16, 2, 2));
    }
    if (type_size == 4) {
        if (k <= 16) {
            tiling.set_vreduceValMask0(EveryBit(k, 2, 1));
        } else if (k <= 32) {
            tiling.set_vreduceValMask0(EveryBit(16, 2, 1));
            tiling.set_vreduceValMask1(EveryBit(k - 16, 2, 1));
        }
        return;
    }
    // Four pairs of half in each mask of 16 bits.
    const auto part = [k](int32_t before) {
        return k <= before ? uint16_t{0} : static_cast<uint16_t>(EveryBit(std::min(k - before, 4), 4, 1));
    };
    tiling.set_vreducehalfValMask0(k < 1 ? uint16_t{1} : part(0));
    tiling.set_vreducehalfValMask1(part(4));
    tiling.set_vreducehalfValMask2(part(8));
    tiling.set_vreducehalfValMask3(part(12));
    tiling.set_vreducehalfValMask4(part(16));
    tiling.set_vreducehalfValMask5(part(20));
    tiling.set_vreducehalfValMask6(part(24));
    tiling.set_vreducehalfValMask7(part(28));
}

void SetNormal(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index,
               optiling::TopkTiling& tiling)
{
    // Elements of a sorted pair: two floats or four halves.
    const int32_t pair = type_size == 2 ? 4 : 2;
    const int32_t k_two = (k + 15) / 16 * 16;
    const int32_t k_four = (k + 7) / 8 * 8;
    tiling.set_innerDataSize(inner * pair);
    tiling.set_copyUbToUbBlockCount(static_cast<uint32_t>(inner) * 8 / kBlockBytes);
    tiling.set_sortRepeat(static_cast<uint32_t>(inner / 32));
    tiling.set_mrgSortRepeat(inner / 4);
    tiling.set_kAlignTwoBytes(k_two);
    tiling.set_maskOffset(outer * (type_size == 2 ? k_two : k_four));
    tiling.set_maskVreducev2FourBytes(2 * k);
    tiling.set_maskVreducev2TwoBytes(4 * k);
    tiling.set_mrgSortSrc1offset(pair);
    tiling.set_mrgSortSrc2offset(2 * pair);
    tiling.set_mrgSortSrc3offset(3 * pair);
    tiling.set_mrgSortTwoQueueSrc1Offset(pair);
    tiling.set_mrgFourQueueTailPara1(inner * 2);
    tiling.set_mrgFourQueueTailPara2(static_cast<int32_t>(4 / type_size));
    const int32_t sorted = 2 * pair * inner;
    tiling.set_tmpLocalSize(sorted);
    if (!has_index) {
        tiling.set_srcIndexOffset(sorted);
        tiling.set_tmpLocalSize(sorted + inner * (pair / 2));
    }
}

void SetSmall(int32_t inner, int32_t outer, int32_t k, uint32_t type_size, bool has_index, bool largest,
              optiling::TopkTiling& tiling)
{
    const int32_t size = static_cast<int32_t>(type_size);
    const int32_t all = inner * outer;
    const int32_t sorted = all * (8 / size);
    const int32_t mask = sorted + (largest ? 0 : all);
    const int32_t index = mask + 64 / size;
    tiling.set_innerDataSize(sorted);
    tiling.set_maskOffset(outer * k);
    tiling.set_topkMrgSrc1MaskSizeOffset(mask);
    tiling.set_tmpLocalSize(index);
    if (!has_index) {
        tiling.set_tmpLocalSize(index + all * 4 / size);
        tiling.set_topkNSmallSrcIndexOffset(index);
    }
    SetGatherMasks(k, type_size, tiling);
}
} // namespace

bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, const int32_t inner, const int32_t outer,
                    const int32_t k, const uint32_t type_size, const bool has_index, enum TopKMode mode,
                    const bool largest, optiling::TopkTiling& tiling)
{
    if (type_size == 0 || type_size > 8) {
        return false;
    }
    tiling.set_allDataSize(inner * outer);
    tiling.set_kAlignFourBytes((k + 7) / 8 * 8);
    if (mode == TopKMode::TOPK_NORMAL) {
        SetNormal(inner, outer, k, type_size, has_index, tiling);
    } else {
        SetSmall(inner, outer, k, type_size, has_index, largest, tiling);
    }
    return true;
}

bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& platform, const int32_t inner, const int32_t outer,
                    const int32_t k, const uint32_t type_size, const bool has_index, enum TopKMode mode,
                    const bool largest, tiling::TopkTiling& tiling)
{
    return AsStruct<optiling::TopkTiling>(tiling, [&](optiling::TopkTiling& out) {
        return TopKTilingFunc(platform, inner, outer, k, type_size, has_index, mode, largest, out);
    });
}
} // namespace AscendC
