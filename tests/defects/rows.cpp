// Rows under the vector unit: masks, counters, folds and the bytes between rows.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// The two words of a mask are the wrong way round: for 32-bit elements the second one counts for nothing.
DEFECT(words_of_the_mask_swapped, "bad-argument", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    uint64_t mask[2] = {kBroken ? uint64_t(0) : ~uint64_t(0), kBroken ? ~uint64_t(0) : uint64_t(0)};
    Adds(Ub(kOut), Ub(0), 1.0f, mask, 4, {1, 1, 8, 8}); // here
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 256);
}

// The counter was set for the tail and is not set again for the whole rows.
DEFECT(counter_of_the_tail_for_all, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(100);
    Adds<float, false>(Ub(2048), Ub(0), 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    if (!kBroken) SetVectorMask<float, MaskMode::COUNTER>(256);
    Muls<float, false>(Ub(kOut), Ub(0), 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 256); // here
}

// The counter says 300, the buffers were cut for 256.
DEFECT(counter_longer_than_the_row, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> first, second;
    pipe.InitBuffer(first, 1024);
    pipe.InitBuffer(second, 1024);
    auto x = first.Get<float>();
    auto y = second.Get<float>();
    Duplicate(x, 1.0f, 256);
    Duplicate(y, 1.0f, 256);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(kBroken ? 300 : 256);
    Add<float, false>(x, x, x, MASK_PLACEHOLDER, 1, {1, 1, 1, 8, 8, 8}); // here
    SetMaskNorm();
    ResetMask();
}

// Nine blocks a row are copied out, the sums lie eight apart.
DEFECT(rows_written_closer_than_they_are_copied_out, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 576);
    Order<MTE2_V>();
    const uint8_t pitch = kBroken ? 8 : 9;
    Adds(Ub(kOut, 288), Ub(0, 576), 1.0f, 64, 3, {1, 1, pitch, 9});
    Adds(Ub(kOut + 256, 32), Ub(256, 320), 1.0f, 8, 3, {1, 1, 9, 9});
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut, 288), DataCopyParams(3, 9, 0, 0)); // here
}

// Pairs are folded once: half of the elements are there.
DEFECT(pairs_folded_copied_out_whole, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    PairReduceSum(Ub(kOut), Ub(0), 4, 64, 1, 1, 8);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), kBroken ? 256 : 128); // here
}

// The place of the maximum is looked up, but was not asked for.
DEFECT(place_of_a_maximum_not_asked_for, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 64);
    Order<MTE2_V>();
    WholeReduceMax(Ub(kOut), Ub(0), 64, 1, 1, 1, 8,
                   kBroken ? ReduceOrder::ORDER_ONLY_VALUE : ReduceOrder::ORDER_VALUE_INDEX);
    Order<V_S>();
    const float index = Ub(kOut).GetValue(1); // here
    Order<S_V>();
    Adds(Ub(kOut + 1024), Ub(0), index, 64);
}

// The tail is cleared from element 100 on.
DEFECT(tail_cleared_from_the_middle_of_a_block, "misaligned", 1)
{
    auto x = Ub(0, 128);
    DataCopyPad(x, m.x, DataCopyExtParams(1, 400, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
    Order<MTE2_V>();
    Duplicate(x[kBroken ? 100 : 104], 0.0f, 24); // here
    WholeReduceSum(Ub(kOut), x, 64, 2, 1, 1, 8);
}

// Sums in floats of a row of halves, in the row's own room.
DEFECT(sums_in_the_room_of_halves, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> row, sums, next;
    pipe.InitBuffer(row, 512);
    pipe.InitBuffer(sums, kBroken ? 512 : 1024);
    pipe.InitBuffer(next, 512);
    auto x = row.Get<half>();
    auto sum = sums.Get<float>();
    auto y = next.Get<half>();
    Duplicate(x, half(1.0f), 256);
    Duplicate(y, half(1.0f), 256);
    Cast(sum, x, RoundMode::CAST_NONE, 256); // here
    Cast(y, sum, RoundMode::CAST_NONE, kBroken ? 128 : 256);
}

// Rows of 200 bytes are padded to 224 by the copy, and taken as rows of 256.
DEFECT(rows_taken_wider_than_they_were_padded, "uninitialised-read?", 1)
{
    const uint8_t more = kBroken ? 6 : 0;
    DataCopyPad(Ub(0, 256), m.x, DataCopyExtParams(4, kBroken ? 200 : 256, 0, kBroken ? 1 : 0, 0),
                DataCopyPadExtParams<float>(true, 0, more, 0.0f));
    Order<MTE2_V>();
    WholeReduceSum(Ub(kOut), Ub(0, 256), 64, 4, 1, 1, 8); // here
    Order<V_MTE3>();
    DataCopyPad(m.z, Ub(kOut), DataCopyExtParams(1, 16, 0, 0, 0));
}

// The row's maximum goes to the tile that its exponents are copied out from.
DEFECT(exponents_in_the_tile_on_its_way_out, "race", 1)
{
    for (int32_t row = 0; row < 3; ++row) {
        auto x = Ub(static_cast<uint32_t>(row) * 1024);
        DataCopy(x, m.x[row * 256], 256);
        Order<MTE2_V>(row);
        if (!kBroken && row > 0) WaitFlag<MTE3_V>(row);
        Exp(Ub(kOut), x, 256); // here
        Order<V_MTE3>(row);
        DataCopy(m.z, Ub(kOut), 256);
        PipeBarrier<PIPE_MTE3>();
        if (!kBroken && row < 2) SetFlag<MTE3_V>(row + 1);
    }
}

// A column is spread to rows; its last element is one that nobody has.
DEFECT(spread_to_one_row_more, "uninitialised-read?", 1)
{
    DataCopy(Ub(0), m.x, 16);
    Order<MTE2_V>();
    Brcb(Ub(kOut, 192), Ub(0), kBroken ? 3 : 2, {1, 8}); // here
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut, 192), 128);
}

// Blocks are folded to one element each, in place of the next row.
DEFECT(folded_over_the_next_row, "operand-overlap", 1)
{
    DataCopy(Ub(0), m.x, 128);
    Order<MTE2_V>();
    BlockReduceSum(Ub(kBroken ? 256 : 1024), Ub(0), 2, 64, 1, 1, 8); // here
}

// A filter keeps half of the elements; all of them are copied out.
DEFECT(filtered_copied_out_at_full_length, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 128);
    Order<MTE2_V>();
    uint64_t kept = 0;
    GatherMask(Ub(kOut), Ub(0), 1, true, 128, {1, 1, 8, 0}, kept);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), kBroken ? 128 : static_cast<uint32_t>(kept)); // here
}

// Rows are 2^16 blocks apart in the matrix; the stride counts in sixteen bits.
DEFECT(rows_further_apart_than_a_stride_counts, "bad-argument", 1)
{
    const int32_t pitch = kBroken ? 65536 : 8;
    DataCopy(Ub(0), m.x, 128);
    Order<MTE2_V>();
    WholeReduceSum(Ub(kOut), Ub(0), 64, 2, 1, 1, pitch); // here
}
