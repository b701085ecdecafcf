// Several vector cores: shares and their borders, order among cores, workspaces that all use, lines of the cache.
#include <defect.h>

/// Cleared flags for IBSet and IBWait at an element of the workspace.
ASC_API GlobalTensor<int32_t> ClearedFlags(const Memory& m, uint32_t at, uint32_t words, int32_t value = 0)
{
    auto flags = m.w[at].ReinterpretCast<int32_t>();
    auto zero = Ub<int32_t>(128 * 1024, words);
    if (m.block == 0) {
        Duplicate(zero, value, static_cast<int32_t>(words));
        Order<V_MTE3>();
        DataCopy(flags, zero, words);
    }
    SyncAll();
    return flags;
}

// The remainder is for the last core only, and every core takes it.
DEFECT(remainder_taken_by_every_core, "cross-core-race", 3)
{
    constexpr uint32_t total = 744, each = 240;
    const bool last = m.block + 1 == m.blocks;
    const uint32_t tail = total - each * m.blocks;
    const uint32_t count = each + (last || kBroken ? tail : 0);
    auto x = Ub(0, count), y = Ub(4096, count);
    DataCopy(x, m.x[m.block * each], count);
    DataCopy(y, m.y[m.block * each], count);
    Order<MTE2_V>();
    Add(x, x, y, count);
    Adds(x, x, static_cast<float>(m.block), count);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * each], x, count); // here
}

// The part's place is given in bytes where the tensor counts elements.
DEFECT(part_placed_by_bytes, "out-of-bounds-gm", 8)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    const uint32_t offset = m.block * 256 * (kBroken ? sizeof(float) : 1);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x[offset], 256); // here
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = out.AllocTensor<float>();
    Exp(y, x, 256);
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(m.MyZ(), y, 256);
    out.FreeTensor(y);
}

// A chain of cores: what the core before has added up is fetched ahead of the wait for it.
DEFECT(carry_fetched_ahead_of_the_wait, "cross-core-race", 4)
{
    auto note = Ub<int32_t>(8192, 8);
    auto x = Ub(0, 64), carry = Ub(1024, 64);
    auto flags = ClearedFlags(m, 512, 64);
    DataCopy(x, m.x[m.block * 64], 64);
    if (m.block > 0) {
        if (!kBroken) IBWait(flags, note, m.block - 1, 0);
        DataCopy(carry, m.w[(m.block - 1) * 64], 64);
        if (kBroken) IBWait(flags, note, m.block - 1, 0);
    }
    Order<MTE2_V>();
    if (m.block > 0) Add(x, x, carry, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64); // here
    DataCopy(m.MyZ(), x, 64);
    if (m.block + 1 < m.blocks) IBSet(flags, note, m.block, 0);
}

// A row of scratch has eight numbers more than it had, the distance of the rows has not.
DEFECT(scratch_row_longer_than_the_distance, "cross-core-race", 4)
{
    constexpr uint32_t row = 72, distance = kBroken ? 64 : 72;
    auto x = Ub(0, row), back = Ub(1024, row);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, 64);
    Duplicate(x[64], static_cast<float>(m.block + 1), 8);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * distance], x, row); // here
    SyncAll();
    DataCopy(back, m.w[m.block * distance], row);
    Order<MTE2_V>();
    Relu(back, back, row);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), back, row);
}

// The flag for all cores is set behind the loads, not behind the stores that the others wait for.
DEFECT(flag_set_behind_the_loads, "cross-core-race", 4)
{
    auto x = Ub(0, 64), other = Ub(1024, 64);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Exp(x, x, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64); // here
    CrossCoreSetFlag<0, kBroken ? PIPE_MTE2 : PIPE_MTE3>(4);
    CrossCoreWaitFlag(4);
    DataCopy(other, m.w[(m.block + 1) % m.blocks * 64], 64);
    Order<MTE2_V>();
    Add(other, other, x, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), other, 64);
}

// Smoothed parts go back to their place while neighbours still fetch the old values at the border.
DEFECT(border_overwritten_under_the_neighbours, "cross-core-race", 4)
{
    auto part = Ub(0, 64), wide = Ub(1024, 72), smooth = Ub(2048, 64);
    DataCopy(part, m.x[m.block * 64], 64);
    Order<MTE2_MTE3>();
    DataCopy(m.w[m.block * 64], part, 64);
    SyncAll();
    DataCopy(wide, m.w[m.block == 0 ? 0 : m.block * 64 - 8], 72);
    Order<MTE2_V>();
    Muls(wide, wide, 0.5f, 72);
    Add(smooth, wide, wide[8], 64);
    if (!kBroken) SyncAll();
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], smooth, 64); // here
    DataCopy(m.MyZ(), smooth, 64);
}

