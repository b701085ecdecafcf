// Tables: looked up by offsets, sorted, selected by bits, and kept by the scalar unit in global memory.
#include <defect.h>

constexpr uint32_t kOut = 65536;
constexpr HardEvent S_MTE2 = HardEvent::S_MTE2;

// Offsets of the second half of a table are counted from its middle, the base as well.
DEFECT(base_added_twice, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> table, places, result;
    pipe.InitBuffer(table, 1024);
    pipe.InitBuffer(places, 256);
    pipe.InitBuffer(result, 256);
    auto x = table.Get<float>();
    auto at = places.Get<int32_t>();
    DataCopy(x, m.x, 256);
    Duplicate(result.Get<float>(), 0.0f, 64);
    CreateVecIndex(at, 0, 64);
    Muls(at, at, 4, 64);
    if (kBroken) Adds(at, at, 512, 64);
    Order<MTE2_V>();
    Gather(result.Get<float>(), x, at.ReinterpretCast<uint32_t>(), 768, 64u); // here
}

// A row of the table is updated and read again by the same core for an equal index.
DEFECT(equal_index_read_before_its_update, "race", 1)
{
    for (int32_t i = 0; i < 3; ++i) {
        auto row = Ub(static_cast<uint32_t>(i) * 1024, 64);
        DataCopy(row, m.x[64], 64); // here
        Order<MTE2_V>(i);
        Adds(row, row, 1.0f, 64);
        Order<V_MTE3>(i);
        DataCopy(m.x[64], row, 64);
        if (!kBroken) Order<MTE3_MTE2>(i);
    }
}

// Sorted runs of 32 are merged by four, three of them are there.
DEFECT(merged_with_a_run_that_is_not_there, "uninitialised-read?", 1)
{
    const uint32_t runs = kBroken ? 3 : 4;
    auto index = Ub<uint32_t>(2048, 128);
    DataCopy(Ub(0), m.x, 128);
    Order<MTE2_V>();
    CreateVecIndex(index.ReinterpretCast<int32_t>(), 0, 128);
    Sort32(Ub(4096), Ub(0), index, static_cast<int32_t>(runs));
    const uint16_t lengths[4] = {32, 32, 32, 32};
    MrgSort4Info info(lengths, false, 15, 1);
    MrgSortSrcList<float> lists(Ub(4096), Ub(4096 + 256), Ub(4096 + 512), Ub(4096 + 768));
    MrgSort(Ub(kOut), lists, info); // here
}

// Pairs of value and index are merged where there is room for the values.
DEFECT(merged_into_the_room_of_values, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> values, indices, pairs, merged, next;
    pipe.InitBuffer(values, 512);
    pipe.InitBuffer(indices, 512);
    pipe.InitBuffer(pairs, 1024);
    pipe.InitBuffer(merged, kBroken ? 512 : 1024);
    pipe.InitBuffer(next, 512);
    Duplicate(values.Get<float>(), 1.0f, 128);
    Duplicate(next.Get<float>(), 1.0f, 128);
    CreateVecIndex(indices.Get<int32_t>(), 0, 128);
    auto runs = pairs.Get<float>();
    Sort32(runs, values.Get<float>(), indices.Get<uint32_t>(), 4);
    const uint16_t lengths[4] = {32, 32, 32, 32};
    MrgSort(merged.Get<float>(), MrgSortSrcList<float>(runs, runs[64], runs[128], runs[192]), MrgSort4Info(lengths, false, 15, 1)); // here
}

// Three runs were sorted, four are taken apart into values and indices.
DEFECT(taken_apart_one_run_too_many, "uninitialised-read?", 1)
{
    auto index = Ub<uint32_t>(2048, 128);
    DataCopy(Ub(0), m.x, 128);
    Order<MTE2_V>();
    CreateVecIndex(index.ReinterpretCast<int32_t>(), 0, 128);
    Sort32(Ub(4096), Ub(0), index, kBroken ? 3 : 4);
    Extract(Ub(kOut), Ub<uint32_t>(kOut + 2048), Ub(4096), 4); // here
    Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), 96);
}

