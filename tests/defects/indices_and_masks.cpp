// One vector core: tables, indices, sorting, transposing, selecting, reducing.
#include <defect.h>

// Offsets of halves into a table of floats.
DEFECT(offsets_of_halves_into_floats, "misaligned", 1)
{
    auto table = Ub(0, 64), out = Ub(1024, 64);
    auto at = Ub<int32_t>(2048, 64);
    DataCopy(table, m.x, 64);
    CreateVecIndex(at, 0, 64);
    Muls(at, at, kBroken ? 2 : 4, 64);
    Order<MTE2_V>();
    Gather(out, table, at.ReinterpretCast<uint32_t>(), 0, 64); // here
    Muls(out, out, 2.0f, 64);
    Order<V_MTE3>();
    DataCopy(m.z, out, 64);
}

// Sorted numbers are records of eight bytes; the room for them is counted in floats.
DEFECT(room_for_values_without_their_indices, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> values, indices, records, weights;
    pipe.InitBuffer(values, 128 * 4);
    pipe.InitBuffer(indices, 128 * 4);
    pipe.InitBuffer(records, 128 * (kBroken ? 4 : 8));
    pipe.InitBuffer(weights, 128 * 4);
    auto x = values.Get<float>();
    auto y = weights.Get<float>();
    auto sorted = records.Get<float>();
    CreateVecIndex(indices.Get<int32_t>(), 0, 128);
    DataCopy(x, m.x, 128);
    DataCopy(y, m.y, 128);
    Order<MTE2_V>();
    Mul(x, x, y, 128);
    Sort32(sorted, x, indices.Get<uint32_t>(), 4); // here
    Order<V_MTE3>();
    DataCopy(m.z, sorted, 128);
}

// The runs to merge are given by their number, not by their bits.
DEFECT(number_of_runs_for_their_bits, "bad-argument", 1)
{
    auto x = Ub(0, 64), sorted = Ub(1024, 128), merged = Ub(2048, 128);
    auto index = Ub<int32_t>(4096, 64);
    CreateVecIndex(index, 0, 64);
    Duplicate(merged, 0.0f, 128);
    DataCopy(x, m.x, 64);
    Order<MTE2_V>();
    Sort32(sorted, x, index.ReinterpretCast<uint32_t>(), 2);
    const uint16_t lengths[4] = {32, 32, 0, 0};
    MrgSortSrcList<float> runs(sorted, sorted[64], sorted, sorted);
    MrgSort(merged, runs, MrgSort4Info(lengths, false, kBroken ? 2 : 3, 1)); // here
    Order<V_MTE3>();
    DataCopy(m.z, merged, 128);
}

// A histogram summed up over its rows in one instruction, every repeat of which reads what the one before wrote.
DEFECT(rows_summed_up_by_repeats, "operand-overlap", 1)
{
    auto x = Ub(0);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    if (kBroken) {
        Add(x[64], x, x[64], 64, 3, BinaryRepeatParams(1, 1, 1, 8, 8, 8)); // here
    } else {
        for (uint32_t row = 1; row < 4; ++row) {
            Add(x[row * 64], x[(row - 1) * 64], x[row * 64], 64);
        }
    }
    Order<V_MTE3>();
    DataCopy(m.z, x, 256);
}

