// Kernels made faster by hand or by machine: tiles, strides, arguments and shares that are no longer right.
#include <defect.h>

// Each block of eight plus the one before it, now without a second buffer.
DEFECT(shifted_sum_in_place, "operand-overlap", 1)
{
    auto x = Ub(0, 264), out = Ub(2048);
    DataCopy(x, m.x, 264);
    Order<MTE2_V>();
    auto to = kBroken ? x[8] : out;
    Add(to, x[8], x, 64, 4, BinaryRepeatParams(1, 1, 1, 8, 8, 8)); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), to, 256);
}

// Halves are widened to floats over themselves.
DEFECT(widened_over_itself, "operand-overlap", 1)
{
    auto wide = Ub(0);
    auto narrow = Ub<half>(kBroken ? 0 : 4096);
    DataCopy(narrow, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    Cast(wide, narrow, RoundMode::CAST_NONE, 256); // here
    Muls(wide, wide, 2.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), wide, 256);
}

// Each round fetches the tile of the next one, the last round too.
DEFECT(prefetches_past_the_last_tile, "out-of-bounds-gm", 1)
{
    TPipe pipe;
    InQueue2 in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 2, 1024);
    pipe.InitBuffer(room, 1024);
    auto sum = room.Get<float>();
    Duplicate(sum, 0.0f, 256);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    for (uint32_t tile = 0; tile < 16; ++tile) {
        if (kBroken || tile + 1 < 16) {
            auto next = in.AllocTensor<float>();
            DataCopy(next, m.x[(tile + 1) * 256], 256); // here
            in.EnQue(next);
        }
        x = in.DeQue<float>();
        Add(sum, sum, x, 256);
        in.FreeTensor(x);
    }
    if (kBroken) {
        x = in.DeQue<float>();
        in.FreeTensor(x);
    }
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 256);
}

// The tail is stored as if it were a whole tile.
DEFECT(tail_stored_as_a_whole_tile, "out-of-bounds-gm", 1)
{
    auto x = Ub(0, 280);
    DataCopy(x, m.x, 280);
    Order<MTE2_V>();
    Sqrt(x, x, 280);
    Order<V_MTE3>();
    for (uint32_t at = 0; at < 256; at += 56) {
        const uint32_t count = kBroken || at + 56 <= 256 ? 56 : 256 - at;
        DataCopy(m.MyZ()[at], x[at], count); // here
    }
}

// A loop of row copies has become one with a stride: the distance of rows where the gap between them belongs.
DEFECT(distance_taken_for_a_gap, "out-of-bounds-gm", 1)
{
    auto x = Ub(0, 1024);
    DataCopy(x, m.x, DataCopyParams(16, 8, kBroken ? 32 : 24, 0)); // here
    Order<MTE2_V>();
    Add(x, x, x[512], 512);
    Add(x, x, x[256], 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// The gap in local memory counts blocks, not bytes as the one in global memory.
DEFECT(local_gap_in_bytes, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> rows, factors;
    pipe.InitBuffer(rows, 1024);
    pipe.InitBuffer(factors, 32768);
    auto x = rows.Get<float>();
    auto factor = factors.Get<float>();
    Duplicate(factor, 0.5f, 8);
    DataCopyPad(x, m.x, DataCopyExtParams(16, 32, 224, kBroken ? 32 : 1, 0), DataCopyPadExtParams<float>()); // here
    Order<MTE2_V>();
    Mul(x, x, factor, 8, 16, BinaryRepeatParams(1, 1, 1, 2, 2, 0));
    Order<V_MTE3>();
    DataCopyPad(m.MyZ(), x, DataCopyExtParams(16, 32, 1, 0, 0));
}

// Larger tiles in the buffer of the old size.
DEFECT(tile_outgrows_its_buffer, "out-of-bounds-ub", 1)
{
    constexpr uint32_t tile = kBroken ? 320 : 256;
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> ones, room;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(ones, 1024);
    pipe.InitBuffer(room, 1280);
    auto start = ones.Get<float>(), sum = room.Get<float>();
    Duplicate(start, 1.0f, 256);
    Duplicate(sum, 0.0f, 320);
    Add(sum, sum, start, 256);
    Order<V_MTE2>(7);
    for (uint32_t at = 0; at < 1280; at += tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[at], tile); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        Add(sum, sum, x, tile);
        in.FreeTensor(x);
    }
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 256);
}

