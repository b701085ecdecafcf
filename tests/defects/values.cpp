// Bytes that nobody has written, outputs that are left out, atomic additions, operands that overlap.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// The sum over tiles starts from whatever is in the scratch.
// Line: what is copied out in the end is wrong too; the first use is named.
DEFECT(sum_over_tiles_never_cleared, "uninitialised-read?", 1)
{
    constexpr uint32_t tile = 64;
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    OutQueue out;
    TBuf<TPosition::VECCALC> sumBuffer;
    pipe.InitBuffer(in, 2, tile * 4);
    pipe.InitBuffer(out, 1, tile * 4);
    pipe.InitBuffer(sumBuffer, tile * 4);
    auto sum = sumBuffer.Get<float>();
    if (!kBroken) Duplicate(sum, 0.0f, tile);
    for (uint32_t i = 0; i < 4; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], tile);
        in.EnQue(x);
        x = in.DeQue<float>();
        Add(sum, sum, x, tile); // here
        in.FreeTensor(x);
    }
    auto z = out.AllocTensor<float>();
    Adds(z, sum, 0.0f, tile);
    out.EnQue(z);
    z = out.DeQue<float>();
    DataCopy(m.z, z, tile);
    out.FreeTensor(z);
}

// The last tile has 104 elements of 256, and is summed as if it were full.
DEFECT(last_tile_summed_as_if_full, "uninitialised-read?", 1)
{
    const uint32_t tile = 256, valid = 104;
    if (!kBroken) {
        Duplicate(Ub(0), 0.0f, tile);
        Order<V_MTE2>();
    }
    DataCopy(Ub(0), m.x, valid);
    Order<MTE2_V>();
    WholeReduceSum(Ub(kOut), Ub(0), 64, tile / 64, 1, 1, 8); // here
    WholeReduceSum(Ub(kOut + 256), Ub(kOut), tile / 64, 1, 1, 1, 8);
}

// The comparison covers half of what is selected by it.
DEFECT(selected_by_half_a_mask, "uninitialised-read?", 1)
{
    const uint32_t count = 256;
    DataCopy(Ub(0), m.x, count);
    DataCopy(Ub(4096), m.y, count);
    Order<MTE2_V>();
    auto mask = Ub<uint8_t>(8192, 64);
    Compare(mask, Ub(0), Ub(4096), CMPMODE::GE, kBroken ? count / 2 : count);
    PipeBarrier<PIPE_V>();
    Select(Ub(kOut), mask, Ub(0), Ub(4096), SELMODE::VSEL_TENSOR_TENSOR_MODE, count); // here
}

// Softmax over eight rows, with the maxima of four.
DEFECT(maxima_of_half_the_rows, "uninitialised-read?", 1)
{
    const int32_t rows = 8;
    DataCopy(Ub(0), m.x, rows * 64);
    Order<MTE2_V>();
    WholeReduceMax(Ub(8192), Ub(0), 64, kBroken ? rows / 2 : rows, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    PipeBarrier<PIPE_V>();
    Brcb(Ub(12288), Ub(8192), 1, BrcbRepeatParams(1, 8)); // here
    PipeBarrier<PIPE_V>();
    Sub(Ub(kOut), Ub(0), Ub(12288), 64, 8, BinaryRepeatParams(1, 1, 0, 8, 8, 1));
}

// Eight rows in groups of three: two groups, and two rows that no group has.
OUTPUT_DEFECT(rows_behind_the_last_group, "unwritten-output", 1)
{
    uint32_t rows = 8;
    const uint32_t group = 3, columns = 32;
    Duplicate(Ub(0), 1.0f, group * columns);
    Order<V_MTE3>();
    const uint32_t groups = kBroken ? rows / group : DivCeil(rows, group);
    for (uint32_t i = 0; i < groups; ++i) {
        const uint32_t now = rows - i * group < group ? rows - i * group : group;
        DataCopy(m.z[i * group * columns], Ub(0), now * columns); // here
    }
}

// Eight tiles over three blocks: two each, and two that nobody takes.
OUTPUT_DEFECT(tiles_that_no_block_takes, "unwritten-output", 3)
{
    constexpr uint32_t tile = 96, tiles = 8;
    Duplicate(Ub(0), 1.0f, tile);
    Order<V_MTE3>();
    const uint32_t share = tiles / m.blocks;
    const uint32_t first = kBroken ? m.block * share : m.block;
    const uint32_t end = kBroken ? first + share : tiles;
    const uint32_t step = kBroken ? 1 : m.blocks;
    for (uint32_t i = first; i < end; i += step) {
        DataCopy(m.z[i * tile], Ub(0), tile); // here
    }
}

// The length of DataCopyPad is in bytes; here it is the number of floats.
OUTPUT_DEFECT(length_of_the_output_in_elements, "unwritten-output", 2)
{
    uint32_t count = 256;
    Duplicate(Ub(0), 1.0f, static_cast<int32_t>(count));
    Order<V_MTE3>();
    const uint32_t bytes = kBroken ? count : count * static_cast<uint32_t>(sizeof(float));
    DataCopyPad(m.MyZ(), Ub(0), DataCopyExtParams(1, bytes, 0, 0, 0)); // here
}

// Only the first tile of the output is cleared before all of it is added to.
OUTPUT_DEFECT(added_beyond_what_was_cleared, "uninitialised-read?", 1)
{
    const uint32_t cleared = kBroken ? 64 : 256;
    Duplicate(Ub(0), 0.0f, 256);
    Duplicate(Ub(kOut), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), cleared);
    PipeBarrier<PIPE_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.z, Ub(kOut), 256); // here
    SetAtomicNone();
}

