// Blind corpus, second half: vector instructions, their masks, strides and operands, buffers, and arguments.
#include <defect.h>

// Offsets are written by the scalar unit into its cache, and copied from the memory behind it.
DEFECT(offsets_still_in_the_scalar_cache, "stale-cache-line", 1)
{
    auto table = m.MyW().ReinterpretCast<int32_t>();
    auto x = Ub(0), y = Ub(1024, 8);
    auto offsets = Ub<int32_t>(2048, 8);
    DataCopy(x, m.x, 256);
    for (int32_t i = 0; i < 8; ++i) {
        table.SetValue(i, i * 128);
    }
    if (!kBroken) CleanLine(table);
    PipeBarrier<PIPE_ALL>();
    DataCopy(offsets, table, 8); // here
    Order<MTE2_V>();
    Gather(y, x, offsets.ReinterpretCast<uint32_t>(), 0, 8);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 8);
}

// The tail is stored by the address of the copy in: over the input.
DEFECT(tail_stored_over_the_input, "input-overwritten?", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Exp(y, x, 64);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        auto to = kBroken && tile == 3 ? m.x : m.MyZ();
        DataCopy(to[tile * 64], y, 64); // here
        out.FreeTensor(y);
    }
}

// Halves are widened into a buffer that is as large as theirs.
DEFECT(widened_into_half_the_room, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 1, 128 * sizeof(half));
    pipe.InitBuffer(out, 1, 128 * sizeof(float));
    pipe.InitBuffer(room, 128 * (kBroken ? sizeof(half) : sizeof(float)));
    for (uint32_t tile = 0; tile < 2; ++tile) {
        auto x = in.AllocTensor<half>();
        DataCopy(x, m.x.ReinterpretCast<half>()[tile * 128], 128);
        in.EnQue(x);
        x = in.DeQue<half>();
        auto wide = room.Get<float>();
        Cast(wide, x, RoundMode::CAST_NONE, 128); // here
        in.FreeTensor(x);
        auto y = out.AllocTensor<float>();
        Exp(y, wide, 128);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[tile * 128], y, 128);
        out.FreeTensor(y);
    }
}

// Rows of 40 bytes take 64 each in the buffer; its size is counted without the padding.
DEFECT(room_for_rows_without_their_padding, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    OutQueue out;
    InQueue in;
    pipe.InitBuffer(out, 1, 64);
    pipe.InitBuffer(in, 1, 16 * (kBroken ? 40 : 64));
    auto x = in.AllocTensor<float>();
    DataCopyPad(x, m.x, DataCopyExtParams(16, 40, 88, 0, 0), DataCopyPadExtParams<float>(true, 0, 6, 0.0f)); // here
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = out.AllocTensor<float>();
    WholeReduceSum(y, x, 10, 16, 1, 1, 2);
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopyPad(m.MyZ(), y, DataCopyExtParams(1, 64, 0, 0, 0));
    out.FreeTensor(y);
}

// The count is rounded up to whole repeats; the buffer of the queue ends before, and the next one begins.
DEFECT(rounded_up_past_the_queue_buffer, "out-of-bounds-ub?", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> zeros;
    OutQueue out;
    pipe.InitBuffer(in, 1, 96 * sizeof(float));
    pipe.InitBuffer(zeros, 256);
    pipe.InitBuffer(out, 1, 512);
    Duplicate(zeros.Get<float>(), 0.0f, 64);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 96);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = out.AllocTensor<float>();
    Muls(y, x, 2.0f, kBroken ? 128 : 96); // here
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(m.MyZ(), y, 96);
    out.FreeTensor(y);
}

// Twelve scales are spread to a block each, by eight at a time: sixteen blocks are written.
DEFECT(spread_by_eight_into_room_for_twelve, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, scales, spread;
    pipe.InitBuffer(data, 12 * 32);
    pipe.InitBuffer(scales, 64);
    pipe.InitBuffer(spread, (kBroken ? 12 : 16) * 32);
    auto x = data.Get<float>(), scale = scales.Get<float>(), wide = spread.Get<float>();
    DataCopy(x, m.x, 96);
    DataCopy(scale, m.y, 16);
    Order<MTE2_V>();
    Brcb(wide, scale, 2, BrcbRepeatParams(1, 8)); // here
    Mul(x, x, wide, 8, 12, BinaryRepeatParams(1, 1, 1, 1, 1, 1));
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 96);
}

