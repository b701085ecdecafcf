// Pieces of whole operators: rows, tails, tables, halos and temporary memory, as kernels of libraries handle them.
#include <defect.h>

// A row of 100 numbers in a tile of 128, summed as if the tile were full.
DEFECT(tail_summed_as_a_whole_tile, "uninitialised-read?", 1)
{
    TPipe pipe;
    InQueue queue;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(queue, 1, 512);
    pipe.InitBuffer(work, 512);
    auto row = queue.AllocTensor<float>();
    DataCopyPad(row, m.x, DataCopyExtParams(1, 400, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
    queue.EnQue(row);
    row = queue.DeQue<float>();
    auto sum = work.Get<float>();
    ReduceSum(sum, row, sum[64], kBroken ? 128 : 104); // here
    queue.FreeTensor(row);
}

// Rows of eight numbers, one repeat a row, and more rows than a repeat count holds.
DEFECT(row_count_narrowed_to_eight_bits, "uninitialised-read", 1)
{
    const uint32_t rows = 260;
    auto in = Ub(0, rows * 8), out = Ub(16384, rows * 8);
    DataCopy(in, m.x, rows * 8);
    Order<MTE2_V>();
    Adds(out, in, 1.0f, 8, static_cast<uint8_t>(rows), UnaryRepeatParams(1, 1, 1, 1));
    if (!kBroken) Adds(out[256 * 8], in[256 * 8], 1.0f, 8, 4, UnaryRepeatParams(1, 1, 1, 1));
    if (!kBroken) Adds(out[4 * 8], in[4 * 8], 1.0f, 8, 252, UnaryRepeatParams(1, 1, 1, 1));
    Order<V_MTE3>();
    DataCopy(m.w, out[(rows - 32) * 8], 256); // here
}

// A stencil whose first row has no row above it.
DEFECT(halo_above_the_first_row, "out-of-bounds-gm", 1)
{
    const uint32_t columns = 64;
    auto rows = Ub(0, 3 * columns);
    for (uint32_t row = kBroken ? 0 : 1; row < 3; ++row) {
        DataCopy(rows, m.x[(row - 1) * columns], 3 * columns); // here
        Order<MTE2_V>();
        Add(rows, rows, rows[columns], columns);
        Add(rows, rows, rows[2 * columns], columns);
        Order<HardEvent::V_MTE2>();
    }
}

// A table looked up by positions of elements where bytes are meant.
DEFECT(gathered_by_elements, "misaligned", 1)
{
    auto table = Ub(0, 64), out = Ub(1024, 64);
    auto at = Ub<int32_t>(2048, 64);
    DataCopy(table, m.x, 64);
    Order<MTE2_V>();
    CreateVecIndex(at, 0, 64u);
    PipeBarrier<PIPE_V>();
    if (!kBroken) Muls(at, at, 4, 64);
    PipeBarrier<PIPE_V>();
    Gather(out, table, at.ReinterpretCast<uint32_t>(), 0, 64u); // here
    Order<V_MTE3>();
    DataCopy(m.w, out, 64);
}

// The same with offsets that begin at one, so that the last lies behind the table, in the buffer of the offsets.
DEFECT(gathered_from_one_on, "out-of-bounds-ub?", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> tableBuf, atBuf, outBuf;
    pipe.InitBuffer(tableBuf, 256);
    pipe.InitBuffer(atBuf, 256);
    pipe.InitBuffer(outBuf, 256);
    auto table = tableBuf.Get<float>(), out = outBuf.Get<float>();
    auto at = atBuf.Get<int32_t>();
    DataCopy(table, m.x, 64);
    Order<MTE2_V>();
    CreateVecIndex(at, kBroken ? 1 : 0, 64u);
    PipeBarrier<PIPE_V>();
    Muls(at, at, 4, 64);
    PipeBarrier<PIPE_V>();
    Gather(out, table, at.ReinterpretCast<uint32_t>(), 0, 64u); // here
    Order<V_MTE3>();
    DataCopy(m.w, out, 64);
}

// Halves widened where they lie.
DEFECT(widened_in_place, "operand-overlap", 1)
{
    auto wide = Ub(0, 128);
    auto narrow = Ub<half>(kBroken ? 0 : 1024, 128);
    DataCopy(narrow, m.x.ReinterpretCast<half>(), 128);
    Order<MTE2_V>();
    Cast(wide, narrow, RoundMode::CAST_NONE, 128u); // here
    Order<V_MTE3>();
    DataCopy(m.w, wide, 128);
}

// Sixteen rows of twelve halves turned: rows of 24 bytes begin where no instruction reads.
DEFECT(turned_rows_of_twelve, "misaligned", 1)
{
    const uint32_t pitch = kBroken ? 12 : 16;
    auto in = Ub<half>(0, 256), out = Ub<half>(1024, 256);
    DataCopy(in, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    LocalTensor<half> from[16], to[16];
    for (uint32_t row = 0; row < 16; ++row) {
        from[row] = in[row * pitch];
        to[row] = out[row * 16];
    }
    TransDataTo5HD<half>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0)); // here
    Order<V_MTE3>();
    DataCopy(m.w, out.ReinterpretCast<float>(), 128);
}

// Rows of 128 bytes out of a tile whose rows are longer, with the tile's length.
DEFECT(rows_out_with_the_pitch_of_the_tile, "out-of-bounds-gm", 1)
{
    auto tile = Ub<int8_t>(0, 8 * 160);
    Duplicate(tile.ReinterpretCast<int16_t>(), int16_t(7), 8 * 80);
    Order<V_MTE3>();
    const uint32_t length = kBroken ? 160 : 128;
    const uint32_t sourceGap = kBroken ? 0 : 1;
    for (uint32_t row = 0; row < 8; row += 4) {
        DataCopyPad(m.z.ReinterpretCast<int8_t>()[row * 128], tile[row * 160], // here
                    DataCopyExtParams(4, length, sourceGap, 0, 0));
    }
}

// Masked by a comparison of fewer elements than are selected.
DEFECT(selected_by_more_bits_than_compared, "uninitialised-read?", 1)
{
    auto a = Ub(0), b = Ub(1024), out = Ub(2048);
    auto bits = Ub<uint8_t>(4096, 32);
    DataCopy(a, m.x, 256);
    DataCopy(b, m.y, 256);
    Order<MTE2_V>();
    Compare(bits, a, b, CMPMODE::GT, kBroken ? 192u : 256u);
    PipeBarrier<PIPE_V>();
    Select(out, bits, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256u); // here
    Order<V_MTE3>();
    DataCopy(m.w, out, 256);
}

// The temporary memory of a maximum, one block long whatever is compared.
DEFECT(temporary_memory_of_one_block, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, work, result;
    pipe.InitBuffer(data, 8192);
    pipe.InitBuffer(work, kBroken ? 32 : 512);
    pipe.InitBuffer(result, 32);
    auto x = data.Get<float>();
    DataCopy(x, m.x, 2048);
    Order<MTE2_V>();
    ReduceMax(result.Get<float>(), x, work.Get<float>(), 2048); // here
}

// Sums of blocks of sums of blocks: the last step takes a whole block where half of one is filled.
DEFECT(last_fold_too_wide, "uninitialised-read?", 1)
{
    auto x = Ub(0), sums = Ub(2048, 64), result = Ub(4096, 64);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    BlockReduceSum(sums, x, 4, 64, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    BlockReduceSum(result, sums, 1, 32, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(result[32], result, kBroken ? 8 : 4, 1, 1, 1, 8); // here
}

// A factor a row spread over a block, eight rows at a time, and twelve rows.
DEFECT(twelve_rows_spread_by_eight, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> factors, spread, next;
    pipe.InitBuffer(factors, 64);
    pipe.InitBuffer(spread, kBroken ? 12 * 32 : 16 * 32);
    pipe.InitBuffer(next, 128);
    auto f = factors.Get<float>();
    Duplicate(f, 2.0f, 16);
    Duplicate(next.Get<float>(), 1.0f, 32);
    PipeBarrier<PIPE_V>();
    Brcb(spread.Get<float>(), f, 2, BrcbRepeatParams(1, 8)); // here
}

// Parts of one buffer, cut by elements where bytes are meant: the next tile is copied into the one that is worked on.
DEFECT(carved_by_elements, "race", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 512);
    auto now = room.GetWithOffset<float>(64, 0), next = room.GetWithOffset<float>(64, kBroken ? 64 : 256);
    DataCopy(now, m.x, 64);
    Order<MTE2_V>(0);
    DataCopy(next, m.x[64], 64);
    SetFlag<MTE2_V>(1);
    Muls(now, now, 2.0f, 64); // here
    WaitFlag<MTE2_V>(1);
    Muls(next, next, 2.0f, 64);
}

// Four records of eight bytes an element where the buffer has four.
DEFECT(sorted_into_half_the_room, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> keys, places, records, next;
    pipe.InitBuffer(keys, 128);
    pipe.InitBuffer(places, 128);
    pipe.InitBuffer(records, kBroken ? 128 : 256);
    pipe.InitBuffer(next, 256);
    auto k = keys.Get<float>();
    auto p = places.Get<int32_t>();
    DataCopy(k, m.x, 32);
    Duplicate(next.Get<float>(), 1.0f, 64);
    CreateVecIndex(p, 0, 32u);
    Order<MTE2_V>();
    PipeBarrier<PIPE_V>();
    Sort32(records.Get<float>(), k, p.ReinterpretCast<uint32_t>(), 1); // here
}

// Indices for the first 32 of 64 elements that are sorted.
DEFECT(sorted_with_half_the_indices, "uninitialised-read?", 1)
{
    auto keys = Ub(0, 64), records = Ub(1024, 128);
    auto places = Ub<int32_t>(4096, 64);
    DataCopy(keys, m.x, 64);
    Order<MTE2_V>();
    CreateVecIndex(places, 0, kBroken ? 32u : 64u);
    PipeBarrier<PIPE_V>();
    Sort32(records, keys, places.ReinterpretCast<uint32_t>(), 2); // here
    Order<V_MTE3>();
    DataCopy(m.w, records, 128);
}

// Quantised in two steps, the first of which needs twice the room of the second.
DEFECT(half_step_in_the_room_of_bytes, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    InQueue queue;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> halves;
    pipe.InitBuffer(queue, 1, 1024);
    pipe.InitBuffer(out, 1, 256);
    pipe.InitBuffer(halves, 512);
    auto x = queue.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    queue.EnQue(x);
    x = queue.DeQue<float>();
    auto bytes = out.AllocTensor<int8_t>();
    auto narrow = kBroken ? bytes.template ReinterpretCast<half>() : halves.Get<half>();
    Cast(narrow, x, RoundMode::CAST_RINT, 256u); // here
    PipeBarrier<PIPE_V>();
    if (!kBroken) Cast(bytes, narrow, RoundMode::CAST_RINT, 256u);
    queue.FreeTensor(x);
    out.EnQue(bytes);
    bytes = out.DeQue<int8_t>();
    DataCopy(m.w.ReinterpretCast<int8_t>(), bytes, 256);
    out.FreeTensor(bytes);
}

// Columns of padding filled from where a row ends.
DEFECT(padding_from_the_middle_of_a_block, "misaligned", 1)
{
    auto rows = Ub(0, 64);
    DataCopy(rows, m.x, 64);
    Order<MTE2_V>();
    if (kBroken) {
        Duplicate(rows[13], 0.0f, 3); // here
    } else {
        uint64_t lanes[2] = {0xE0, 0};
        Duplicate(rows[8], 0.0f, lanes, 1, 1, 8);
    }
    Order<V_MTE3>();
    DataCopy(m.w, rows, 64);
}

// A distance between rows in elements where blocks are meant.
DEFECT(pitch_in_elements, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    InQueue queue;
    TBuf<TPosition::VECCALC> next;
    pipe.InitBuffer(queue, 1, 1024);
    pipe.InitBuffer(next, 8192);
    auto rows = queue.AllocTensor<float>();
    DataCopy(rows, m.x, DataCopyParams(8, 2, 0, kBroken ? 16 : 2)); // here
    queue.EnQue(rows);
    rows = queue.DeQue<float>();
    queue.FreeTensor(rows);
}

// Every other number kept, and as many copied out as went in.
DEFECT(packed_and_copied_at_full_length, "uninitialised-read", 1)
{
    auto x = Ub(0), even = Ub(2048);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    uint64_t kept = 0;
    GatherMask(even, x, uint8_t(1), false, 0, GatherMaskParams(1, 4, 8, 0), kept);
    Order<V_MTE3>();
    DataCopy(m.w, even, kBroken ? 256 : 128); // here
}

// Ten columns of padding on the left of a row.
DEFECT(padded_by_more_than_a_block, "bad-argument", 1)
{
    auto rows = Ub(0, 64);
    const uint8_t left = kBroken ? 10 : 6;
    DataCopyPad(rows, m.x, DataCopyExtParams(1, 40, 0, 0, 0), DataCopyPadExtParams<float>(true, left, 0, 0.0f)); // here
    Order<MTE2_V>();
    Muls(rows, rows, 2.0f, 16);
}

// A comparison of what no whole repeat holds.
DEFECT(compared_a_hundred, "misaligned", 1)
{
    auto a = Ub(0), b = Ub(1024);
    auto bits = Ub<uint8_t>(4096, 32);
    DataCopy(a, m.x, 256);
    DataCopy(b, m.y, 256);
    Order<MTE2_V>();
    Compare(bits, a, b, CMPMODE::LT, kBroken ? 100u : 128u); // here
}

// The counter mode of one step kept for the next, whose mask is then a number of elements.
DEFECT(counter_mode_kept, "out-of-bounds-ub", 1)
{
    auto x = Ub(0), out = Ub(2048);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 100);
    Adds<float, false>(x, x, 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 8, 8));
    PipeBarrier<PIPE_V>();
    if (!kBroken) SetMaskNorm();
    Muls(out, x, 2.0f, 64, 4, UnaryRepeatParams(1, 1, 8, 8)); // here
    SetMaskNorm();
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.w, out, 256);
}
