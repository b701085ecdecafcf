// Counts, repeats, masks, strides and lengths that are not what the instruction takes, as they come out of tiling arithmetic.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// The tail is reckoned the wrong way round. The count of the vector function is a register of 32 bits: nearly 2^32 elements.
// Class: also arguable as bad-argument.
DEFECT(tail_count_below_zero, "out-of-bounds-ub", 1)
{
    int32_t total = 200;
    const int32_t tile = 64;
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    for (int32_t done = 0; done < total; done += tile) {
        const int32_t left = total - done;
        const int32_t count = left >= tile ? tile : (kBroken ? left - tile : left);
        Adds(Ub(kOut + done * 4), Ub(done * 4), 1.0f, count); // here
    }
}

// The same arithmetic in the length of a copy, cast to unsigned: 4294967104 bytes where 2097151 are the most.
DEFECT(length_of_a_copy_below_zero, "out-of-bounds-ub", 1)
{
    int32_t rowBytes = 64;
    int32_t header = 256;
    const uint32_t bytes = static_cast<uint32_t>(kBroken ? rowBytes - header : header - rowBytes);
    DataCopyPad(Ub(0), m.x, DataCopyExtParams(1, bytes, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
}

// 40 elements are no whole repeat: 40 / 64 repeats are none, and nothing is computed.
DEFECT(less_than_a_repeat, "uninitialised-read", 1)
{
    uint32_t count = 40;
    DataCopy(Ub(0), m.x, count);
    Order<MTE2_V>();
    if (kBroken) Muls(Ub(kOut), Ub(0), 2.0f, 64, static_cast<uint8_t>(count / 64), UnaryRepeatParams(1, 1, 8, 8));
    else Muls(Ub(kOut), Ub(0), 2.0f, count, 1, UnaryRepeatParams(1, 1, 8, 8));
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), count); // here
}

// 256 repeats do not fit in the eight bits that the argument has: none is done.
// Class: a judge that sees the caller's value could say repeat-overflow at the line of Adds.
DEFECT(repeats_wrap_to_none, "uninitialised-read", 1)
{
    uint32_t total = kBroken ? 256 * 64 : 255 * 64;
    Duplicate(Ub(0), 1.0f, static_cast<int32_t>(total));
    Adds(Ub(kOut), Ub(0), 1.0f, 64, total / 64, UnaryRepeatParams(1, 1, 8, 8));
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 256); // here
}

// A repeat of floats has 64 lanes; 128 is the number for half.
DEFECT(mask_of_half_for_floats, "bad-argument", 1)
{
    const uint64_t lanes = kBroken ? 128 : 64;
    DataCopy(Ub(0), m.x, 256);
    DataCopy(Ub(4096), m.y, 256);
    Order<MTE2_V>();
    Add(Ub(kOut), Ub(0), Ub(4096), lanes, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8)); // here
}

// Rows of 2048 floats are 256 blocks, which wraps to a stride of none: all four rows go to the first.
// Class: the stride could also be called a bad-argument at the line of Adds.
DEFECT(row_stride_wraps_to_none, "uninitialised-read", 1)
{
    uint32_t pitch = kBroken ? 256 : 248;
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    Adds(Ub(kOut), Ub(0), 1.0f, 64, 4, UnaryRepeatParams(1, 1, static_cast<uint8_t>(pitch), 8));
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), DataCopyParams(4, 8, static_cast<uint16_t>(pitch - 8), 0)); // here
}