// The second operand lies behind the first in one buffer, by an offset that is counted in bytes.
MISSED(offset_of_the_second_half_in_bytes, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 2 * 256 * sizeof(float));
    auto x = room.Get<float>();
    auto y = x[kBroken ? 256 * sizeof(float) : 256];
    DataCopy(x, m.x, 256);
    DataCopy(y, m.y, 256); // here
    Order<MTE2_V>();
    Add(x, x, y, 256);
    Muls(x, x, 0.5f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// The left neighbour of every number, of the first as well.
DEFECT(left_neighbour_of_the_first, "out-of-bounds-ub", 1)
{
    auto x = Ub(0), left = Ub(2048);
    auto offset = Ub<int32_t>(1024);
    DataCopy(x, m.x, 256);
    CreateVecIndex(offset, 0, 256);
    Muls(offset, offset, 4, 256);
    Adds(offset, offset, -4, 256);
    if (!kBroken) Maxs(offset, offset, 0, 256);
    Order<MTE2_V>();
    Gather(left, x, offset.ReinterpretCast<uint32_t>(), 0, 256); // here
    Sub(left, x, left, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), left, 256);
}

// The work tensor of ReduceMax has room for one repeat's results, of sixty-four.
DEFECT(work_tensor_for_one_repeat, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 1, 16384);
    pipe.InitBuffer(out, 1, 32);
    pipe.InitBuffer(room, kBroken ? 32 : 2048);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 4096);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto most = out.AllocTensor<float>();
    ReduceMax(most, x, room.Get<float>(), 4096); // here
    in.FreeTensor(x);
    out.EnQue(most);
    most = out.DeQue<float>();
    DataCopyPad(m.MyZ(), most, DataCopyExtParams(1, 4, 0, 0, 0));
    out.FreeTensor(most);
}

// The scratch buffer is set up in every round, and none of them is given back.
DEFECT(scratch_set_up_in_every_round, "ub-overflow", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> room, scratch;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(room, 1024);
    auto sum = room.Get<float>();
    Duplicate(sum, 0.0f, 256);
    for (uint32_t tile = 0; tile < 8; ++tile) {
        if (kBroken || tile == 0) pipe.InitBuffer(scratch, 32 * 1024); // here
        auto square = scratch.Get<float>(256);
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 256], 256);
        in.EnQue(x);
        x = in.DeQue<float>();
        Mul(square, x, x, 256);
        in.FreeTensor(x);
        Add(sum, sum, square, 256);
    }
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 256);
}

