// Several vector cores: partial results, all-gathers, barriers, lines of the data cache, shares that do not divide.
#include <defect.h>

// The sums of a split softmax go into the slots that other cores still read the maxima from.
DEFECT(softmax_sums_into_the_slots_of_the_maxima, "cross-core-race", 4)
{
    auto x = Ub(0, 64), part = Ub(512, 8), all = Ub(1024, 32), peak = Ub(2048, 8), total = Ub(2304, 8);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceMax(part, x, 1, 64, 1, 1, 8);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], part, 8);
    SyncAll();
    DataCopy(all, m.w, 32);
    Order<MTE2_V>();
    WholeReduceMax(peak, all, 32, 1, 1, 1, 8);
    Adds(x, x, -peak.GetValue(0), 64);
    Exp(x, x, 64);
    BlockReduceSum(part, x, 1, 64, 1, 1, 8);
    Order<V_MTE3>();
    const uint32_t sums = kBroken ? 0 : 32;
    DataCopy(m.w[sums + m.block * 8], part, 8); // here
    SyncAll();
    DataCopy(all, m.w[sums], 32);
    Order<MTE2_V>();
    WholeReduceSum(total, all, 32, 1, 1, 1, 8);
    Muls(x, x, 1.0f / total.GetValue(0), 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Counts of eight bins a core, written by the scalar unit: two cores' counts lie in one line of the cache.
DEFECT(bins_of_two_cores_in_one_line, "cross-core-race", 4)
{
    auto x = Ub(0, 64), part = Ub(512, 8);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceSum(part, x, 1, 64, 1, 1, 8);
    auto counts = m.z.ReinterpretCast<int32_t>()[m.block * (kBroken ? 8 : 16)];
    for (uint32_t bin = 0; bin < 8; ++bin) {
        counts.SetValue(bin, static_cast<int32_t>(part.GetValue(bin))); // here
    }
    CleanLine(counts);
}

// The winners of all cores are gathered by a copy, while they are still in the caches of those who wrote them.
DEFECT(winners_left_in_the_cache, "stale-cache-line", 4)
{
    auto x = Ub(0, 64), part = Ub(512, 8);
    auto all = Ub<int32_t>(1024, 32);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceMax(part, x, 1, 64, 1, 1, 8);
    auto winners = m.w.ReinterpretCast<int32_t>();
    for (uint32_t i = 0; i < 8; ++i) {
        winners.SetValue(m.block * 16 + i, static_cast<int32_t>(part.GetValue(i)));
    }
    if (!kBroken) CleanLine(winners[m.block * 16]);
    SyncAll();
    if (m.block == 0) {
        DataCopy(all, winners, DataCopyParams(4, 1, 1, 0)); // here
        Order<MTE2_V>();
        Adds(all, all, 1, 32);
        Order<V_MTE3>();
        DataCopy(m.z.ReinterpretCast<int32_t>(), all, 32);
    }
}

// A scale is read in every round; in the second the line of the first is still in the cache.
DEFECT(scale_of_the_round_before, "stale-cache-line", 2)
{
    auto scale = Ub(0, 16), x = Ub(1024, 64);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    for (uint32_t round = 0; round < 2; ++round) {
        if (m.block == 0) {
            Duplicate(scale, 1.0f + static_cast<float>(round), 16);
            Order<V_MTE3>();
            DataCopy(m.w, scale, 16);
        }
        SyncAll();
        if (!kBroken) CleanLine(m.w);
        const float factor = m.w.GetValue(0); // here
        Muls(x, x, factor, 64);
        SyncAll();
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// The flag is set by the pipe that reads, and says nothing of the copy out.
DEFECT(flag_on_the_pipe_that_reads, "cross-core-race", 3)
{
    auto x = Ub(0, 64), next = Ub(1024, 64);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64); // here
    if (kBroken) {
        CrossCoreSetFlag<0, PIPE_MTE2>(3);
    } else {
        CrossCoreSetFlag<0, PIPE_MTE3>(3);
    }
    CrossCoreWaitFlag(3);
    DataCopy(next, m.w[(m.block + 1) % m.blocks * 64], 64);
    Order<MTE2_V>();
    Add(next, next, x, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), next, 64);
}

// Accumulators are cleared by all cores together; each stops one block short of the next one's.
OUTPUT_DEFECT(accumulators_cleared_one_block_short, "uninitialised-read?", 4)
{
    auto zero = Ub(0), x = Ub(4096, 1024);
    Duplicate(zero, 0.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), zero, kBroken ? 248 : 256);
    DataCopy(x, m.x[m.block * 1024], 1024);
    Order<MTE2_V>();
    Muls(x, x, 0.25f, 1024);
    Order<V_MTE3>();
    SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.z, x, 1024); // here
    SetAtomicNone();
}

