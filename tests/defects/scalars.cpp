// The scalar unit beside the pipes: in the Unified Buffer, and through its data cache in global memory.
// Where the vector unit and the scalar unit meet (three kernels), one may hold that the compiler orders them.
#include <defect.h>

constexpr HardEvent S_MTE2 = HardEvent::S_MTE2, S_MTE3 = HardEvent::S_MTE3, MTE3_S = HardEvent::MTE3_S;
constexpr uint32_t kOut = 65536;

// The maximum is looked at while it is being computed.
DEFECT(maximum_looked_at_too_early, "race", 1)
{
    DataCopy(Ub(0), m.x, 64);
    Order<MTE2_V>();
    WholeReduceMax(Ub(kOut), Ub(0), 64, 1, 1, 1, 8);
    if (!kBroken) Order<V_S>();
    const float maximum = Ub(kOut).GetValue(0); // here
    Adds(Ub(kOut + 1024), Ub(0), -maximum, 64);
}

// DeQue of an input queue makes the vector unit wait, not the scalar unit.
DEFECT(index_of_a_queue_read_by_the_scalar_unit, "race", 1)
{
    TPipe pipe;
    InQueue indices, rows;
    pipe.InitBuffer(indices, 1, 32);
    pipe.InitBuffer(rows, 1, 256);
    auto index = indices.AllocTensor<int32_t>();
    DataCopy(index, m.y.ReinterpretCast<int32_t>(), 8);
    indices.EnQue(index);
    index = indices.DeQue<int32_t>();
    if (!kBroken) Order<MTE2_S>(pipe.FetchEventID(MTE2_S));
    const int32_t at = index.GetValue(3); // here
    indices.FreeTensor(index);
    auto row = rows.AllocTensor<float>();
    DataCopy(row, m.x[(at & 15) * 64], 64);
    rows.EnQue(row);
    row = rows.DeQue<float>();
    Relu(Ub(kOut), row, 64);
    rows.FreeTensor(row);
}

// Lengths by the scalar unit, copied out at once.
DEFECT(lengths_copied_out_while_they_are_stored, "race", 1)
{
    auto lengths = Ub<int32_t>(kOut, 8);
    for (uint32_t i = 0; i < 8; ++i) lengths.SetValue(i, static_cast<int32_t>(i * 3));
    if (!kBroken) Order<S_MTE3>();
    DataCopy(m.z.ReinterpretCast<int32_t>(), lengths, 8); // here
}

// Offsets by the scalar unit, gathered by at once.
DEFECT(offsets_used_while_they_are_stored, "race", 1)
{
    DataCopy(Ub(0), m.x, 64);
    auto offsets = Ub<uint32_t>(4096, 64);
    for (uint32_t i = 0; i < 64; ++i) offsets.SetValue(i, (63 - i) * 4);
    Order<MTE2_V>();
    if (!kBroken) Order<S_V>();
    Gather(Ub(kOut, 64), Ub(0), offsets, 0, 64); // here
}

// One staging block for all rows, filled again while the last row's is on its way out.
DEFECT(staging_block_refilled_too_early, "race", 1)
{
    for (uint32_t row = 0; row < 3; ++row) {
        for (uint32_t i = 0; i < 8; ++i) {
            Ub(kOut, 8).SetValue(i, static_cast<float>(row + i)); // here
        }
        Order<S_MTE3>(static_cast<int32_t>(row));
        DataCopy(m.z[row * 8], Ub(kOut, 8), 8);
        if (!kBroken) Order<MTE3_S>(static_cast<int32_t>(row));
    }
}

// An outlier is cut off in place while the vector unit still reads the tile.
DEFECT(patched_under_the_vector_unit, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    Order<MTE2_S>();
    Adds(Ub(kOut), Ub(0), 1.0f, 256);
    if (!kBroken) Order<V_S>();
    Ub(0).SetValue(0, 0.0f); // here
}