// Rows of twelve numbers are padded to sixteen in the buffer, and walked through by twelve.
DEFECT(padded_rows_walked_by_their_length, "misaligned", 1)
{
    auto x = Ub(0);
    DataCopyPad(x, m.x, DataCopyExtParams(16, 48, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
    Order<MTE2_V>();
    const uint32_t pitch = kBroken ? 12 : 16;
    for (uint32_t row = 0; row < 16; ++row) {
        auto line = x[row * pitch];
        Exp(line, line, 12); // here
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// The bits of 64 comparisons are eight bytes, and the next row's follow at once.
DEFECT(bits_of_rows_packed, "misaligned", 1)
{
    auto x = Ub(0), y = Ub(1024);
    auto bits = Ub<uint8_t>(2048, 128);
    const uint32_t pitch = kBroken ? 8 : 32;
    Duplicate(bits.ReinterpretCast<uint16_t>(), static_cast<uint16_t>(0), 64);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    for (uint32_t row = 0; row < 4; ++row) {
        CompareScalar(bits[row * pitch], x[row * 64], 0.5f, CMPMODE::GT, 64); // here
        Select(y[row * 64], bits[row * pitch], x[row * 64], 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 256);
}

// Offsets for a reversal of halves count elements, where Gather takes bytes.
DEFECT(reversed_by_offsets_in_elements, "misaligned", 1)
{
    auto x = Ub<half>(0), y = Ub<half>(2048);
    auto offset = Ub<int32_t>(1024);
    DataCopy(x, m.x.ReinterpretCast<half>(), 256);
    ArithProgression<int32_t>(offset, kBroken ? 255 : 510, kBroken ? -1 : -2, 256);
    Order<MTE2_V>();
    Gather(y, x, offset.ReinterpretCast<uint32_t>(), 0, 256); // here
    Adds(y, y, static_cast<half>(1.0f), 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ().ReinterpretCast<half>(), y, 256);
}

// A delay line is moved on by one block within itself.
DEFECT(moved_on_within_itself, "operand-overlap", 1)
{
    auto x = Ub(0, 264), y = Ub(2048, 264);
    DataCopy(x, m.x, 256);
    Duplicate(y, 0.0f, 8);
    Order<MTE2_V>();
    auto line = kBroken ? x : y;
    Adds(line[8], x, 0.0f, 256); // here
    Muls(line, line, 0.5f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), line, 256);
}

// Rows of 32 are spread to a pitch of 64 in place: the second row falls on the third before it is read.
DEFECT(rows_spread_in_place, "operand-overlap", 1)
{
    auto x = Ub(0), y = Ub(1024);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    auto wide = kBroken ? x : y;
    if (!kBroken) Duplicate(wide, 0.0f, 256);
    Adds(wide, x, 1.0f, 32, 4, UnaryRepeatParams(1, 1, 8, 4)); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), wide, 256);
}

// The largest of each of 256 rows in one call, whose repeats end at 255.
DEFECT(two_hundred_fifty_six_rows_at_once, "repeat-overflow", 1)
{
    auto x = Ub(0, 4096), y = Ub(16384);
    DataCopy(x, m.x, 4096);
    Order<MTE2_V>();
    const int32_t rows = kBroken ? 256 : 128;
    for (int32_t first = 0; first < 256; first += rows) {
        WholeReduceMax(y[first], x[first * 16], 16, rows, 1, 1, 2, ReduceOrder::ORDER_ONLY_VALUE); // here
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 256);
}

// The first half of a tile is compared, and the whole of it selected from.
DEFECT(selected_by_half_of_a_mask, "uninitialised-read?", 1)
{
    TPipe pipe;
    InQueue ofX, ofY;
    OutQueue out;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(ofX, 1, 1024);
    pipe.InitBuffer(ofY, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    pipe.InitBuffer(room, 32);
    auto x = ofX.AllocTensor<float>(), y = ofY.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    DataCopy(y, m.y, 256);
    ofX.EnQue(x);
    ofY.EnQue(y);
    x = ofX.DeQue<float>();
    y = ofY.DeQue<float>();
    auto bits = room.Get<uint8_t>();
    auto z = out.AllocTensor<float>();
    Compare(bits, x, y, CMPMODE::LT, kBroken ? 128 : 256);
    Select(z, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256); // here
    ofX.FreeTensor(x);
    ofY.FreeTensor(y);
    out.EnQue(z);
    z = out.DeQue<float>();
    DataCopy(m.MyZ(), z, 256);
    out.FreeTensor(z);
}

// Counter mode with a count of 200 is left on for a call that means four full repeats.
DEFECT(counter_mode_left_on, "uninitialised-read", 1)
{
    auto x = Ub(0), y = Ub(1024), z = Ub(2048);
    const UnaryRepeatParams steps(1, 1, 8, 8);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(200);
    Adds<float, false>(y, x, 1.0f, MASK_PLACEHOLDER, 1, steps);
    if (!kBroken) SetMaskNorm();
    if (!kBroken) ResetMask();
    Muls<float, false>(z, x, 2.0f, MASK_PLACEHOLDER, 4, steps);
    SetMaskNorm();
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.MyW(), y, 200);
    DataCopy(m.MyZ(), z, 256); // here
}

// The accumulator is set up for the first tile; the second gets the queue's other buffer.
DEFECT(set_up_in_one_of_two_buffers, "uninitialised-read?", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        if (!kBroken || tile == 0) Duplicate(y, 1.0f, 64);
        MulAddDst(y, x, x, 64); // here
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[tile * 64], y, 64);
        out.FreeTensor(y);
    }
}