// Two tiles are added to the sums of all cores; the adding is switched off behind the first.
DEFECT(atomic_switched_off_behind_the_first_tile, "cross-core-race", 4)
{
    auto zero = Ub(0, 128), x = Ub(1024, 128);
    if (m.block == 0) {
        Duplicate(zero, 0.0f, 128);
        Order<V_MTE3>();
        DataCopy(m.z, zero, 128);
    }
    SyncAll();
    DataCopy(x, m.x[m.block * 128], 128);
    Order<MTE2_V>();
    Mul(x, x, x, 128);
    Order<V_MTE3>();
    SetAtomicAdd<float>();
    for (uint32_t tile = 0; tile < 2; ++tile) {
        DataCopy(m.z[tile * 64], x[tile * 64], 64); // here
        if (kBroken) SetAtomicNone();
    }
    SetAtomicNone();
}

// Seven rows on three cores, and a barrier in every round: one core has a round more.
DEFECT(barrier_in_rounds_that_not_all_have, "deadlock", 3)
{
    auto x = Ub(0, 64);
    const uint32_t rounds = kBroken ? (7 - m.block + 2) / 3 : 3;
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t row = round * 3 + m.block;
        if (row < 7) {
            DataCopy(x, m.x[row * 64], 64);
            Order<MTE2_V>();
            Sqrt(x, x, 64);
            Order<V_MTE3>();
            DataCopy(m.z[row * 64], x, 64);
        }
        SyncAll(); // here
    }
}

// Even and odd cores have a flag of their own, of a mode in which all cores have to set it.
DEFECT(flags_by_parity_of_the_core, "deadlock", 4)
{
    auto x = Ub(0, 64), other = Ub(1024, 64);
    const uint16_t id = static_cast<uint16_t>(kBroken ? 1 + m.block % 2 : 1);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Abs(x, x, 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], x, 64);
    CrossCoreSetFlag<0, PIPE_MTE3>(id);
    CrossCoreWaitFlag(id); // here
    DataCopy(other, m.w[(m.block + 2) % 4 * 64], 64);
    Order<MTE2_V>();
    Order<MTE3_V>();
    Max(x, x, other, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Rounds of passing on: the last tells of data that nobody waits for any more.
DEFECT(last_round_tells_nobody, "flag-misuse?", 2)
{
    auto x = Ub(0, 32), got = Ub(512, 32);
    DataCopy(x, m.x[m.block * 32], 32);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, 32);
    for (uint32_t tile = 0; tile < 3; ++tile) {
        if (tile > 0) {
            CrossCoreWaitFlag(5);
            DataCopy(got, m.w[((tile - 1) * 2 + 1 - m.block) * 32], 32);
            Order<MTE2_V>();
            Add(x, x, got, 32);
        }
        Order<V_MTE3>();
        DataCopy(m.w[(tile * 2 + m.block) * 32], x, 32);
        if (tile < 2 || kBroken) CrossCoreSetFlag<0, PIPE_MTE3>(5); // here
        Order<MTE3_V>();
        Order<V_MTE2>();
    }
    Muls(x, x, 0.25f, 32);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 32);
}

