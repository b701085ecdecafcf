// Lanes, repeats and strides of the vector unit: casts, folds, comparisons, and who reads what they leave.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// A repeat of a cast is as long as its wider side allows: 64 lanes, not the 128 of halves.
DEFECT(mask_of_the_narrow_side_in_a_cast, "bad-argument", 1)
{
    auto x = Ub<half>(0, 256);
    DataCopy(x, m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_V>();
    const uint64_t lanes = kBroken ? 128 : 64;
    const uint8_t repeats = kBroken ? 2 : 4;
    const UnaryRepeatParams wide(1, 1, 16, 8), narrow(1, 1, 8, 4);
    Cast(Ub(kOut), x, RoundMode::CAST_NONE, lanes, repeats, kBroken ? wide : narrow); // here
}

// Sixty-four halves are four blocks; the source advances by eight, as the floats do.
DEFECT(source_of_a_cast_advanced_like_its_result, "out-of-bounds-ub?", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> wide, row;
    pipe.InitBuffer(wide, 1024);
    pipe.InitBuffer(row, 512);
    auto x = row.Get<half>();
    auto z = wide.Get<float>();
    Duplicate(x, half(1.0f), 256);
    PipeBarrier<PIPE_V>();
    Cast(z, x, RoundMode::CAST_NONE, 64, 4, UnaryRepeatParams(1, 1, 8, kBroken ? 8 : 4)); // here
}

// Half of the lanes were switched off for a fold, and are not switched on again for the row.
DEFECT(mask_of_the_fold_kept_for_the_row, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    SetVectorMask<float, MaskMode::NORMAL>(0, 0xffffffff);
    Add<float, false>(Ub(2048), Ub(0), Ub(128), MASK_PLACEHOLDER, 4, {1, 1, 1, 8, 8, 8});
    if (!kBroken) ResetMask();
    Muls<float, false>(Ub(kOut), Ub(0), 2.0f, MASK_PLACEHOLDER, 4, {1, 1, 8, 8});
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 256); // here
}

// The results of a reduction stand as many elements apart as its stride says; the author meant blocks.
DEFECT(sums_a_block_apart_taken_as_neighbours, "uninitialised-read?", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    WholeReduceSum(Ub(4096), Ub(0), 64, 4, kBroken ? 8 : 1, 1, 8);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(Ub(kOut), Ub(4096), 4, 1, 1, 1, 8); // here
    Order<V_MTE3>();
    DataCopyPad(m.z, Ub(kOut), DataCopyExtParams(1, 4, 0, 0, 0));
}

// Maxima come with their places unless told otherwise, and there is room for the maxima alone.
DEFECT(places_in_the_room_of_maxima, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> rows, maxima;
    pipe.InitBuffer(rows, 2048);
    pipe.InitBuffer(maxima, 32);
    auto x = rows.Get<float>();
    auto most = maxima.Get<float>();
    Duplicate(x, 3.0f, 512);
    PipeBarrier<PIPE_V>();
    const ReduceOrder order = kBroken ? ReduceOrder::ORDER_VALUE_INDEX : ReduceOrder::ORDER_ONLY_VALUE;
    WholeReduceMax(most, x, 64, 8, 1, 1, 8, order); // here
}

// Sixteen rows are turned, of which twelve were fetched.
DEFECT(turned_with_four_rows_missing, "uninitialised-read?", 1)
{
    auto x = Ub<half>(0, 256);
    DataCopy(x, m.x.ReinterpretCast<half>(), (kBroken ? 12 : 16) * 16);
    Order<MTE2_V>();
    Transpose(Ub<half>(kOut, 256), x); // here
}

// Each of sixteen numbers is spread to a block, over the very block it is read from.
DEFECT(spread_over_its_own_source, "operand-overlap", 1)
{
    auto x = Ub(0, 128);
    DataCopy(x, m.x, 16);
    Order<MTE2_V>();
    Brcb(Ub(kBroken ? 0 : 1024, 128), x, 2, BrcbRepeatParams(1, 8)); // here
}

