// What calls are given: masks, counts, repeats, strides, distances, offsets, and the ways of rounding.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// 128 elements are two repeats and no tail. Its mask is the rest: no lane at all, where one is the least.
MISSED(mask_of_a_tail_that_is_none, "bad-argument", 1)
{
    uint32_t total = 128;
    const uint8_t whole = static_cast<uint8_t>(total / 64);
    const uint64_t rest = total % 64;
    Duplicate(Ub(0), 1.0f, 256);
    Adds(Ub(kOut), Ub(0), 1.0f, 64, whole, UnaryRepeatParams(1, 1, 8, 8));
    if (kBroken || rest > 0) {
        Adds(Ub(kOut + whole * 256), Ub(whole * 256), 1.0f, rest, 1, UnaryRepeatParams(1, 1, 8, 8)); // here
    }
}

// The last tile has the rest of the division. There is none where tiles come out even: its elements are not computed.
DEFECT(last_tile_of_no_elements, "uninitialised-read", 1)
{
    uint32_t total = 192;
    const uint32_t tile = 64, tiles = DivCeil(total, tile);
    const uint32_t last = kBroken ? total % tile : (total - 1) % tile + 1;
    DataCopy(Ub(0), m.x, total);
    Order<MTE2_V>();
    for (uint32_t i = 0; i < tiles; ++i) {
        const uint32_t count = i + 1 < tiles ? tile : last;
        Muls(Ub(kOut + i * tile * 4), Ub(i * tile * 4), 2.0f, static_cast<int32_t>(count));
    }
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), total); // here
}

// Floats become integers by one of five ways of rounding; not rounding at all is for casts that lose nothing.
DEFECT(integers_without_a_way_of_rounding, "bad-argument", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    const RoundMode mode = kBroken ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;
    Cast(Ub<int32_t>(kOut), Ub(0), mode, 256); // here
}

// A maximum of every block is eight of every repeat; there is room for one of each.
DEFECT(maxima_of_blocks_in_the_room_of_repeats, "out-of-bounds-ub", 1)
{
    constexpr uint32_t repeats = 10, perRepeat = kBroken ? 1 : 8;
    TPipe pipe;
    TBuf<TPosition::VECCALC> rowsBuffer, maximaBuffer, next;
    pipe.InitBuffer(rowsBuffer, repeats * 256);
    pipe.InitBuffer(maximaBuffer, repeats * perRepeat * sizeof(float));
    pipe.InitBuffer(next, 8192);
    auto rows = rowsBuffer.Get<float>();
    Duplicate(rows, 1.0f, repeats * 64);
    BlockReduceMax(maximaBuffer.Get<float>(), rows, repeats, 64, 1, 1, 8); // here
}

// 16 rows of 64 halves are turned in four repeats. From one to the next the result moves on by 16 blocks, given as 256 elements.
DEFECT(repeats_of_a_transpose_apart_in_elements, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> other, rowsBuffer, turnedBuffer;
    pipe.InitBuffer(other, 180 * 1024);
    pipe.InitBuffer(rowsBuffer, 2048);
    pipe.InitBuffer(turnedBuffer, 2048);
    auto rows = rowsBuffer.Get<half>(), turned = turnedBuffer.Get<half>();
    Duplicate(rows, half(1.0f), 1024);
    LocalTensor<half> from[16], to[16];
    for (uint32_t i = 0; i < 16; ++i) {
        from[i] = rows[i * 64];
        to[i] = turned[i * 16];
    }
    const TransDataTo5HDParams fourRepeats(false, false, 4, kBroken ? 256 : 16, 1);
    TransDataTo5HD<half>(to, from, fourRepeats); // here
}

// 16 rows of 32 halves turned in place: the first repeat writes over what the second has to read.
DEFECT(turned_in_place_by_two_repeats, "operand-overlap", 1)
{
    DataCopy(Ub<half>(0, 512), m.x.ReinterpretCast<half>(), 512);
    Order<MTE2_V>();
    const uint32_t out = kBroken ? 0 : kOut;
    LocalTensor<half> from[16], to[16];
    for (uint32_t i = 0; i < 16; ++i) {
        from[i] = Ub<half>(i * 64, 32);
        to[i] = Ub<half>(out + i * 32, 16);
    }
    TransDataTo5HD<half>(to, from, TransDataTo5HDParams(false, false, 2, 16, 1)); // here
}

// Whole blocks are gathered, by offsets that are as far apart as floats.
DEFECT(blocks_gathered_from_within_blocks, "misaligned", 1)
{
    DataCopy(Ub(0), m.x, 256);
    auto offsets = Ub<int32_t>(4096, 8);
    CreateVecIndex(offsets, 0, 8);
    Muls(offsets, offsets, kBroken ? 4 : 32, 8);
    Order<MTE2_V>();
    Gatherb(Ub<uint32_t>(kOut), Ub<uint32_t>(0), Ub<uint32_t>(4096, 8), 1, GatherRepeatParams(1, 8)); // here
}