// Double buffers for the output as well: more than there is room for.
DEFECT(doubled_beyond_the_room, "ub-overflow", 1)
{
    TPipe pipe;
    InQueue a, b;
    OutQueue c;
    pipe.InitBuffer(a, 2, 32768);
    pipe.InitBuffer(b, 2, 32768);
    pipe.InitBuffer(c, kBroken ? 2 : 1, 40960); // here
    for (uint32_t tile = 0; tile < 2; ++tile) {
        auto x = a.AllocTensor<float>(), y = b.AllocTensor<float>();
        DataCopy(x, m.x[tile * 128], 128);
        DataCopy(y, m.y[tile * 128], 128);
        a.EnQue(x);
        b.EnQue(y);
        x = a.DeQue<float>();
        y = b.DeQue<float>();
        auto out = c.AllocTensor<float>();
        Mul(out, x, y, 128);
        a.FreeTensor(x);
        b.FreeTensor(y);
        c.EnQue(out);
        out = c.DeQue<float>();
        DataCopy(m.MyZ()[tile * 128], out, 128);
        c.FreeTensor(out);
    }
}

// Rows of a hundred floats fetched in one dense copy: the second one begins within a block.
DEFECT(rows_without_their_padding, "misaligned", 1)
{
    const uint32_t pitch = kBroken ? 100 : 104;
    auto x = Ub(0, 416);
    if (kBroken) {
        DataCopy(x, m.x, 400);
    } else {
        DataCopyPad(x, m.x, DataCopyExtParams(4, 400, 0, 0, 0), DataCopyPadExtParams<float>());
    }
    Order<MTE2_V>();
    for (uint32_t row = 0; row < 2; ++row) {
        Muls(x[row * pitch], x[row * pitch], 1.0f + row, 100); // here
    }
    Order<V_MTE3>();
    DataCopyPad(m.MyZ(), x, DataCopyExtParams(2, 400, 0, 0, 0));
}

// The plain copy in place of the one with padding, for a length that is not whole blocks.
DEFECT(plain_copy_of_a_ragged_row, "misaligned", 1)
{
    auto x = Ub(0);
    DataCopyPad(x, m.x[6], DataCopyExtParams(1, 1000, 0, 0, 0), DataCopyPadExtParams<float>());
    Order<MTE2_V>();
    Abs(x, x, 250);
    Order<V_MTE3>();
    if (kBroken) {
        DataCopy(m.MyZ(), x, 250); // here
    } else {
        DataCopyPad(m.MyZ(), x, DataCopyExtParams(1, 1000, 0, 0, 0));
    }
}

// All short rows in one reduction: more repeats than an instruction counts.
DEFECT(short_rows_reduced_at_once, "repeat-overflow", 1)
{
    const int32_t rows = kBroken ? 512 : 128;
    auto x = Ub(0, 4096), sums = Ub(16384, 512);
    DataCopy(x, m.x, 4096);
    Order<MTE2_V>();
    for (int32_t row = 0; row < 512; row += rows) {
        WholeReduceSum(sums[row], x[row * 8], 8, rows, 1, 1, 1); // here
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sums, 256);
}

// 256 repeats are none: the parameter has eight bits.
DEFECT(repeats_wrap_to_none, "uninitialised-read", 1)
{
    const uint32_t lanes = kBroken ? 8 : 64, step = lanes / 8;
    const uint32_t repeats = static_cast<uint32_t>(m.x.GetSize()) / 2 / lanes;
    auto x = Ub(0, 2048), out = Ub(8192, 2048);
    DataCopy(x, m.x, 2048);
    Order<MTE2_V>();
    Muls(out, x, 2.0f, lanes, repeats, UnaryRepeatParams(1, 1, step, step));
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 256); // here
}