// 4096 numbers in seven shares, rounded up to 592: the last is shorter.
DEFECT(last_share_as_long_as_the_others, "out-of-bounds-gm", 7)
{
    constexpr uint32_t each = 592;
    auto x = Ub(0, each);
    const uint32_t left = Memory::kInput - m.block * each;
    const uint32_t count = !kBroken && left < each ? left : each;
    DataCopy(x, m.x[m.block * each], count); // here
    Order<MTE2_V>();
    Relu(x, x, static_cast<int32_t>(count));
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// Every core writes into the share of its neighbour in a ring; the last one's neighbour is not the first.
DEFECT(ring_that_does_not_close, "out-of-bounds-gm", 4)
{
    auto x = Ub(0), y = Ub(2048);
    DataCopy(x, m.x[m.block * 256], 256);
    DataCopy(y, m.y[m.block * 256], 256);
    Order<MTE2_V>();
    Sub(x, x, y, 256);
    Order<V_MTE3>();
    const uint32_t next = kBroken ? m.block + 1 : (m.block + 1) % m.blocks;
    DataCopy(m.z[next * 256], x, 256); // here
}

// Groups of 384 numbers dealt to cores; the number of groups is rounded down.
OUTPUT_DEFECT(last_group_dealt_to_nobody, "unwritten-output", 8)
{
    const uint32_t total = m.blocks * 256;
    const uint32_t groups = kBroken ? total / 384 : (total + 383) / 384;
    auto x = Ub(0, 384);
    for (uint32_t group = m.block; group < groups; group += m.blocks) {
        const uint32_t from = group * 384;
        const uint32_t count = total - from < 384 ? total - from : 384;
        DataCopy(x, m.x[from], count);
        Order<MTE2_V>();
        Adds(x, x, 1.0f, static_cast<int32_t>(count));
        Order<V_MTE3>();
        DataCopy(m.z[from], x, count); // here
    }
}

// Five of eight cores have data; the partial sums of all eight are added up.
DEFECT(partials_of_idle_cores, "uninitialised-read?", 8)
{
    auto x = Ub(0, 64), part = Ub(512, 8), all = Ub(1024, 64), sum = Ub(2048, 8);
    constexpr uint32_t busy = 5;
    if (m.block < busy) {
        DataCopy(x, m.x[m.block * 64], 64);
        Order<MTE2_V>();
        BlockReduceSum(part, x, 1, 64, 1, 1, 8);
        Order<V_MTE3>();
        DataCopy(m.w[m.block * 8], part, 8);
    }
    SyncAll();
    if (m.block == 0) {
        const uint32_t count = (kBroken ? m.blocks : busy) * 8;
        DataCopy(all, m.w, count); // here
        Order<MTE2_V>();
        WholeReduceSum(sum, all, static_cast<int32_t>(count), 1, 1, 1, 8);
        Order<V_MTE3>();
        DataCopyPad(m.z, sum, DataCopyExtParams(1, 4, 0, 0, 0));
    }
}

// Sums are passed on from core to core; the one before is waited for when its sum has been fetched already.
DEFECT(sum_fetched_before_its_core_is_waited_for, "cross-core-race", 4)
{
    auto x = Ub(0, 64), sum = Ub(512, 8), before = Ub(1024, 8);
    auto note = Ub<int32_t>(4096, 8);
    auto flags = m.w[512].ReinterpretCast<int32_t>();
    const int32_t self = static_cast<int32_t>(m.block);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceSum(sum, x, 1, 64, 1, 1, 8);
    if (m.block > 0) {
        if (!kBroken) IBWait(flags, note, self - 1, 0);
        PipeBarrier<PIPE_ALL>();
        DataCopy(before, m.w[(m.block - 1) * 8], 8);
        Order<MTE2_V>();
        Add(sum, sum, before, 8);
        if (kBroken) IBWait(flags, note, self - 1, 0);
    }
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], sum, 8); // here
    DataCopy(m.MyZ(), sum, 8);
    PipeBarrier<PIPE_ALL>();
    if (m.block + 1 < m.blocks) IBSet(flags, note, self, 0);
}

