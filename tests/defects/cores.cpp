// Cores on the same bytes of global memory without an order, and cores that wait for ever.
#include <defect.h>

DEFECT(all_blocks_write_the_same, "cross-core-race", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z[kBroken ? 0 : m.block * 256], Ub(0), 256); // here
}

DEFECT(shares_that_overlap, "cross-core-race", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    const uint32_t length = kBroken && m.block < 3 ? 264 : 256;
    DataCopy(m.MyZ(), Ub(0), length); // here
}

DEFECT(neighbour_read_without_a_barrier, "cross-core-race", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256); // here
    if (!kBroken) SyncAll();
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w[(m.block + 1) % m.blocks * 256], 256);
}

DEFECT(barrier_before_the_write, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    if (kBroken) SyncAll();
    DataCopy(m.MyW(), Ub(0), 256); // here
    if (!kBroken) SyncAll();
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w[(m.block + 1) % m.blocks * 256], 256);
}

DEFECT(second_round_without_a_barrier, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    for (uint32_t round = 0; round < 2; ++round) {
        DataCopy(m.MyW(), Ub(0), 256); // here
        SyncAll();
        DataCopy(Ub(1024), m.w[(m.block + 1) % m.blocks * 256], 256);
        if (!kBroken) SyncAll();
        PipeBarrier<PIPE_ALL>();
    }
}

DEFECT(atomic_and_plain_writes_meet, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, Ub(0), 256);
    if (!kBroken) SyncAll();
    SetAtomicAdd<float>();
    if (m.block == 1) DataCopy(m.z, Ub(0), 256); // here
    SetAtomicNone();
}

DEFECT(one_block_adds_without_atomic, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    if (!kBroken || m.block == 0) SetAtomicAdd<float>();
    DataCopy(m.z, Ub(0), 256); // here
    SetAtomicNone();
}

DEFECT(result_of_all_blocks_collected_early, "cross-core-race", 4)
{
    Duplicate(Ub(0), 1.0f, 8);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 8], Ub(0), 8); // here
    if (!kBroken) SyncAll();
    PipeBarrier<PIPE_ALL>();
    if (m.block == 0) DataCopy(Ub(1024), m.w, 32);
}

DEFECT(tail_written_by_two_blocks, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    // The first block has 13 elements, but a whole block of eight more is written.
    if (m.block == 1) DataCopyPad(m.z[13], Ub(0), DataCopyExtParams(1, 52, 0, 0, 0));
    else if (kBroken) DataCopy(m.z, Ub(0), 16); // here
    else DataCopyPad(m.z, Ub(0), DataCopyExtParams(1, 52, 0, 0, 0));
}

DEFECT(scalar_results_in_the_same_word, "cross-core-race", 2)
{
    m.z.SetValue(kBroken ? 0 : m.block * 64, 1.0f); // here
}

DEFECT(flag_between_cores_missing, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256); // here
    if (!kBroken) {
        CrossCoreSetFlag<0, PIPE_MTE3>(3);
        CrossCoreWaitFlag(3);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w[(1 - m.block) * 256], 256);
}

DEFECT(flag_between_cores_on_another_pipe, "cross-core-race", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256); // here
    // On the vector unit the flag says nothing of the copy.
    CrossCoreSetFlag<0, kBroken ? PIPE_V : PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w[(1 - m.block) * 256], 256);
}

DEFECT(barrier_that_not_all_reach, "deadlock", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken || m.block < 3) SyncAll(); // here
}

DEFECT(wait_between_cores_without_a_set, "deadlock", 2)
{
    if (!kBroken) CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3); // here
}

DEFECT(more_blocks_than_cores_at_a_barrier, "deadlock", 49)
{
    if (!kBroken) return;
    SyncAll(); // here
}

DEFECT(flag_between_cores_left_set, "flag-misuse?", 2)
{
    CrossCoreSetFlag<0, PIPE_MTE3>(3); // here
    if (!kBroken) CrossCoreWaitFlag(3);
}
