// Arguments outside what an instruction takes: repeats, strides, masks, operands that overlap.
#include <defect.h>

DEFECT(repeats_beyond_the_counter, "repeat-overflow", 1)
{
    Duplicate(Ub(0), 1.0f, 16384);
    const int32_t repeats = kBroken ? 256 : 255;
    WholeReduceSum(Ub(65536), Ub(0), 64, repeats, 1, 1, 8); // here
}

DEFECT(gather_of_more_than_it_counts, "repeat-overflow", 1)
{
    const uint32_t count = (kBroken ? 256 : 255) * 64;
    Duplicate(Ub<int32_t>(0), 0, 256 * 64);
    Gather(Ub(65536), Ub(0), Ub<uint32_t>(0), 131072, count); // here
}

DEFECT(copy_of_more_rows_than_it_counts, "bad-argument", 1)
{
    DataCopyExtParams rows(kBroken ? 4096 : 4095, 4, 0, 0, 0);
    DataCopyPad(Ub(0), m.x, rows, DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
}

DEFECT(pattern_that_is_not_there, "bad-argument", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    uint64_t kept = 0;
    const uint8_t pattern = kBroken ? 8 : 7;
    GatherMask(Ub(4096), Ub(0), pattern, false, 0, GatherMaskParams(1, 4, 8, 0), kept); // here
}

DEFECT(destination_over_a_later_source, "operand-overlap", 1)
{
    Duplicate(Ub(0), 1.0f, 1024);
    // Every repeat writes what the next one reads.
    Adds(Ub(kBroken ? 256 : 8192), Ub(0), 1.0f, 64, 4, UnaryRepeatParams(1, 1, 8, 8)); // here
}

DEFECT(destination_over_half_a_source, "operand-overlap", 1)
{
    Duplicate(Ub(0), 1.0f, 1024);
    Add(Ub(kBroken ? 128 : 0), Ub(0), Ub(2048), 256); // here
}

DEFECT(padding_wider_than_a_block, "bad-argument", 1)
{
    const uint8_t right = kBroken ? 9 : 7;
    DataCopyPad(Ub(0), m.x, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, right, 0.0f)); // here
}

DEFECT(buffers_of_a_queue_none, "bad-argument", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, kBroken ? 0 : 1, 1024); // here
}