// Four numbers of each core are packed behind each other in the Unified Buffer.
DEFECT(gathered_every_sixteen_bytes, "misaligned", 4)
{
    auto x = Ub(0, 64), part = Ub(512, 8), all = Ub(1024, 32), sum = Ub(2048, 8);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceMax(part, x, 1, 64, 1, 1, 8);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], part, 8);
    SyncAll();
    const DataCopyExtParams four(1, 16, 0, 0, 0);
    const DataCopyPadExtParams<float> unpadded(false, 0, 0, 0.0f);
    for (uint32_t core = 0; core < 4; ++core) {
        DataCopyPad(all[core * (kBroken ? 4 : 8)], m.w[core * 8], four, unpadded); // here
    }
    Order<MTE2_V>();
    uint64_t lanes[2] = {kBroken ? 0xFFFFu : 0x0F0F0F0Fu, 0};
    WholeReduceSum(sum, all, lanes, 1, 1, 1, 8);
    Order<V_MTE3>();
    DataCopyPad(m.MyZ(), sum, DataCopyExtParams(1, 4, 0, 0, 0));
}

// What does not fit is spilt over the second input, which is not needed any more.
DEFECT(spilt_over_the_second_input, "input-overwritten?", 2)
{
    auto x = Ub(0), y = Ub(2048);
    auto spill = kBroken ? m.y[m.block * 256] : m.MyW();
    DataCopy(x, m.x[m.block * 256], 256);
    DataCopy(y, m.y[m.block * 256], 256);
    Order<MTE2_V>();
    Mul(x, x, y, 256);
    Order<V_MTE3>();
    DataCopy(spill, x, 256); // here
    Order<MTE3_MTE2>();
    DataCopy(y, spill, 256);
    Order<MTE2_V>();
    Exp(y, y, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 256);
}

// Gradients of looked-up rows: two cores may have looked up the same row, and nothing is added.
DEFECT(gradients_of_one_row_from_two_cores, "cross-core-race", 4)
{
    auto zero = Ub(0, 160), g = Ub(2048, 96);
    if (m.block == 0) {
        Duplicate(zero, 0.0f, 160);
        Order<V_MTE3>();
        DataCopy(m.z, zero, 160);
    }
    SyncAll();
    DataCopy(g, m.x[m.block * 96], 96);
    Order<MTE2_V>();
    Muls(g, g, -0.1f, 96);
    Order<V_MTE3>();
    if (!kBroken) SetAtomicAdd<float>();
    for (uint32_t i = 0; i < 3; ++i) {
        DataCopy(m.z[(m.block * 3 + i) % 5 * 32], g[i * 32], 32); // here
    }
    SetAtomicNone();
}

// A stencil's tile comes with a margin, and goes out with it too.
DEFECT(tile_copied_out_with_its_margin, "cross-core-race", 5)
{
    auto x = Ub(0, 136), y = Ub(2048, 136);
    DataCopy(x, m.x[m.block * 128], 136);
    DataCopy(y, m.y[m.block * 128], 136);
    Order<MTE2_V>();
    Add(x, x, y, 136);
    Muls(x, x, 0.5f, 136);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * 128], x, kBroken ? 136 : 128); // here
}

// A tree of maxima over four cores: only the first level waits for all.
DEFECT(second_level_of_the_tree_does_not_wait, "cross-core-race", 4)
{
    auto x = Ub(0, 64), mine = Ub(512, 8), other = Ub(1024, 8);
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    BlockReduceMax(mine, x, 1, 64, 1, 1, 8);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], mine, 8);
    for (uint32_t step = 1; step < 4; step *= 2) {
        if (!kBroken || step == 1) SyncAll();
        if (m.block % (2 * step) != 0) continue;
        DataCopy(other, m.w[(m.block + step) * 8], 8);
        Order<MTE2_V>();
        Order<MTE3_V>();
        Max(mine, mine, other, 8);
        Order<V_MTE3>();
        Order<V_MTE2>();
        DataCopy(m.w[m.block * 8], mine, 8); // here
    }
    if (m.block == 0) DataCopy(m.z, mine, 8);
}