// The sum is now computed in floats, with the mask and the repeats of halves.
DEFECT(mask_of_halves_for_floats, "bad-argument", 1)
{
    auto narrow = Ub<half>(0);
    auto wide = Ub(1024);
    DataCopy(narrow, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    Cast(wide, narrow, RoundMode::CAST_NONE, 256);
    Adds(wide, wide, 1.0f, kBroken ? 128 : 64, kBroken ? 2 : 4, UnaryRepeatParams()); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), wide, 256);
}

// The conversion to integers without a rounding mode, as the one back has it.
DEFECT(rounding_left_out, "bad-argument", 1)
{
    auto x = Ub(0), whole = Ub(2048);
    auto number = Ub<int32_t>(1024);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Cast(number, x, kBroken ? RoundMode::CAST_NONE : RoundMode::CAST_FLOOR, 256); // here
    Cast(whole, number, RoundMode::CAST_NONE, 256);
    Sub(x, x, whole, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// The comparison behind the conversion to integers, which can be compared for being equal only.
DEFECT(integers_compared_by_order, "unsupported", 1)
{
    auto x = Ub(0), out = Ub(4096);
    auto number = Ub<int32_t>(1024), limit = Ub<int32_t>(2048);
    auto bits = Ub<uint8_t>(8192, 32);
    Duplicate(limit, 3, 256);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Cast(number, x, RoundMode::CAST_RINT, 256);
    Compare(bits, number, limit, kBroken ? CMPMODE::LT : CMPMODE::EQ, 256); // here
    Select(out, bits, x, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 256);
}

// Halves change places by way of global memory, and an input that is not needed any more is taken for the workspace.
DEFECT(input_taken_for_workspace, "input-overwritten?", 1)
{
    auto x = Ub(0), back = Ub(2048);
    auto room = kBroken ? m.y[1024] : m.MyW();
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Exp(x, x, 256);
    Order<V_MTE3>();
    DataCopy(room, x, 256); // here
    Order<MTE3_MTE2>();
    DataCopy(back, room[128], 128);
    DataCopy(back[128], room, 128);
    Order<MTE2_V>();
    Muls(back, back, 0.5f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), back, 256);
}

// A table made by the scalar unit is fetched from memory while it is still in the data cache.
DEFECT(table_still_in_the_data_cache, "stale-cache-line", 1)
{
    auto table = m.MyW();
    auto x = Ub(0, 16), factors = Ub(512, 16);
    for (uint32_t i = 0; i < 16; ++i) table.SetValue(i, 1.0f + i);
    if (!kBroken) CleanLine(table);
    PipeBarrier<PIPE_ALL>();
    DataCopy(factors, table, 16); // here
    DataCopy(x, m.x, 16);
    Order<MTE2_V>();
    Mul(x, x, factors, 16);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 16);
}

// The neighbour replaces numbers that this core has read before; the line is not dropped before it is read again.
DEFECT(line_replaced_by_the_neighbour, "stale-cache-line", 3)
{
    auto mine = m.w[m.block * 16], next = m.w[(m.block + 1) % m.blocks * 16];
    auto x = Ub(0, 64);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 64);
    Order<V_MTE3>();
    DataCopy(mine, x, 16);
    PipeBarrier<PIPE_ALL>();
    const float before = mine.GetValue(0);
    SyncAll();
    DataCopy(next, x[16], 16);
    SyncAll();
    if (!kBroken) CleanLine(mine);
    const float after = mine.GetValue(0); // here
    Adds(x, x, before + after, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Cores go round as often as they have rows, and meet in every round.
DEFECT(rounds_as_many_as_own_rows, "deadlock", 2)
{
    const uint32_t own = (5 - m.block + m.blocks - 1) / m.blocks;
    const uint32_t rounds = kBroken ? own : 3;
    auto x = Ub(0, 64);
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t row = round * m.blocks + m.block;
        if (row < 5) {
            DataCopy(x, m.x[row * 64], 64);
            Order<MTE2_V>();
            Muls(x, x, 2.0f, 64);
            Order<V_MTE3>();
            DataCopy(m.z[row * 64], x, 64);
        }
        SyncAll(); // here
    }
}