// Two halves of the workspace by turns save a second meeting each round; here two rounds in a row get the same half.
DEFECT(same_half_two_rounds_in_a_row, "cross-core-race", 4)
{
    auto mine = Ub(0, 64), all = Ub(1024), sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    for (uint32_t round = 0; round < 4; ++round) {
        const uint32_t half = (kBroken ? round >> 1 : round) & 1;
        auto shared = m.w[half * 256];
        DataCopy(mine, m.x[(round * m.blocks + m.block) * 64], 64);
        Order<MTE2_MTE3>();
        DataCopy(shared[m.block * 64], mine, 64); // here
        SyncAll();
        DataCopy(all, shared, 256);
        Order<MTE2_V>();
        Add(sum, sum, all, 256);
        Order<V_MTE2>();
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// Every core takes the total as soon as it has added its own part to it.
DEFECT(total_taken_after_the_own_part, "cross-core-race", 4)
{
    auto x = Ub(0, 64), total = Ub(1024, 64);
    if (m.block == 0) {
        Duplicate(total, 0.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.w, total, 64);
    }
    SyncAll();
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.w, x, 64); // here
    SetAtomicNone();
    Order<MTE3_MTE2>();
    if (!kBroken) SyncAll();
    DataCopy(total, m.w, 64);
    Order<MTE2_V>();
    Sub(x, total, x, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// The first core adds up behind one meeting; the others scale by its sum without a second one.
DEFECT(scaled_by_a_sum_without_a_second_meeting, "cross-core-race", 4)
{
    auto x = Ub(0), part = Ub(1024, 8), work = Ub(2048), all = Ub(4096, 32), total = Ub(5120, 8);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    Duplicate(part, 0.0f, 8);
    ReduceSum(part, x, work, 256);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], part, 8);
    SyncAll();
    if (m.block == 0) {
        DataCopy(all, m.w, 32);
        Order<MTE2_V>();
        ReduceSum(part, all, work, 32);
        Order<V_MTE3>();
        DataCopy(m.w[64], part, 8); // here
        Order<MTE3_MTE2>();
    }
    if (!kBroken) SyncAll();
    DataCopy(total, m.w[64], 8);
    Order<MTE2_V>();
    Muls(x, x, total.GetValue(0), 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// The end of a part is counted in, and is the next part's first row.
DEFECT(end_of_a_part_counted_in, "cross-core-race", 4)
{
    constexpr uint32_t rows = 16, each = 4;
    const uint32_t first = m.block * each;
    const uint32_t end = first + each < rows ? first + each - (kBroken ? 0 : 1) : rows - 1;
    for (uint32_t row = first; row <= end; ++row) {
        auto x = Ub((row - first) * 256, 64);
        DataCopy(x, m.x[row * 64], 64);
        Order<MTE2_V>();
        Adds(x, x, static_cast<float>(m.block), 64);
        Order<V_MTE3>();
        DataCopy(m.z[row * 64], x, 64); // here
    }
}

// All meet once a tile, and not all have as many tiles.
DEFECT(meets_once_for_each_of_its_tiles, "deadlock", 3)
{
    constexpr uint32_t tiles = 7;
    const uint32_t rounds = (tiles + m.blocks - 1) / m.blocks;
    const uint32_t mine = (tiles - m.block + m.blocks - 1) / m.blocks;
    auto x = Ub(0, 64);
    for (uint32_t round = 0; round < (kBroken ? mine : rounds); ++round) {
        if (round < mine) {
            const uint32_t tile = round * m.blocks + m.block;
            DataCopy(x, m.x[tile * 64], 64);
            Order<MTE2_V>();
            Relu(x, x, 64);
            Order<V_MTE3>();
            DataCopy(m.z[tile * 64], x, 64);
        }
        SyncAll(); // here
    }
}

// One note for two that wait: the first who reads it takes it away.
DEFECT(one_note_for_two_readers, "deadlock", 3)
{
    auto x = Ub(0, 64);
    auto note = Ub<int32_t>(8192, 8);
    auto flags = ClearedFlags(m, 512, 64);
    if (m.block == 0) {
        DataCopy(x, m.x, 64);
        Order<MTE2_V>();
        Exp(x, x, 64);
        Order<V_MTE3>();
        DataCopy(m.w, x, 64);
        IBSet(flags, note, 0, 0);
        if (!kBroken) IBSet(flags, note, 0, 1);
    } else {
        IBWait(flags, note, 0, kBroken ? 0 : m.block - 1); // here
        DataCopy(x, m.w, 64);
        Order<MTE2_V>();
        Muls(x, x, 2.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ(), x, 64);
    }
}

// A flag of all cores comes when all have set it; here only the one that has something to tell does.
DEFECT(only_the_teller_sets_the_flag, "deadlock", 4)
{
    auto x = Ub(0), table = Ub(1024), made = Ub(2048);
    if (m.block == 0) {
        DataCopy(made, m.y, 256);
        Order<MTE2_V>();
        Exp(made, made, 256);
        Order<V_MTE3>();
        DataCopy(m.w, made, 256);
    }
    if (!kBroken || m.block == 0) CrossCoreSetFlag<0, PIPE_MTE3>(5);
    CrossCoreWaitFlag(5); // here
    DataCopy(x, m.x[m.block * 256], 256);
    DataCopy(table, m.w, 256);
    Order<MTE2_V>();
    Mul(x, x, table, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// A ring in which everybody waits for the one before first and tells the next one afterwards.
DEFECT(ring_waits_before_it_tells, "deadlock", 4)
{
    auto x = Ub(0, 64), other = Ub(1024, 64);
    auto note = Ub<int32_t>(8192, 8);
    auto flags = ClearedFlags(m, 512, 64);
    const uint32_t before = (m.block + m.blocks - 1) % m.blocks;
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64);
    if (!kBroken) IBSet(flags, note, m.block, 0);
    IBWait(flags, note, before, 0); // here
    if (kBroken) IBSet(flags, note, m.block, 0);
    DataCopy(other, m.w[before * 64], 64);
    Order<MTE2_V>();
    Add(other, other, x, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), other, 64);
}

// The greatest of each core is written by the scalar unit, all of them into one line of the cache.
DEFECT(results_side_by_side_in_one_line, "cross-core-race", 4)
{
    constexpr uint32_t distance = kBroken ? 1 : 16;
    auto x = Ub(0), part = Ub(1024, 8), work = Ub(2048);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    ReduceMax(part, x, work, 256);
    m.w.SetValue(m.block * distance, part.GetValue(0)); // here
    CleanLine(m.w[m.block * distance]);
    SyncAll();
    if (m.block == 0) {
        float best = m.w.GetValue(0);
        for (uint32_t core = 1; core < m.blocks; ++core) {
            const float its = m.w.GetValue(core * distance);
            best = its > best ? its : best;
        }
        Duplicate(x, best, 256);
        Order<V_MTE3>();
        DataCopy(m.z, x, 256);
    }
}

// The factor is read again after the first core has changed it, from a line of the cache that still has the old one.
DEFECT(factor_read_again_from_the_cache, "stale-cache-line", 3)
{
    auto x = Ub(0), factor = Ub(4096, 8);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    for (uint32_t step = 0; step < 2; ++step) {
        if (m.block == 0) {
            Duplicate(factor, 2.0f - static_cast<float>(step), 8);
            Order<V_MTE3>();
            DataCopy(m.w, factor, 8);
        }
        SyncAll();
        if (!kBroken) CleanLine(m.w);
        Muls(x, x, m.w.GetValue(0), 256); // here
        SyncAll();
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// Twenty numbers written by the scalar unit lie in two lines of the cache, one of which is written back.
DEFECT(second_line_not_written_back, "stale-cache-line", 4)
{
    auto mine = m.MyW();
    for (uint32_t i = 0; i < 20; ++i) {
        mine.SetValue(i, m.x.GetValue(m.block * 20 + i) * 2.0f);
    }
    CleanLine(mine);
    if (!kBroken) CleanLine(mine[16]);
    SyncAll();
    auto next = m.w[(m.block + 1) % m.blocks * 256];
    auto x = Ub(0, 24);
    DataCopyPad(x, next, DataCopyExtParams(1, 80, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f)); // here
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 24);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 24);
}

// Adding stays switched on from the common sums to what each core keeps for itself.
DEFECT(adding_left_on_for_the_next_store, "uninitialised-read?", 4)
{
    auto x = Ub(0, 64), zero = Ub(1024, 64);
    if (m.block == 0) {
        Duplicate(zero, 0.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.z, zero, 64);
    }
    SyncAll();
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Muls(x, x, 0.25f, 64);
    Order<V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.z, x, 64);
    if (!kBroken) SetAtomicNone();
    DataCopy(m.MyW(), x, 64); // here
    SetAtomicNone();
}

// Four of six cores have a part; the sums of all six are added up.
DEFECT(sums_of_idle_cores_added_up, "uninitialised-read?", 6)
{
    constexpr uint32_t used = 4;
    auto x = Ub(0), part = Ub(1024, 8), work = Ub(2048), all = Ub(4096, 64);
    if (m.block < used) {
        DataCopy(x, m.x[m.block * 256], 256);
        Order<MTE2_V>();
        Duplicate(part, 0.0f, 8);
        ReduceSum(part, x, work, 256);
        Order<V_MTE3>();
        DataCopy(m.w[m.block * 8], part, 8);
    }
    SyncAll();
    if (m.block != 0) return;
    const uint32_t cores = kBroken ? static_cast<uint32_t>(GetBlockNum()) : used;
    DataCopy(all, m.w, cores * 8); // here
    Order<MTE2_V>();
    ReduceSum(part, all, work, static_cast<int32_t>(cores * 8));
    Order<V_MTE3>();
    DataCopy(m.z, part, 8);
}

// The last core's tile is shorter than the others', and is summed at full length.
DEFECT(short_tile_summed_at_full_length, "uninitialised-read?", 4)
{
    constexpr uint32_t total = 1000, tile = 256;
    const uint32_t rest = total - m.block * tile;
    const int32_t count = rest < tile ? rest : tile;
    TPipe pipe;
    InQueue in;
    OutQueue out;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(in, 1, tile * sizeof(float));
    pipe.InitBuffer(out, 1, 32);
    pipe.InitBuffer(work, 1024);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x[m.block * tile], count);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto sum = out.AllocTensor<float>();
    ReduceSum(sum, x, work.Get<float>(), kBroken ? static_cast<int32_t>(tile) : count); // here
    in.FreeTensor(x);
    out.EnQue(sum);
    sum = out.DeQue<float>();
    DataCopyPad(m.MyZ(), sum, DataCopyExtParams(1, 4, 0, 0, 0));
    out.FreeTensor(sum);
}

// The software form of the meeting counts in a workspace that holds something else.
DEFECT(meeting_counts_in_garbage, "bad-argument", 4)
{
    auto x = Ub(0, 64), other = Ub(1024, 64);
    auto rounds = ClearedFlags(m, 512, 32, kBroken ? 1 : 0);
    auto note = Ub<int32_t>(8192, 32);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Relu(x, x, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64);
    SyncAll(rounds, note); // here
    DataCopy(other, m.w[(m.block + 1) % m.blocks * 64], 64);
    Order<MTE2_V>();
    Max(x, x, other, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Rows are dealt to and fro; on the way back the first core's row is one too far.
DEFECT(dealt_one_row_too_far_on_the_way_back, "out-of-bounds-gm", 4)
{
    for (uint32_t round = 0; round < 4; ++round) {
        const uint32_t back = m.blocks - (kBroken ? 0 : 1) - m.block;
        const uint32_t row = round * m.blocks + (round % 2 == 0 ? m.block : back);
        auto x = Ub(round * 256, 64);
        DataCopy(x, m.x[row * 64], 64);
        Order<MTE2_V>();
        Muls(x, x, 2.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.z[row * 64], x, 64); // here
    }
}

// Passes by turns between two buffers: the second pass writes where the first has read, and that is the input.
DEFECT(turns_back_into_the_input, "input-overwritten?", 2)
{
    GlobalTensor<float> from = m.x[m.block * 256], to = m.MyW();
    for (uint32_t pass = 0; pass < 2; ++pass) {
        auto x = Ub(pass * 1024);
        DataCopy(x, from, 256);
        Order<MTE2_V>();
        Relu(x, x, 256);
        Order<V_MTE3>();
        DataCopy(to, x, 256); // here
        Order<MTE3_MTE2>();
        const auto read = from;
        from = to;
        to = kBroken ? read : m.MyZ();
    }
}

// Eight rows for three cores: the division leaves two of them to nobody.
OUTPUT_DEFECT(rows_left_over_by_the_division, "unwritten-output", 3)
{
    constexpr uint32_t rows = 8, width = 96;
    const uint32_t each = kBroken ? rows / m.blocks : (rows + m.blocks - 1) / m.blocks;
    const uint32_t first = m.block * each;
    const uint32_t end = first + each < rows ? first + each : rows;
    for (uint32_t row = first; row < end; ++row) {
        auto x = Ub((row - first) * 512, width);
        DataCopy(x, m.x[row * width], width);
        Order<MTE2_V>();
        Exp(x, x, width);
        Order<V_MTE3>();
        DataCopy(m.z[row * width], x, width); // here
    }
}

// The tail behind all parts is left to a core that the launch does not have.
OUTPUT_DEFECT(tail_for_a_core_that_is_not_there, "unwritten-output", 4)
{
    constexpr uint32_t total = 1024, each = 248;
    auto x = Ub(0, each), tail = Ub(2048, 32);
    DataCopy(x, m.x[m.block * each], each);
    Order<MTE2_V>();
    Muls(x, x, 3.0f, each);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * each], x, each); // here
    if (m.block == m.blocks - (kBroken ? 0 : 1)) {
        DataCopy(tail, m.x[each * m.blocks], total - each * m.blocks);
        Order<MTE2_V>();
        Muls(tail, tail, 3.0f, total - each * m.blocks);
        Order<V_MTE3>();
        DataCopy(m.z[each * m.blocks], tail, total - each * m.blocks);
    }
}

// In place: the last tile begins earlier to be a whole one, and fetches again what the tile before is still storing.
DEFECT(last_tile_moved_back_into_the_one_before, "race", 2)
{
    auto part = m.MyW();
    auto x = Ub(0, 200);
    DataCopy(x, m.x[m.block * 200], 200);
    Order<MTE2_MTE3>();
    DataCopy(part, x, 200);
    Order<MTE3_MTE2>();
    for (uint32_t tile = 0; tile < 2; ++tile) {
        const uint32_t at = tile == 0 ? 0 : 200 - 128;
        auto piece = Ub(1024 + tile * 512, 128);
        if (!kBroken && tile > 0) Order<MTE3_MTE2>();
        DataCopy(piece, part[at], 128); // here
        Order<MTE2_V>();
        Relu(piece, piece, 128);
        Order<V_MTE3>();
        DataCopy(part[at], piece, 128);
        DataCopy(m.MyZ()[at], piece, 128);
    }
}

// The flag of all cores is set once a tile and waited for once: it is still set when the next kernel begins.
DEFECT(cores_flag_set_oftener_than_waited_for, "flag-misuse?", 2)
{
    auto other = Ub(4096, 64);
    for (uint32_t tile = 0; tile < 3; ++tile) {
        auto x = Ub(tile * 256, 64);
        DataCopy(x, m.x[(tile * m.blocks + m.block) * 64], 64);
        Order<MTE2_V>();
        Muls(x, x, 2.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.MyW()[tile * 64], x, 64);
        CrossCoreSetFlag<0, PIPE_MTE3>(6); // here
        if (!kBroken || tile == 0) CrossCoreWaitFlag(6);
    }
    DataCopy(other, m.w[(m.block + 1) % m.blocks * 256], 64);
    Order<MTE2_V>();
    Exp(other, other, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), other, 64);
}

