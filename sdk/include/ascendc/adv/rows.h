// Matrices of float rows in UB: reductions of every row, and arithmetic of every row with one value. A value per row is
// kept as a block of eight equal floats, which is how the functions that normalise rows pass them on.
#ifndef ASCENDC_ADV_ROWS_H
#define ASCENDC_ADV_ROWS_H

#include "ascendc/adv/lanes.h"
#include "ascendc/vec_reduce.h"

namespace AscendC {
namespace detail {
namespace rows {

using lanes::Floats;
using lanes::Run;

constexpr uint32_t LANES = ONE_REPEAT_FLOAT_SIZE;
constexpr uint32_t BLOCK = ONE_BLK_FLOAT_NUM;
/// Floats of scratch memory that a reduction takes per row, apart from the result's block.
constexpr uint32_t REDUCE_FLOATS = LANES + BLOCK;

/// `count` rows of `columns` floats, each `stride` floats behind the other; the stride fills whole blocks.
struct Shape {
    uint32_t count;
    uint32_t stride;
    uint32_t columns;
};

ASC_API uint32_t AtMost(uint32_t value, uint32_t limit) { return value < limit ? value : limit; }
ASC_API uint32_t WholeEights(uint32_t value) { return (value + BLOCK - 1) / BLOCK * BLOCK; }

/// Counter mode over `count` elements, until Normal.
ASC_API void Count(uint32_t count)
{
    set_mask_count();
    set_vector_mask(0, count);
}
ASC_API void Normal()
{
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
}
ASC_API void Mask(uint32_t lanesOn) { SetMaskLen<float>(static_cast<int32_t>(lanesOn)); }

// The instructions of a reduction by sum, and of one by maximum.
struct SumOf {
    static ASC_API void Pair(
        Floats d, Floats a, Floats b, uint8_t repeat, uint8_t dStep, uint8_t aStep, uint8_t bStep)
    {
        vadd(d, a, b, repeat, BLK, BLK, BLK, dStep, aStep, bStep);
    }
    static ASC_API void Whole(Floats d, Floats a, uint8_t repeat, uint16_t aStep)
    {
        vcadd(d, a, repeat, 1, BLK, aStep, false);
    }
};
struct MaxOf {
    static ASC_API void Pair(
        Floats d, Floats a, Floats b, uint8_t repeat, uint8_t dStep, uint8_t aStep, uint8_t bStep)
    {
        vmax(d, a, b, repeat, BLK, BLK, BLK, dStep, aStep, bStep);
    }
    static ASC_API void Whole(Floats d, Floats a, uint8_t repeat, uint16_t aStep)
    {
        vcmax(d, a, repeat, 1, BLK, aStep, ONLY_VALUE);
    }
};

/// values[r] = reduction of the first `columns` (at most 64) elements of row r.
template <typename Of>
ASC_API void ReduceNarrow(Floats values, Floats x, const Shape& shape)
{
    Mask(shape.columns);
    for (uint32_t done = 0; done < shape.count; done += MAX_REPEAT_TIMES) {
        Of::Whole(values + done, x + done * shape.stride,
                  static_cast<uint8_t>(AtMost(shape.count - done, MAX_REPEAT_TIMES)),
                  static_cast<uint16_t>(shape.stride / BLOCK));
    }
    pipe_barrier(PIPE_V);
}

/// One segment of 64 columns after the other, all rows at once: needs strides that fit an instruction.
template <typename Of>
ASC_API void ReduceByColumns(Floats values, Floats x, Floats folded, const Shape& shape)
{
    const uint8_t step = static_cast<uint8_t>(shape.stride / BLOCK);
    constexpr uint8_t whole = LANES / BLOCK;
    for (uint32_t done = 0; done < shape.count; done += MAX_REPEAT_TIMES) {
        const uint8_t repeat = static_cast<uint8_t>(AtMost(shape.count - done, MAX_REPEAT_TIMES));
        const Floats from = x + done * shape.stride;
        const Floats to = folded + done * LANES;
        uint32_t column = LANES;
        Mask(LANES);
        if (shape.columns >= 2 * LANES) {
            Of::Pair(to, from, from + LANES, repeat, whole, step, step);
            column = 2 * LANES;
        } else {
            vmuls(to, from, 1.0f, repeat, BLK, BLK, whole, step);
        }
        pipe_barrier(PIPE_V);
        for (; column < shape.columns; column += LANES) {
            Mask(AtMost(shape.columns - column, LANES));
            Of::Pair(to, to, from + column, repeat, whole, whole, step);
            pipe_barrier(PIPE_V);
        }
    }
    ReduceNarrow<Of>(values, folded, {shape.count, LANES, LANES});
}

/// Row after row, each folded to one value per repeat, and those again.
template <typename Of>
ASC_API void ReduceByRows(Floats values, Floats x, Floats folded, const Shape& shape)
{
    const uint32_t whole = shape.columns / LANES;
    const uint32_t tail = shape.columns % LANES;
    for (uint32_t row = 0; row < shape.count; ++row) {
        const Floats from = x + row * shape.stride;
        Mask(LANES);
        vmuls(folded, from, 1.0f, 1, BLK, BLK, REP, REP);
        pipe_barrier(PIPE_V);
        for (uint32_t segment = 1; segment < whole; ++segment) {
            Of::Pair(folded, folded, from + segment * LANES, 1, REP, REP, REP);
            pipe_barrier(PIPE_V);
        }
        if (tail > 0) {
            Mask(tail);
            Of::Pair(folded, folded, from + whole * LANES, 1, REP, REP, REP);
            pipe_barrier(PIPE_V);
        }
        ReduceNarrow<Of>(values + row, folded, {1, LANES, LANES});
    }
}

/// values[r] = reduction of row r; `folded` has 64 floats per row.
template <typename Of>
ASC_API void ReduceToValues(Floats values, Floats x, Floats folded, const Shape& shape)
{
    if (shape.columns <= LANES) {
        ReduceNarrow<Of>(values, x, shape);
    } else if (shape.stride / BLOCK <= 255) {
        ReduceByColumns<Of>(values, x, folded, shape);
    } else {
        ReduceByRows<Of>(values, x, folded, shape);
    }
    set_vector_mask(FULL_MASK, FULL_MASK);
}

/// blocks[r] = eight times values[r]. Eight values a repeat become eight blocks; where `count` does not fill the last
/// eight, the blocks pass by `folded`.
ASC_API void SpreadValues(Floats blocks, Floats values, Floats folded, uint32_t count)
{
    const uint32_t eights = WholeEights(count);
    const Floats to = eights == count ? blocks : folded;
    for (uint32_t done = 0; done < eights; done += 248) {
        vbrcb(reinterpret_cast<Run<uint32_t>>(to + done * BLOCK), reinterpret_cast<Run<uint32_t>>(values + done), 1,
              REP, static_cast<uint8_t>(AtMost(eights - done, 248) / BLOCK));
    }
    pipe_barrier(PIPE_V);
    if (to != blocks) {
        Count(count * BLOCK);
        lanes::Muls(blocks, to, 1.0f);
        Normal();
    }
}

/// The same without memory of its own: the first 64 columns of x are overwritten.
template <typename Of>
ASC_API void ReduceSpending(Floats values, Floats x, const Shape& shape)
{
    if (shape.columns <= LANES) {
        ReduceNarrow<Of>(values, x, shape);
    } else {
        const uint8_t step = static_cast<uint8_t>(shape.stride / BLOCK);
        const bool together = shape.stride / BLOCK <= 255;
        const uint32_t runs = together ? (shape.count + MAX_REPEAT_TIMES - 1) / MAX_REPEAT_TIMES : shape.count;
        for (uint32_t run = 0; run < runs; ++run) {
            const uint32_t done = together ? run * MAX_REPEAT_TIMES : run;
            const uint8_t repeat =
                static_cast<uint8_t>(together ? AtMost(shape.count - done, MAX_REPEAT_TIMES) : 1);
            const Floats from = x + done * shape.stride;
            for (uint32_t column = LANES; column < shape.columns; column += LANES) {
                Mask(AtMost(shape.columns - column, LANES));
                Of::Pair(from, from, from + column, repeat, step, step, step);
                pipe_barrier(PIPE_V);
            }
        }
        ReduceNarrow<Of>(values, x, {shape.count, shape.stride, LANES});
    }
    set_vector_mask(FULL_MASK, FULL_MASK);
}

/// SpreadValues where there are only `room` floats: what eight rows at a time would overshoot, the scalar unit reads.
ASC_API void SpreadWithin(Floats blocks, Floats values, uint32_t count, uint32_t room)
{
    if (WholeEights(count) * BLOCK <= room) {
        SpreadValues(blocks, values, blocks, count);
        return;
    }
    Order(HardEvent::V_S);
    Mask(BLOCK);
    for (uint32_t i = 0; i < count; ++i) {
        vector_dup(blocks + i * BLOCK, ReadScalar(values + i), 1, BLK, 1, REP, 0);
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(FULL_MASK, FULL_MASK);
}

/// blocks[r] = eight times the reduction of row r. `scratch` has REDUCE_FLOATS floats per row; behind its values, rounded
/// up to eight, is room for the blocks too.
template <typename Of>
ASC_API void Reduce(Floats blocks, Floats x, Floats scratch, const Shape& shape)
{
    const Floats folded = scratch + WholeEights(shape.count);
    ReduceToValues<Of>(scratch, x, folded, shape);
    SpreadValues(blocks, scratch, folded, shape.count);
}

#define ASCENDC_ROWS_WITH(Name, instr)                                                                             \
    /** d = x op blocks, row by row. */                                                                            \
    ASC_API void Name(Floats d, Floats x, Floats blocks, const Shape& shape)                                       \
    {                                                                                                              \
        if (shape.stride / BLOCK <= 255) {                                                                         \
            const uint8_t step = static_cast<uint8_t>(shape.stride / BLOCK);                                       \
            for (uint32_t column = 0; column < shape.columns; column += LANES) {                                   \
                Mask(AtMost(shape.columns - column, LANES));                                                       \
                for (uint32_t done = 0; done < shape.count; done += MAX_REPEAT_TIMES) {                            \
                    const uint32_t at = done * shape.stride + column;                                              \
                    instr(d + at, x + at, blocks + done * BLOCK,                                                   \
                          static_cast<uint8_t>(AtMost(shape.count - done, MAX_REPEAT_TIMES)), BLK, BLK, 0, step,   \
                          step, 1);                                                                                \
                }                                                                                                  \
            }                                                                                                      \
        } else {                                                                                                   \
            set_mask_count();                                                                                      \
            set_vector_mask(0, shape.columns);                                                                     \
            for (uint32_t row = 0; row < shape.count; ++row) {                                                     \
                const uint32_t at = row * shape.stride;                                                            \
                instr(d + at, x + at, blocks + row * BLOCK, 1, BLK, BLK, 0, REP, REP, 0);                          \
            }                                                                                                      \
            set_mask_norm();                                                                                       \
        }                                                                                                          \
        set_vector_mask(FULL_MASK, FULL_MASK);                                                                     \
        pipe_barrier(PIPE_V);                                                                                      \
    }
ASCENDC_ROWS_WITH(SubBlocks, vsub)
ASCENDC_ROWS_WITH(MulBlocks, vmul)
ASCENDC_ROWS_WITH(DivBlocks, vdiv)
ASCENDC_ROWS_WITH(AddBlocks, vadd)
#undef ASCENDC_ROWS_WITH

/// Moves one block of eight floats per row between a row of blocks and every second block.
ASC_API void SpreadBlocks(Floats d, Floats blocks, uint32_t count)
{
    Count(count * BLOCK);
    vmuls(d, blocks, 1.0f, 1, 2, 1, 16, 8);
    vmuls(d + BLOCK, blocks, 1.0f, 1, 2, 1, 16, 8);
    pipe_barrier(PIPE_V);
    Normal();
}
ASC_API void GatherBlocks(Floats blocks, Floats x, uint32_t count)
{
    Count(count * BLOCK);
    vmuls(blocks, x, 1.0f, 1, 1, 2, 8, 16);
    pipe_barrier(PIPE_V);
    Normal();
}

// One value per row in a tensor of 32 bytes a row: eight floats, or sixteen halves that are converted by way of
// `scratch` (sixteen floats per row).
ASC_API void StoreBlocks(Run<float> to, Floats blocks, Floats, uint32_t count)
{
    if (to != blocks) {
        Count(count * BLOCK);
        lanes::Muls(to, blocks, 1.0f);
        Normal();
    }
}
ASC_API void StoreBlocks(Run<half> to, Floats blocks, Floats scratch, uint32_t count)
{
    SpreadBlocks(scratch, blocks, count);
    Count(count * BLOCK * 2);
    lanes::Narrow(to, scratch);
    Normal();
}
ASC_API Floats LoadBlocks(Run<float> from, Floats, Floats, uint32_t) { return from; }
ASC_API Floats LoadBlocks(Run<half> from, Floats blocks, Floats scratch, uint32_t count)
{
    Count(count * BLOCK * 2);
    lanes::Widen(scratch, from);
    Normal();
    GatherBlocks(blocks, scratch, count);
    return blocks;
}

// Rows of a tensor as floats: where they are, or in `wide`.
ASC_API Floats LoadRows(Run<float> from, Floats, uint32_t) { return from; }
template <typename T>
ASC_API Floats LoadRows(Run<T> from, Floats wide, uint32_t count)
{
    Count(count);
    lanes::Widen(wide, from);
    Normal();
    return wide;
}
/// Where results are computed: in place for float, in `wide` for narrower dtypes, from where StoreRows takes them.
ASC_API Floats ResultRows(Run<float> to, Floats) { return to; }
template <typename T>
ASC_API Floats ResultRows(Run<T>, Floats wide)
{
    return wide;
}
ASC_API void StoreRows(Run<float>, Floats, uint32_t) {}
template <typename T>
ASC_API void StoreRows(Run<T> to, Floats wide, uint32_t count)
{
    Count(count);
    lanes::Narrow(to, wide);
    Normal();
}

ASC_API void ExpRows(Floats d, Floats x, uint32_t count)
{
    Count(count);
    lanes::Exp(d, x);
    Normal();
}

}  // namespace rows
}  // namespace detail
}  // namespace AscendC

#endif