// Two runs are merged as the first and the third of four: runs have to be the first two, three or four.
DEFECT(merged_without_a_second_run, "bad-argument", 1)
{
    Duplicate(Ub(0), 1.0f, 64);
    Duplicate(Ub<int32_t>(1024), 7, 64);
    Sort32(Ub(2048), Ub(0), Ub<uint32_t>(1024), 2);
    const LocalTensor<float> one = Ub(2048, 64), two = Ub(2048 + 256, 64);
    const uint16_t lengths[4] = {32, kBroken ? uint16_t(0) : uint16_t(32), kBroken ? uint16_t(32) : uint16_t(0), 0};
    const MrgSort4Info info(lengths, false, kBroken ? 0b0101 : 0b0011, 1);
    const MrgSortSrcList<float> runs(one, kBroken ? one : two, two, two);
    MrgSort(Ub(kOut, 128), runs, info); // here
}

// A word of four bytes is asked for its sixth: a shift by 40 bits.
DEFECT(shifted_by_more_than_there_are_bits, "bad-argument", 1)
{
    const int32_t byte = kBroken ? 5 : 3;
    DataCopy(Ub<int32_t>(0), m.x.ReinterpretCast<int32_t>(), 64);
    Order<MTE2_V>();
    ShiftRight(Ub<int32_t>(kOut), Ub<int32_t>(0), byte * 8, 64); // here
}

// Two indices by one load, from where an odd one begins.
DEFECT(two_indices_by_one_load, "misaligned?", 1)
{
    DataCopy(Ub<int32_t>(0), m.x.ReinterpretCast<int32_t>(), 64);
    Order<HardEvent::MTE2_S>();
    const uint64_t both = Ub<uint64_t>(kBroken ? 4 : 8, 1).GetValue(0); // here
    auto parts = Ub<int32_t>(kOut, 8);
    Duplicate(parts, static_cast<int32_t>(both ^ both >> 32), 8);
}

// Moving within the Unified Buffer is in whole blocks too, and 100 floats are twelve and a half.
DEFECT(moved_within_the_memory_by_no_whole_blocks, "misaligned", 1)
{
    DataCopy(Ub(0), m.x, 104);
    Order<MTE2_V>();
    const uint32_t count = kBroken ? 100 : 104;
    DataCopy(Ub(kOut), Ub(0), count); // here
}

// Rows of 40 bytes lie 128 apart, two blocks behind each. On the way out that gap counts blocks, and is given in bytes.
DEFECT(gap_of_local_rows_on_the_way_out, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> other, rowsBuffer;
    pipe.InitBuffer(other, 188 * 1024);
    pipe.InitBuffer(rowsBuffer, 8 * 128);
    auto rows = rowsBuffer.Get<float>();
    Duplicate(rows, 1.0f, 256);
    Order<V_MTE3>();
    DataCopyPad(m.z, rows, DataCopyExtParams(8, 40, kBroken ? 64 : 2, 0, 0)); // here
}

// A value for each row is spread to a block; the next row's is one block on, not eight.
DEFECT(spread_values_taken_a_repeat_apart, "uninitialised-read?", 1)
{
    DataCopy(Ub(0), m.x, 512);
    Duplicate(Ub(8192), 1.0f, 8);
    Brcb(Ub(12288), Ub(8192), 1, BrcbRepeatParams(1, 8));
    Order<MTE2_V>();
    const uint8_t apart = kBroken ? 8 : 1;
    Sub(Ub(kOut), Ub(0), Ub(12288), 64, 8, BinaryRepeatParams(1, 1, 0, 8, 8, apart)); // here
}

// A part of a buffer is so many elements from so many bytes on; 64 of either begin within the first part.
DEFECT(second_part_of_a_buffer_from_elements_on, "operand-overlap", 1)
{
    constexpr uint32_t count = 64;
    TPipe pipe;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(scratch, 2 * count * sizeof(float));
    auto first = scratch.GetWithOffset<float>(count, 0);
    auto second = scratch.GetWithOffset<float>(count, kBroken ? count : count * sizeof(float));
    Duplicate(first, 1.0f, count);
    Adds(second, first, 1.0f, count); // here
}

// 8192 values are 256 repeats of 32, and an instruction counts to 255.
DEFECT(sorted_in_one_repeat_too_many, "repeat-overflow", 1)
{
    Duplicate(Ub(0), 1.0f, 8192);
    Duplicate(Ub<int32_t>(32768), 0, 8192);
    const int32_t repeats = kBroken ? 256 : 255;
    Sort32(Ub(kOut, 16384), Ub(0, 8192), Ub<uint32_t>(32768, 8192), repeats); // here
}