// More cores than shares divide by: the last one fetches a whole share.
DEFECT(last_share_not_cut, "out-of-bounds-gm", 7)
{
    const uint32_t begin = m.block * 592, left = Memory::kInput - begin;
    const uint32_t count = kBroken || left > 592 ? 592 : left;
    auto x = Ub(0, 592);
    DataCopy(x, m.x[begin], count); // here
    Order<MTE2_V>();
    Relu(x, x, count);
    Add(x, x, x[256], 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// Workspace for half of the cores.
DEFECT(workspace_for_every_other_core, "cross-core-race", 4)
{
    auto room = m.w[(kBroken ? m.block / 2 : m.block) * 256];
    auto x = Ub(0), back = Ub(2048);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    Exp(x, x, 256);
    Order<V_MTE3>();
    DataCopy(room, x, 256); // here
    Order<MTE3_MTE2>();
    DataCopy(back, room[128], 128);
    Order<MTE2_V>();
    Add(back, back, x, 128);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), back, 128);
}

// The other core is told in the first round only, and waited for in all.
DEFECT(told_in_the_first_round_only, "deadlock", 2)
{
    auto x = Ub(0, 64), other = Ub(512, 64), out = Ub(1024, 192);
    for (uint32_t round = 0; round < 3; ++round) {
        DataCopy(x, m.x[(round * 2 + m.block) * 64], 64);
        Order<MTE2_V>();
        Muls(x, x, 2.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.w[round * 128 + m.block * 64], x, 64);
        if (!kBroken || round == 0) CrossCoreSetFlag<0, PIPE_MTE3>(4);
        CrossCoreWaitFlag(4); // here
        DataCopy(other, m.w[round * 128 + (1 - m.block) * 64], 64);
        Order<MTE2_V>();
        Add(out[round * 64], x, other, 64);
        Order<MTE3_V>();
        Order<V_MTE2>();
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 192);
}

// Three cores run, and the shares are those of four.
OUTPUT_DEFECT(shares_of_one_core_more, "unwritten-output", 3)
{
    const uint32_t rows = 12 / (kBroken ? m.blocks + 1 : m.blocks);
    const uint32_t first = m.block * rows;
    auto x = Ub(0);
    DataCopy(x, m.x[first * 64], rows * 64);
    Order<MTE2_V>();
    Muls(x, x, 3.0f, rows * 64);
    Order<V_MTE3>();
    DataCopy(m.z[first * 64], x, rows * 64); // here
}

// The last tile of a core is cut at the end of the output, not at the end of the core's share.
OUTPUT_DEFECT(tail_cut_at_the_end_of_all, "cross-core-race", 4)
{
    const uint32_t begin = m.block * 256, end = kBroken ? m.blocks * 256 : begin + 256;
    auto x = Ub(0, 288);
    DataCopy(x, m.x[begin], 288);
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 288);
    Order<V_MTE3>();
    for (uint32_t at = 0; at < 256; at += 96) {
        const uint32_t count = begin + at + 96 <= end ? 96 : end - begin - at;
        DataCopy(m.z[begin + at], x[at], count); // here
    }
}

// The output is cleared as a whole, and the numbers are stored without waiting for that.
MISSED(stored_while_it_is_cleared, "race", 1)
{
    auto zero = Ub(0), x = Ub(1024);
    Duplicate(zero, 0.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), zero, 256);
    DataCopyPad(x, m.x, DataCopyExtParams(1, 808, 0, 0, 0), DataCopyPadExtParams<float>());
    Order<MTE2_V>();
    Exp(x, x, 202);
    Order<V_MTE3>();
    if (!kBroken) PipeBarrier<PIPE_MTE3>();
    DataCopyPad(m.MyZ(), x, DataCopyExtParams(1, 808, 0, 0, 0)); // here
}