// Transposed rows half a block apart too many, against bank conflicts.
DEFECT(transposed_rows_one_and_a_half_blocks_apart, "misaligned", 1)
{
    constexpr uint32_t pitch = kBroken ? 24 : 32;
    auto x = Ub<half>(0, 256), y = Ub<half>(4096, 512);
    DataCopy(x, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    LocalTensor<half> to[16], from[16];
    for (uint32_t i = 0; i < 16; ++i) {
        to[i] = y[i * pitch];
        from[i] = x[i * 16];
    }
    TransDataTo5HD(to, from, TransDataTo5HDParams(false, false, 1, 0, 0)); // here
    Order<V_MTE3>();
    DataCopy(m.z.ReinterpretCast<half>(), y, DataCopyParams(16, 1, pitch / 16 - 1, 0));
}

// Four rows are selected by the bits of three.
DEFECT(selected_by_bits_of_three_rows, "uninitialised-read?", 1)
{
    auto x = Ub(0), y = Ub(1024), out = Ub(2048);
    auto bits = Ub<uint8_t>(4096, 32);
    DataCopy(x, m.x, 256);
    DataCopy(y, m.y, 256);
    Order<MTE2_V>();
    Compare(bits, x, y, CMPMODE::GT, kBroken ? 192 : 256);
    Select(out, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256); // here
    Order<V_MTE3>();
    DataCopy(m.z, out, 256);
}

// Ties are decided by the smaller index, compared as the integers that they are.
DEFECT(indices_compared_as_integers, "unsupported", 1)
{
    auto a = Ub<int32_t>(0, 64), b = Ub<int32_t>(512, 64);
    auto left = Ub(1024, 64), right = Ub(1536, 64), out = Ub(2048, 64);
    auto bits = Ub<uint8_t>(4096, 32);
    DataCopy(a, m.x.ReinterpretCast<int32_t>(), 64);
    DataCopy(b, m.y.ReinterpretCast<int32_t>(), 64);
    Duplicate(Ub<int32_t>(4096, 8), 0, 8);
    Order<MTE2_V>();
    Cast(left, a, RoundMode::CAST_RINT, 64);
    Cast(right, b, RoundMode::CAST_RINT, 64);
    if (kBroken) {
        Compare(bits, a, b, CMPMODE::LT, 64); // here
    } else {
        Compare(bits, left, right, CMPMODE::LT, 64);
    }
    Select(out, bits, left, right, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
    Order<V_MTE3>();
    DataCopy(m.z, out, 64);
}

// Value and index of the maximum go out, and only the value was asked for.
DEFECT(index_that_was_not_asked_for, "uninitialised-read", 1)
{
    auto x = Ub(0), best = Ub(2048, 8), room = Ub(4096, 64);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Abs(x, x, 256);
    ReduceMax(best, x, room, 256, !kBroken);
    Order<V_MTE3>();
    DataCopyPad(m.z, best, DataCopyExtParams(1, 8, 0, 0, 0)); // here
}

// 256 short rows, each of which is a repeat.
DEFECT(one_row_more_than_repeats, "repeat-overflow", 1)
{
    auto x = Ub(0, 4096), peak = Ub(32768);
    Duplicate(peak, 0.0f, 256);
    DataCopy(x, m.x, 4096);
    Order<MTE2_V>();
    constexpr int32_t rows = kBroken ? 256 : 128;
    for (uint32_t row = 0; row < 256; row += rows) {
        WholeReduceMax(peak[row], x[row * 16], 16, rows, 1, 1, 2, ReduceOrder::ORDER_ONLY_VALUE); // here
    }
    Order<V_MTE3>();
    DataCopy(m.z, peak, 256);
}

// The kernel was halves once: a mask of 128 lanes for sums of floats by blocks.
DEFECT(mask_of_the_halves_that_it_was, "bad-argument", 1)
{
    auto x = Ub(0), sums = Ub(2048, 32);
    Duplicate(sums, 0.0f, 32);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Mul(x, x, x, 256);
    BlockReduceSum(sums, x, 4, kBroken ? 128 : 64, 1, 1, 8); // here
    Order<V_MTE3>();
    DataCopy(m.z, sums, 32);
}

// A table of 64 rows, and ids that count a row for padding too.
DEFECT(id_of_the_padding_row, "out-of-bounds-gm", 1)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 256);
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t id = (i * 21 + 1) % (kBroken ? 65 : 64);
        auto row = queue.AllocTensor<float>();
        DataCopy(row, m.x[id * 64], 64); // here
        queue.EnQue(row);
        row = queue.DeQue<float>();
        DataCopy(m.z[i * 64], row, 64);
        queue.FreeTensor(row);
    }
}

// Every number's predecessor is looked up, and the first has none.
DEFECT(predecessor_of_the_first, "out-of-bounds-ub", 1)
{
    auto table = Ub(0, 64), out = Ub(1024, 64);
    auto at = Ub<int32_t>(2048, 64);
    DataCopy(table, m.x, 64);
    CreateVecIndex(at, -1, 64);
    if (!kBroken) Maxs(at, at, 0, 64);
    Muls(at, at, 4, 64);
    Order<MTE2_V>();
    Gather(out, table, at.ReinterpretCast<uint32_t>(), 0, 64); // here
    Sub(out, table, out, 64);
    Order<V_MTE3>();
    DataCopy(m.z, out, 64);
}

// Scores, records of twice the size and indices of a tile: together more than there is.
DEFECT(tile_chosen_without_its_indices, "ub-overflow", 1)
{
    constexpr uint32_t tile = kBroken ? 16384 : 8192;
    TPipe pipe;
    TBuf<TPosition::VECCALC> scores, records, indices;
    pipe.InitBuffer(scores, tile * 4);
    pipe.InitBuffer(records, tile * 8);
    pipe.InitBuffer(indices, tile * 4); // here
    auto x = scores.Get<float>();
    auto y = records.Get<float>();
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Muls(y, x, 2.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, y, 256);
}

// The row's first number is looked at when the row has been given back.
DEFECT(looked_at_when_given_back, "queue-misuse", 1)
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
    Exp(y, x, 256);
    if (kBroken) in.FreeTensor(x);
    const float first = x.GetValue(0); // here
    if (!kBroken) in.FreeTensor(x);
    Adds(y, y, first, 256);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(m.z, y, 256);
    out.FreeTensor(y);
}

// Even and odd numbers are packed into one buffer by turns, which the copy out may still read.
DEFECT(odd_numbers_over_the_even_ones, "race", 1)
{
    auto x = Ub(0), packed = Ub(2048, 128);
    uint64_t kept = 0;
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    for (uint8_t pattern = 1; pattern <= 2; ++pattern) {
        if (pattern == 2 && !kBroken) Order<MTE3_V>();
        GatherMask(packed, x, pattern, false, 0, GatherMaskParams(1, 4, 8, 0), kept); // here
        Order<V_MTE3>();
        DataCopy(m.z[(pattern - 1u) * 128], packed, 128);
    }
}