// DataCopyPad takes bytes. In blocks of 32, as DataCopy has them, only the first 32 bytes arrive.
DEFECT(length_in_blocks_where_bytes_are_meant, "uninitialised-read?", 1)
{
    const uint32_t count = 256;
    const uint32_t length = kBroken ? count * 4 / 32 : count * 4;
    DataCopyPad(Ub(0), m.x, DataCopyExtParams(1, length, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
    Order<MTE2_V>();
    Relu(Ub(kOut), Ub(0), count); // here
}

// And the other way: DataCopy takes blocks, and gets bytes. The input has 16384.
DEFECT(length_in_bytes_where_blocks_are_meant, "out-of-bounds-gm", 1)
{
    const uint32_t count = 256;
    const uint16_t length = static_cast<uint16_t>(kBroken ? count * 4 : count * 4 / 32);
    DataCopy(Ub(0), m.x, DataCopyParams(1, length, 0, 0)); // here
}

// The last tile of halves has 100, 200 bytes, which are six blocks and a quarter.
DEFECT(tail_of_halves_with_plain_copy, "misaligned", 1)
{
    const GlobalTensor<half> x = m.x.ReinterpretCast<half>();
    const uint32_t total = 356, tile = 128;
    for (uint32_t done = 0; done < total; done += tile) {
        const uint32_t count = total - done < tile ? total - done : tile;
        if (kBroken) DataCopy(Ub<half>(done * 2), x[done], count); // here
        else DataCopyPad(Ub<half>(done * 2), x[done], DataCopyExtParams(1, count * 2, 0, 0, 0),
                         DataCopyPadExtParams<half>(false, 0, 0, half(0.0f)));
    }
    Order<MTE2_V>();
    Relu(Ub<half>(kOut), Ub<half>(0), total);
}

// Rows of 24 halves packed without a gap: the second begins in the middle of a block.
DEFECT(packed_rows_that_are_no_blocks, "misaligned", 1)
{
    const uint32_t rows = 4, columns = 24, pitch = kBroken ? columns : 32;
    Duplicate(Ub<half>(0), half(1.0f), 256);
    for (uint32_t row = 0; row < rows; ++row) {
        Cast(Ub<float>(kOut + row * 128), Ub<half>(row * pitch * 2), RoundMode::CAST_NONE, columns); // here
    }
}

// Gaps in the Unified Buffer are blocks of 32 bytes, in global memory they are bytes. Rows of 40 bytes take 64 anyway;
// the 24 bytes between them are given as a gap once more.
DEFECT(gap_of_local_rows_in_bytes, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> rowsBuffer, next;
    pipe.InitBuffer(rowsBuffer, 8 * 64);
    pipe.InitBuffer(next, 8192);
    auto rows = rowsBuffer.Get<float>();
    const DataCopyExtParams copy(8, 40, 24, kBroken ? 24 : 0, 0);
    DataCopyPad(rows, m.x, copy, DataCopyPadExtParams<float>(true, 0, 6, 0.0f)); // here
    Order<MTE2_V>();
    Relu(rows, rows, 8 * 16);
}

// Brcb makes eight blocks of every repeat: 20 rows take three, which are 24 blocks.
DEFECT(broadcast_rounds_up_to_eight, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> maxBuffer, wideBuffer, next;
    pipe.InitBuffer(maxBuffer, 24 * 4);
    pipe.InitBuffer(wideBuffer, (kBroken ? 20 : 24) * 32);
    pipe.InitBuffer(next, 1024);
    auto rowMax = maxBuffer.Get<float>();
    Duplicate(rowMax, 1.0f, 24);
    Brcb(wideBuffer.Get<float>(), rowMax, 3, BrcbRepeatParams(1, 8)); // here
}

// Comparisons by count take whole repeats of 256 bytes.
// Class: the documentation speaks of alignment of the count; misaligned could be said too.
DEFECT(comparison_of_a_ragged_count, "misaligned", 1)
{
    const uint32_t count = kBroken ? 100 : 128;
    DataCopy(Ub(0), m.x, 128);
    DataCopy(Ub(4096), m.y, 128);
    Order<MTE2_V>();
    Compare(Ub<uint8_t>(kOut), Ub(0), Ub(4096), CMPMODE::GT, count); // here
}

// Offsets of Gather are bytes; 0, 1, 2 ... point into the middle of floats.
// Class: nothing says what the hardware does, except that offsets have to be multiples of the element.
DEFECT(gather_by_element_numbers, "misaligned", 1)
{
    DataCopy(Ub(0), m.x, 64);
    CreateVecIndex(Ub<int32_t>(4096, 64), 0, 64);
    if (!kBroken) Muls(Ub<int32_t>(4096, 64), Ub<int32_t>(4096, 64), 4, 64);
    Order<MTE2_V>();
    Gather(Ub(kOut, 64), Ub(0), Ub<uint32_t>(4096, 64), 0, 64); // here
}