// What is selected is written over the bits that it is selected by.
DEFECT(result_over_the_bits_that_pick_it, "operand-overlap", 1)
{
    DataCopy(Ub(0), m.x, 256);
    DataCopy(Ub(4096), m.y, 256);
    Order<MTE2_V>();
    auto bits = Ub<uint8_t>(kBroken ? kOut + 512 : 8192, 32);
    Compare(bits, Ub(0), Ub(4096), CMPMODE::GT, 256);
    PipeBarrier<PIPE_V>();
    Select(Ub(kOut), bits, Ub(0), Ub(4096), SELMODE::VSEL_TENSOR_TENSOR_MODE, 256); // here
}

// Whole repeats and a tail, and the length is one that leaves no tail: no lane at all is no mask.
MISSED(tail_of_no_lanes, "bad-argument", 1)
{
    uint32_t count = 128;
    DataCopy(Ub(0), m.x, count);
    Order<MTE2_V>();
    const uint32_t whole = count / 64;
    const uint64_t tail = count % 64;
    Adds(Ub(kOut), Ub(0), 1.0f, 64, static_cast<uint8_t>(whole), {1, 1, 8, 8});
    if (kBroken || tail > 0) {
        Adds(Ub(kOut + whole * 256), Ub(whole * 256), 1.0f, tail, 1, {1, 1, 8, 8}); // here
    }
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), count);
}

// Real parts in the even blocks, imaginary ones in the odd: of these, the second half was left out.
DEFECT(odd_blocks_of_the_second_half_left_out, "uninitialised-read", 1)
{
    Duplicate(Ub(kOut), 1.0f, 64, 2, 2, 16);
    Duplicate(Ub(kOut + 32), 0.0f, 64, kBroken ? 1 : 2, 2, 16);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 256); // here
}

// Four repeats of blocks leave thirty-two maxima; the next step takes a full repeat of them.
DEFECT(block_maxima_taken_as_a_full_repeat, "uninitialised-read?", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    BlockReduceMax(Ub(4096), Ub(0), 4, 64, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    WholeReduceMax(Ub(kOut), Ub(4096), kBroken ? 64 : 32, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE); // here
}

// A hundred and twenty-eight comparisons are four words of bits; eight are counted.
DEFECT(words_behind_the_comparison, "uninitialised-read", 1)
{
    constexpr uint32_t count = 128;
    auto bits = Ub<uint8_t>(8192, 32);
    DataCopy(Ub(0, count), m.x, count);
    Order<MTE2_V>();
    CompareScalar(bits, Ub(0, count), 0.5f, CMPMODE::LT, count);
    Order<V_S>();
    auto words = bits.ReinterpretCast<uint32_t>();
    uint32_t any = 0;
    for (uint32_t i = 0; i < (kBroken ? 8 : count / 32); ++i) {
        any |= words.GetValue(i); // here
    }
    Order<S_V>();
    if (any != 0) Duplicate(Ub(kOut), 1.0f, 64);
}

// A segment ends where the next one starts, and behind the eighth start there is no ninth.
MISSED(end_of_the_last_segment, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> list, work;
    pipe.InitBuffer(list, 32);
    pipe.InitBuffer(work, 1024);
    auto starts = list.Get<int32_t>();
    auto z = work.Get<float>();
    DataCopy(starts, m.y.ReinterpretCast<int32_t>(), 8);
    Duplicate(z, 0.0f, 256);
    PipeBarrier<PIPE_ALL>();
    int32_t longest = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        int32_t end = 4096;
        if (kBroken || i + 1 < 8) end = starts.GetValue(i + 1); // here
        const int32_t length = end - starts.GetValue(i);
        if (length > longest) longest = length;
    }
    const auto id = static_cast<event_t>(pipe.FetchEventID(S_V));
    SetFlag<S_V>(id);
    WaitFlag<S_V>(id);
    Adds(z, z, static_cast<float>(longest), 256);
}

// Rows of seventy-two floats are doubled by one repeat each: the last eight are left out.
DEFECT(rows_of_nine_blocks_in_repeats_of_eight, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, 216);
    Order<MTE2_V>();
    Muls(Ub(kOut), Ub(0), 2.0f, 64, 3, {1, 1, 9, 9});
    if (!kBroken) Muls(Ub(kOut + 256), Ub(256), 2.0f, 8, 3, {1, 1, 9, 9});
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 216); // here
}