// Atomic addition to the workspace is never switched off: the output is added to as well.
OUTPUT_DEFECT(addition_left_on, "uninitialised-read?", 1)
{
    Duplicate(Ub(0), 0.0f, 256);
    Duplicate(Ub(kOut), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.w, Ub(0), 256);
    PipeBarrier<PIPE_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.w, Ub(kOut), 256);
    if (!kBroken) SetAtomicNone();
    DataCopy(m.z, Ub(kOut), 256); // here
    if (kBroken) SetAtomicNone();
}

// Rows moved apart in place: every repeat writes where the next one, or a later one, reads.
DEFECT(rows_moved_apart_in_place, "operand-overlap", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    const uint32_t to = kBroken ? 0 : 16384;
    Adds(Ub(to), Ub(0), 0.0f, 64, 4, UnaryRepeatParams(1, 1, 16, 8)); // here
}

// Half to float in place: the result is twice as long and overtakes its source.
DEFECT(widened_in_place, "operand-overlap", 1)
{
    DataCopy(Ub<half>(0, 512), m.x.ReinterpretCast<half>(), 512);
    Order<MTE2_V>();
    Cast(Ub<float>(kBroken ? 0 : kOut, 512), Ub<half>(0, 512), RoundMode::CAST_NONE, 512); // here
}

// A block without data still sends its tensor through the queue.
DEFECT(empty_share_computed_with, "uninitialised-read?", 2)
{
    constexpr uint32_t tile = 64;
    TPipe pipe;
    InQueue in;
    pipe.InitBuffer(in, 1, tile * 4);
    const uint32_t mine = m.block == 0 ? tile : 0;
    if (!kBroken && mine == 0) return;
    auto x = in.AllocTensor<float>();
    if (mine > 0) DataCopy(x, m.x, mine);
    in.EnQue(x);
    x = in.DeQue<float>();
    Exp(Ub(kOut), x, tile); // here
    in.FreeTensor(x);
}

// 100 elements computed, 104 copied out.
DEFECT(rounded_up_on_the_way_out, "uninitialised-read", 1)
{
    uint32_t count = 100;
    DataCopy(Ub(0), m.x, 104);
    Order<MTE2_V>();
    Muls(Ub(kOut), Ub(0), 2.0f, static_cast<int32_t>(count));
    Order<V_MTE3>();
    if (kBroken) DataCopy(m.z, Ub(kOut), AlignUp(count, 8)); // here
    else DataCopyPad(m.z, Ub(kOut), DataCopyExtParams(1, count * 4, 0, 0, 0));
}

// The result became int8, its length stayed that of halves.
DEFECT(narrowed_but_as_long_as_before, "uninitialised-read", 1)
{
    constexpr uint32_t count = 128;
    DataCopy(Ub<half>(0, count), m.x.ReinterpretCast<half>(), count);
    Order<MTE2_V>();
    Cast(Ub<int8_t>(kOut, count), Ub<half>(0, count), RoundMode::CAST_NONE, count);
    Order<V_MTE3>();
    const uint32_t bytes = count * static_cast<uint32_t>(kBroken ? sizeof(half) : sizeof(int8_t));
    DataCopyPad(m.z.ReinterpretCast<int8_t>(), Ub<int8_t>(kOut, count), DataCopyExtParams(1, bytes, 0, 0, 0)); // here
}