// Four numbers of each core are put side by side, in half blocks of 32 bytes.
DEFECT(half_blocks_side_by_side, "misaligned", 4)
{
    constexpr uint32_t step = kBroken ? 4 : 8;
    auto x = Ub(0, 8), all = Ub(1024, 32);
    DataCopy(x, m.x[m.block * 8], 8);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, 8);
    Order<V_MTE3>();
    DataCopyPad(m.w[m.block * 4], x, DataCopyExtParams(1, 16, 0, 0, 0));
    SyncAll();
    if (m.block != 0) return;
    for (uint32_t core = 0; core < m.blocks; ++core) {
        const DataCopyPadExtParams<float> pad(true, 0, 4, 0.0f);
        DataCopyPad(all[core * step], m.w[core * 4], DataCopyExtParams(1, 16, 0, 0, 0), pad); // here
    }
    Order<MTE2_V>();
    Exp(all, all, 4 * step);
    Order<V_MTE3>();
    DataCopy(m.z, all, 4 * step);
}

// Room for the sums of four cores, in a launch of six.
DEFECT(room_for_the_sums_of_fewer_cores, "out-of-bounds-ub", 6)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> sums, part;
    pipe.InitBuffer(sums, (kBroken ? 4 : m.blocks) * 32);
    pipe.InitBuffer(part, 1024);
    auto all = sums.Get<float>();
    auto x = part.Get<float>();
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 256);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], x, 8);
    SyncAll();
    DataCopy(all, m.w, m.blocks * 8); // here
    Order<MTE2_V>();
    Exp(all, all, 32);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), all, 32);
}

// Differences of numbers that lie eight apart, written over the row that they are taken from.
DEFECT(differences_over_their_own_row, "operand-overlap", 3)
{
    auto x = Ub(0), apart = Ub(2048, 248);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    auto to = kBroken ? x[8] : apart;
    Sub(to, x[8], x, 248); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), to, 248);
}
