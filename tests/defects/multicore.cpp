// Work split over cores: shares, remainders, workspaces, barriers, and words that several cores write.
#include <defect.h>

/// One float from global memory.
ASC_API void FetchWord(const LocalTensor<float>& to, const GlobalTensor<float>& from)
{
    DataCopyPad(to, from, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
}

// 700 elements over three blocks begin at every 233rd, but are 240 long, rounded up to whole blocks of 32 bytes.
DEFECT(rounded_lengths_on_exact_starts, "cross-core-race", 3)
{
    uint32_t total = 700;
    const uint32_t share = total / m.blocks;
    const uint32_t start = m.block * share;
    uint32_t count = m.block + 1 < m.blocks ? share : total - start;
    if (kBroken) count = AlignUp(count, 8);
    Duplicate(Ub(0), 1.0f, static_cast<int32_t>(count));
    Order<V_MTE3>();
    DataCopyPad(m.z[start], Ub(0), DataCopyExtParams(1, count * 4, 0, 0, 0)); // here
}

// 23 rows over three blocks: the first two take one more, which the starts of the others do not know.
DEFECT(remainder_missing_in_the_start, "cross-core-race", 3)
{
    constexpr uint32_t rows = 23, columns = 32;
    const uint32_t base = rows / m.blocks;
    const uint32_t rest = rows % m.blocks;
    const uint32_t mine = base + (m.block < rest ? 1 : 0);
    const uint32_t first = m.block * base + (kBroken ? 0 : (m.block < rest ? m.block : rest));
    Duplicate(Ub(0), 1.0f, columns);
    Order<V_MTE3>();
    for (uint32_t row = first; row < first + mine; ++row) {
        DataCopy(m.z[row * columns], Ub(0), columns); // here
    }
}

// Partial results by the scalar unit, each in a line of its own and written back, but nobody waits before block 0 adds them.
DEFECT(partial_results_added_without_a_barrier, "cross-core-race", 4)
{
    m.w.SetValue(m.block * 16, 1.0f); // here
    CleanLine(m.w[m.block * 16]);
    if (!kBroken) SyncAll();
    if (m.block == 0) {
        float sum = 0.0f;
        for (uint32_t block = 0; block < m.blocks; ++block) {
            CleanLine(m.w[block * 16]);
            sum += m.w.GetValue(block * 16);
        }
        Duplicate(Ub(0), sum, 8);
        Order<V_MTE3>();
        DataCopy(m.z, Ub(0), 8);
    }
}

// Neighbouring words of one cache line: each core writes back the whole line, with the others' words as they were before.
DEFECT(partial_results_in_one_cache_line, "cross-core-race", 4)
{
    const uint32_t at = m.block * (kBroken ? 1 : 16);
    m.w.SetValue(at, 1.0f); // here
    CleanLine(m.w[at]);
    SyncAll();
    if (m.block == 0) {
        for (uint32_t block = 0; block < m.blocks; ++block) {
            FetchWord(Ub(block * 32), m.w[block * (kBroken ? 1 : 16)]);
        }
    }
}

// The word is still in the writer's data cache when the barrier opens.
DEFECT(partial_results_left_in_the_cache, "stale-cache-line", 2)
{
    m.w.SetValue(m.block * 16, 1.0f);
    if (!kBroken) CleanLine(m.w[m.block * 16]);
    SyncAll();
    DataCopy(Ub(0), m.w[(1 - m.block) * 16], 8); // here
}

// A counter that was read before is read again from the reader's own cache.
DEFECT(counter_read_again_from_the_cache, "stale-cache-line", 2)
{
    for (int32_t round = 0; round < 2; ++round) {
        if (m.block == 0) {
            Duplicate(Ub(round * 32), 1.0f + static_cast<float>(round), 8);
            Order<V_MTE3>(round);
            DataCopy(m.w, Ub(round * 32), 8);
        }
        SyncAll();
        if (m.block == 1) {
            if (!kBroken) CleanLine(m.w);
            const float value = m.w.GetValue(0); // here
            Duplicate(Ub(4096), value, 8);
        }
        SyncAll();
    }
}

// Maxima of all blocks, then sums in the same slots; a block that is early overwrites a maximum that another has yet to read.
DEFECT(slots_reused_for_the_second_reduction, "cross-core-race", 4)
{
    constexpr uint32_t slot = 8;
    Duplicate(Ub(0), 1.0f, slot);
    Duplicate(Ub(64), 2.0f, slot);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * slot], Ub(0), slot);
    SyncAll();
    DataCopy(Ub(1024), m.w, m.blocks * slot);
    Order<MTE2_V>();
    WholeReduceMax(Ub(2048), Ub(1024), 32, 1, 1, 1, 8);
    Order<MTE2_MTE3>();
    if (!kBroken) SyncAll();
    DataCopy(m.w[m.block * slot], Ub(64), slot); // here
    SyncAll();
    DataCopy(Ub(4096), m.w, m.blocks * slot);
    Order<MTE2_V>();
    WholeReduceSum(Ub(3072), Ub(4096), 32, 1, 1, 1, 8);
}

