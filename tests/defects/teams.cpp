// Cores that share tensors: shares, sums by atomics, workspaces, and flags from core to core.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// Shares of 100 elements, written in whole blocks of eight from starts that are none.
DEFECT(shares_that_end_within_a_block, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 128);
    Order<V_MTE3>();
    // 96 and 104: the first core's last block reaches into the second's share.
    DataCopy(m.z[m.block * 96], Ub(0), kBroken ? 104 : 96); // here
}

// The second core's partial sum is fetched behind a flag that the first sets for itself.
DEFECT(own_flag_taken_for_the_others, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 64);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 64); // here
    if (!kBroken) SyncAll();
    Order<MTE3_MTE2>();
    DataCopy(Ub(1024), m.w[(1 - m.block) * Memory::kShare], 64);
}

// The sum is atomic, its start value is written by the core that comes first to its own code.
DEFECT(start_value_written_among_the_sums, "cross-core-race", 2)
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

// Maxima by atomics onto a workspace that holds what it held before.
OUTPUT_DEFECT(maximum_over_what_was_there, "uninitialised-read?", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken) {
        Order<V_MTE3>();
        DataCopy(m.z, Ub(0), 256);
        PipeBarrier<PIPE_MTE3>();
    }
    Order<V_MTE3>(1);
    SetAtomicMax<float>();
    DataCopy(m.z, Ub(0), 256); // here
    SetAtomicNone();
}

// The mean is copied out while additions are still on: it is added to the sum.
DEFECT(plain_copy_between_additions, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 8);
    Duplicate(Ub(64), 0.0f, 8);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, Ub(64), 8);
    SyncAll();
    if (!kBroken || m.block == 0) SetAtomicAdd<float>();
    DataCopy(m.z, Ub(0), 8); // here
    SetAtomicNone();
}

// A team of four reduces to one; the second level reads what the first has only just written.
DEFECT(tree_without_a_barrier_between_levels, "cross-core-race", 4)
{
    Duplicate(Ub(0), 1.0f, 64);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 64);
    SyncAll();
    for (uint32_t step = 1; step < 4; step *= 2) {
        if (m.block % (2 * step) == 0) {
            PipeBarrier<PIPE_ALL>();
            DataCopy(Ub(1024), m.w[(m.block + step) * Memory::kShare], 64);
            Order<MTE2_V>();
            Add(Ub(0), Ub(0), Ub(1024), 64);
            Order<V_MTE3>();
            DataCopy(m.MyW(), Ub(0), 64); // here
        }
        if (!kBroken || step > 1) SyncAll();
    }
}

// The flag is set by the pipe that copies in, and what was copied out is read behind it.
DEFECT(told_by_the_pipe_that_copies_in, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.w, Ub(0), 64); // here
    CrossCoreSetFlag<0, kBroken ? PIPE_MTE2 : PIPE_MTE3>(5);
    CrossCoreWaitFlag(5);
    if (m.block == 1) DataCopy(Ub(1024), m.w, 64);
}

// Two rounds with one flag number; the core that has nothing to do skips the second.
DEFECT(second_meeting_skipped_by_the_idle, "deadlock", 3)
{
    for (uint32_t round = 0; round < 2; ++round) {
        if (kBroken && round == 1 && m.block == 2) break;
        CrossCoreSetFlag<0, PIPE_MTE3>(6);
        CrossCoreWaitFlag(6); // here
    }
}

// The last core's share is what is left, counted from the shares of all others but one.
DEFECT(rest_counted_from_one_share_less, "out-of-bounds-gm", 3)
{
    const uint32_t share = Memory::kInput / 3 / 8 * 8;
    const bool last = m.block + 1 == m.blocks;
    const uint32_t mine = last ? Memory::kInput - share * (kBroken ? 1 : 2) : share;
    DataCopy(Ub(0, mine), m.x[m.block * share], mine); // here
}

// Results of the first pass go to the workspace in the order of tiles, and are read in the order of cores.
DEFECT(read_in_the_order_of_cores, "cross-core-race", 2)
{
    for (uint32_t tile = m.block; tile < 4; tile += 2) {
        Duplicate(Ub(tile * 256, 64), 1.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.w[tile * 64], Ub(tile * 256, 64), 64); // here
    }
    Order<MTE3_MTE2>();
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t tile = kBroken ? m.block * 2 + i : i * 2 + m.block;
        DataCopy(Ub(kOut + i * 256, 64), m.w[tile * 64], 64);
    }
}

// A counter that the scalar units of two cores step, each in its own cache.
DEFECT(counter_stepped_by_two_scalar_units, "cross-core-race", 2)
{
    GlobalTensor<int32_t> counter = m.x.ReinterpretCast<int32_t>()[kBroken ? 0 : m.block * 64];
    const int32_t before = counter.GetValue(0); // here
    counter.SetValue(0, before + 1);
    CleanLine(counter);
}

// Each core clears its part of the output and adds to all of it.
DEFECT(added_to_parts_others_clear, "cross-core-race", 2)
{
    Duplicate(Ub(0), 0.0f, 64);
    Duplicate(Ub(1024), 1.0f, 128);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * 64], Ub(0), 64);
    if (kBroken) PipeBarrier<PIPE_MTE3>();
    else SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.z, Ub(1024), 128); // here
    SetAtomicNone();
}