// A word for the copy in, still in the data cache.
DEFECT(copied_in_past_the_data_cache, "stale-cache-line", 1)
{
    for (uint32_t i = 0; i < 8; ++i) m.w.SetValue(i, 1.0f);
    if (!kBroken) CleanLine(m.w);
    Order<S_MTE2>();
    DataCopy(Ub(0), m.w, 8); // here
}

// 32 words are two lines; one is written back.
DEFECT(only_the_first_line_written_back, "stale-cache-line", 1)
{
    for (uint32_t i = 0; i < 32; ++i) m.w.SetValue(i, 1.0f);
    CleanLine(m.w);
    if (!kBroken) CleanLine(m.w[16]);
    Order<S_MTE2>();
    DataCopy(Ub(0), m.w, 32); // here
}

// The scalar unit reads back what the copy out has not written yet.
DEFECT(result_read_back_before_it_is_out, "race", 1)
{
    Duplicate(Ub(0), 3.0f, 8);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), 8);
    if (!kBroken) Order<MTE3_S>();
    CleanLine(m.z);
    const float value = m.z.GetValue(0); // here
    Duplicate(Ub(kOut), value, 8);
}

// The line was read before; the copy out changes memory and not the cache.
DEFECT(result_read_back_from_an_old_line, "stale-cache-line", 1)
{
    float sum = 0.0f;
    for (int32_t round = 0; round < 2; ++round) {
        Duplicate(Ub(round * 32), 1.0f, 8);
        Order<V_MTE3>(round);
        DataCopy(m.z, Ub(round * 32), 8);
        Order<MTE3_S>(round);
        if (!kBroken) CleanLine(m.z);
        sum += m.z.GetValue(0); // here
    }
    Duplicate(Ub(kOut), sum, 8);
}

// The flag of the queue was set before the scalar unit changed the first element.
DEFECT(first_element_changed_behind_the_queue, "race", 1)
{
    TPipe pipe;
    OutQueue out;
    pipe.InitBuffer(out, 1, 256);
    auto y = out.AllocTensor<float>();
    Duplicate(y, 1.0f, 64);
    out.EnQue(y);
    y = out.DeQue<float>();
    Order<V_S>(pipe.FetchEventID(V_S));
    y.SetValue(0, 0.0f);
    if (!kBroken) Order<S_MTE3>(pipe.FetchEventID(S_MTE3));
    DataCopy(m.z, y, 64); // here
    out.FreeTensor(y);
}

// A line with a word of the scalar unit is written back over what a copy out has stored next to that word.
DEFECT(line_written_back_over_a_copy_out, "stale-cache-line?", 1)
{
    Duplicate(Ub(0), 1.0f, 8);
    m.z.SetValue(0, 7.0f);
    if (!kBroken) CleanLine(m.z);
    Order<S_MTE3>();
    Order<V_MTE3>();
    DataCopy(m.z[8], Ub(0), 8); // here
    Order<MTE3_S>();
    if (kBroken) CleanLine(m.z);
}

// The scalar unit waits for the first list of rows only.
DEFECT(waited_for_the_first_list_only, "race", 1)
{
    const GlobalTensor<int32_t> lists = m.y.ReinterpretCast<int32_t>();
    for (int32_t list = 0; list < 2; ++list) {
        DataCopy(Ub<int32_t>(list * 32, 8), lists[list * 8], 8);
        if (!kBroken || list == 0) Order<MTE2_S>(list);
        const int32_t row = Ub<int32_t>(list * 32, 8).GetValue(0) & 7; // here
        DataCopy(Ub(kOut + list * 256), m.x[row * 64], 64);
    }
    Order<MTE2_V>();
    Add(Ub(kOut), Ub(kOut), Ub(kOut + 256), 64);
}

// A share for each core but the first, where the first is alone: a device goes on with whatever its scalar unit makes of it.
DEFECT(shared_among_no_cores, "division-by-zero", 1)
{
    const uint32_t share = 64 / (kBroken ? m.blocks - 1 : m.blocks); // here
    DataCopy(Ub(0), m.x, 64);
    Order<MTE2_V>();
    Adds(Ub(kOut), Ub(0), static_cast<float>(share), 64);
}