// A stencil in place: the share is written back while the neighbour still has to read its last elements.
DEFECT(stencil_in_place, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256);
    SyncAll();
    const uint32_t before = m.block == 0 ? 0 : 8;
    DataCopy(Ub(4096, 512), m.w[m.block * 256 - before], 256 + before);
    Order<MTE2_V>();
    Muls(Ub(8192), Ub(4096 + before * 4), 0.5f, 256);
    Order<V_MTE3>();
    if (!kBroken) SyncAll();
    DataCopy(m.MyW(), Ub(8192), 256); // here
}

// Mode 0 opens when all cores have set the flag; here one does.
DEFECT(flag_of_all_set_by_one, "deadlock", 4)
{
    if (m.block == 0) {
        Duplicate(Ub(0), 1.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.w, Ub(0), 64);
    }
    if (!kBroken || m.block == 0) CrossCoreSetFlag<0, PIPE_MTE3>(5);
    CrossCoreWaitFlag(5); // here
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w, 64);
}

// Seven tiles over three blocks, a barrier after every tile: the first block comes once more than the others.
DEFECT(barrier_in_a_ragged_loop, "deadlock", 3)
{
    constexpr uint32_t tiles = 7, tile = 64;
    const uint32_t mine = (tiles - m.block + m.blocks - 1) / m.blocks;
    const uint32_t rounds = kBroken ? mine : DivCeil(tiles, m.blocks);
    for (uint32_t i = 0; i < rounds; ++i) {
        if (i < mine) {
            Duplicate(Ub(i * 256), 1.0f, tile);
            Order<V_MTE3>();
            DataCopy(m.z[(i * m.blocks + m.block) * tile], Ub(i * 256), tile);
        }
        SyncAll(); // here
    }
}

// The first block clears the sum, all add to it, and nothing keeps the others from adding before it is cleared.
// The line of either access is right; the addition is named.
DEFECT(cleared_while_others_add, "cross-core-race", 4)
{
    Duplicate(Ub(0), 0.0f, 64);
    Duplicate(Ub(1024), 1.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, Ub(0), 64);
    if (kBroken) PipeBarrier<PIPE_MTE3>();
    else SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.z, Ub(1024), 64); // here
    SetAtomicNone();
}

// The sum of all blocks is fetched when this block has added its part.
DEFECT(sum_fetched_before_all_have_added, "cross-core-race", 4)
{
    Duplicate(Ub(0), 0.0f, 64);
    Duplicate(Ub(1024), 1.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.w, Ub(0), 64);
    SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.w, Ub(1024), 64); // here
    SetAtomicNone();
    if (kBroken) Order<MTE3_MTE2>();
    else SyncAll();
    if (m.block == 0) DataCopy(Ub(4096), m.w, 64);
}

// A slice of the workspace for every block: the distance was reckoned in another type than the length.
DEFECT(slices_of_a_workspace_too_close, "cross-core-race", 3)
{
    const uint32_t slice = kBroken ? 64 : 256;
    Duplicate(Ub(0), static_cast<float>(m.block), 256);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * slice], Ub(0), 256); // here
    SyncAll();
    DataCopy(Ub(4096), m.w[m.block * slice], 256);
}

// To hide its latency the copy of the neighbour's part was moved in front of the barrier.
DEFECT(prefetch_across_the_barrier, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256); // here
    const uint32_t neighbour = (1 - m.block) * 256;
    if (kBroken) DataCopy(Ub(1024), m.w[neighbour], 256);
    SyncAll();
    if (!kBroken) DataCopy(Ub(1024), m.w[neighbour], 256);
    Order<MTE2_V>();
    Relu(Ub(2048), Ub(1024), 256);
}