// A table is stored by one core's scalar unit; the other core, which copies it in, drops the lines of its own cache.
DEFECT(cleaned_by_the_reader, "stale-cache-line", 2)
{
    GlobalTensor<int32_t> table = m.w.ReinterpretCast<int32_t>();
    if (m.block == 0) {
        for (uint32_t i = 0; i < 8; ++i) table.SetValue(i, static_cast<int32_t>(i));
        if (!kBroken) CleanLine(table);
    }
    SyncAll();
    if (m.block == 1) {
        if (kBroken) CleanLine(table);
        Order<S_MTE2>();
        DataCopy(Ub<int32_t>(0, 8), table, 8); // here
    }
}

// One word of a line was read before another core copied out its neighbour, which is read next.
DEFECT(neighbour_in_a_line_kept, "stale-cache-line", 2)
{
    GlobalTensor<int32_t> counts = m.x.ReinterpretCast<int32_t>();
    int32_t sum = 0;
    if (m.block == 0) sum += counts.GetValue(0);
    SyncAll();
    if (m.block == 1) {
        Duplicate(Ub<int32_t>(0, 8), 3, 8);
        Order<V_MTE3>();
        DataCopy(counts[8], Ub<int32_t>(0, 8), 8);
    }
    SyncAll();
    if (m.block == 0) {
        if (!kBroken) CleanLine(counts);
        sum += counts.GetValue(8); // here
        Duplicate(Ub<int32_t>(1024, 8), sum, 8);
    }
}

// Five indices were copied in, to a block of eight; the ninth is in a block that nothing was copied to.
DEFECT(ninth_of_five_indices, "uninitialised-read", 1)
{
    auto list = Ub<int32_t>(0, 16);
    DataCopyPad(list, m.y.ReinterpretCast<int32_t>(), DataCopyExtParams(1, 20, 0, 0, 0),
                DataCopyPadExtParams<int32_t>(false, 0, 0, 0));
    Order<MTE2_S>();
    const uint32_t last = kBroken ? 9 : 5;
    for (uint32_t i = 0; i < last; ++i) {
        const int32_t row = list.GetValue(i) & 7; // here
        DataCopy(Ub(kOut + i * 256), m.x[row * 64], 64);
    }
}

// An index of the table's length is one past its end.
DEFECT(index_of_the_length_itself, "out-of-bounds-gm", 1)
{
    const uint32_t rows = Memory::kInput / 64;
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t row = kBroken ? rows - 1 + i : rows - 1;
        DataCopy(Ub(i * 256, 64), m.x[row * 64], 64); // here
    }
}

// Places to scatter to are counted for the whole output, which blocks have shares of.
DEFECT(scattered_over_the_share_of_another, "cross-core-race", 2)
{
    Duplicate(Ub(0, 8), static_cast<float>(m.block), 8);
    Order<V_MTE3>();
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t place = kBroken ? (i * 7 + m.block) % 8 : i;
        const GlobalTensor<float> to = kBroken ? m.z[place * 8] : m.MyZ()[place * 8];
        DataCopy(to, Ub(0, 8), 8); // here
    }
}

// Blocks of the table are gathered by offsets that nobody has computed.
DEFECT(blocks_gathered_by_half_the_offsets, "uninitialised-read", 1)
{
    auto at = Ub<int32_t>(4096, 16);
    DataCopy(Ub(0), m.x, 256);
    CreateVecIndex(at, 0, 8);
    Muls(at, at, 32, 8);
    Order<MTE2_V>();
    Gatherb(Ub<uint32_t>(kOut, 128), Ub<uint32_t>(0, 256), at.ReinterpretCast<uint32_t>(), kBroken ? 2 : 1, {1, 8}); // here
}