// Forty numbers are sorted as sixty-four, without anything small behind them.
DEFECT(sorted_with_what_lies_behind, "uninitialised-read?", 1)
{
    auto x = Ub(0, 64), sorted = Ub(2048, 128);
    auto index = Ub<int32_t>(1024, 64);
    if (!kBroken) Duplicate(x, -1e30f, 64);
    CreateVecIndex(index, 0, 64);
    Order<V_MTE2>();
    DataCopy(x, m.x, 40);
    Order<MTE2_V>();
    Sort32(sorted, x, index.ReinterpretCast<uint32_t>(), 2); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sorted, 128);
}

// Twelve row sums are added up as sixteen, because twelve is no multiple of a block.
DEFECT(sums_added_up_to_the_next_block, "uninitialised-read?", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> partial, all;
    pipe.InitBuffer(in, 1, 12 * 256);
    pipe.InitBuffer(partial, 64);
    pipe.InitBuffer(all, 32);
    auto sums = partial.Get<float>(), total = all.Get<float>();
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 12 * 64);
    in.EnQue(x);
    x = in.DeQue<float>();
    WholeReduceSum(sums, x, 64, 12, 1, 1, 8);
    in.FreeTensor(x);
    const int32_t count = kBroken ? static_cast<int32_t>(AlignUp(12, 8)) : 12;
    WholeReduceSum(total, sums, count, 1, 1, 1, 8); // here
    Order<V_MTE3>(7);
    DataCopyPad(m.MyZ(), total, DataCopyExtParams(1, 4, 0, 0, 0));
}

// The length of a row is passed in elements where bytes are meant, so that a quarter of the output is stored.
OUTPUT_DEFECT(length_of_a_row_in_elements, "unwritten-output", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = out.AllocTensor<float>();
    Sqrt(y, x, 256);
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    const uint32_t bytes = kBroken ? 64 : 64 * sizeof(float);
    DataCopyPad(m.MyZ(), y, DataCopyExtParams(4, bytes, 0, 0, 0)); // here
    out.FreeTensor(y);
}

// Rows of 50 are padded to 64 by fourteen numbers, which are more than a block.
DEFECT(padded_by_more_than_a_block, "bad-argument", 1)
{
    auto x = Ub(0), sums = Ub(1024, 8);
    const DataCopyExtParams rows(4, 200, 0, kBroken ? 0 : 1, 0);
    const DataCopyPadExtParams<float> padding(true, 0, kBroken ? 14 : 6, 0.0f);
    DataCopyPad(x, m.x, rows, padding); // here
    Order<MTE2_V>();
    WholeReduceSum(sums, x, 50, 4, 1, 1, 8);
    Order<V_MTE3>();
    DataCopyPad(m.MyZ(), sums, DataCopyExtParams(1, 16, 0, 0, 0));
}

// Two lists are merged: the parameter takes a bit for each of them, not their number.
DEFECT(number_of_lists_for_their_bits, "bad-argument", 1)
{
    auto x = Ub(0, 64), sorted = Ub(2048, 128), merged = Ub(4096, 128);
    auto index = Ub<int32_t>(1024, 64);
    DataCopy(x, m.x, 64);
    CreateVecIndex(index, 0, 64);
    Order<MTE2_V>();
    Sort32(sorted, x, index.ReinterpretCast<uint32_t>(), 2);
    const uint16_t lengths[4] = {32, 32, 0, 0};
    const uint16_t lists = kBroken ? 2 : 3;
    const MrgSortSrcList<float> from(sorted, sorted[64], sorted[64], sorted[64]);
    MrgSort(merged, from, MrgSort4Info(lengths, false, lists, 1)); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), merged, 128);
}

// Widening needs no rounding, and there is no instruction that would round.
DEFECT(widened_with_rounding, "bad-argument", 1)
{
    auto x = Ub<half>(0);
    auto y = Ub(1024);
    DataCopy(x, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    Cast(y, x, kBroken ? RoundMode::CAST_ROUND : RoundMode::CAST_NONE, 256); // here
    Ln(y, y, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 256);
}
