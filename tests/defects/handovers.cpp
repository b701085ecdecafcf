// Who hands what to whom: buffers by turns, flags in branches, queues run ahead of, and cores that share.
#include <defect.h>

// Two halves by turns, one of which is waited for always.
DEFECT(waits_for_one_half_only, "deadlock", 1)
{
    SetFlag<V_MTE2>(0);
    SetFlag<V_MTE2>(1);
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t half = tile & 1;
        auto x = Ub(half * 1024);
        WaitFlag<V_MTE2>(kBroken && tile < 2 ? 0 : half); // here
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>(half);
        Muls(x, x, 2.0f, 256);
        SetFlag<V_MTE2>(half);
    }
    WaitFlag<V_MTE2>(0);
    WaitFlag<V_MTE2>(1);
}

// Rows that are masked out are skipped, with their tensor in hand.
DEFECT(skipped_with_the_tensor_in_hand, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 queue;
    pipe.InitBuffer(queue, 2, 1024);
    for (uint32_t row = 0; row < 5; ++row) {
        auto x = queue.AllocTensor<float>(); // here
        DataCopy(x, m.x[row * 256], 256);
        queue.EnQue(x);
        x = queue.DeQue<float>();
        if (row % 2 == 1) {
            if (!kBroken) queue.FreeTensor(x);
            continue;
        }
        Muls(x, x, 2.0f, 256);
        queue.FreeTensor(x);
    }
}

// Two tiles on their way before the first is taken, in a queue for one.
DEFECT(two_ahead_in_a_queue_of_one, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 1024);
    auto first = queue.AllocTensor<float>();
    DataCopy(first, m.x, 256);
    queue.EnQue(first);
    if (!kBroken) first = queue.DeQue<float>();
    auto second = queue.AllocTensor<float>();
    DataCopy(second, m.x[256], 256);
    queue.EnQue(second); // here
    if (kBroken) first = queue.DeQue<float>();
    Muls(first, first, 2.0f, 256);
    queue.FreeTensor(first);
    second = queue.DeQue<float>();
    Muls(second, second, 2.0f, 256);
    queue.FreeTensor(second);
}

// Nothing to wait for in the first round.
DEFECT(waits_in_the_first_round, "deadlock", 1)
{
    auto x = Ub(0);
    for (uint32_t tile = 0; tile < 3; ++tile) {
        if (tile > 0 || kBroken) WaitFlag<V_MTE2>(2); // here
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>();
        Muls(x, x, 2.0f, 256);
        if (tile + 1 < 3) SetFlag<V_MTE2>(2);
    }
}

// A number for every tile, none of which is given back.
DEFECT(numbers_of_events_used_up, "flag-misuse", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 1024);
    auto x = room.Get<float>();
    for (uint32_t tile = 0; tile < 10; ++tile) {
        const auto id = pipe.AllocEventID<MTE2_V>(); // here
        DataCopy(x, m.x[tile * 256], 256);
        SetFlag<MTE2_V>(id);
        WaitFlag<MTE2_V>(id);
        Muls(x, x, 2.0f, 256);
        Order<V_MTE2>(7);
        if (!kBroken) pipe.ReleaseEventID<MTE2_V>(id);
    }
}

// Spilt to the workspace and fetched again, with the order of the wrong pair of pipes.
DEFECT(fetched_before_it_is_spilt, "race", 1)
{
    auto x = Ub(0), back = Ub(2048);
    Duplicate(x, 3.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), x, 256);
    if (kBroken) {
        Order<V_MTE2>();
    } else {
        Order<MTE3_MTE2>();
    }
    DataCopy(back, m.MyW(), 256); // here
    Order<MTE2_V>();
    Muls(back, back, 2.0f, 256);
}

// The buffer is given back before it has been copied out.
DEFECT(given_back_before_the_copy, "queue-misuse", 1)
{
    TPipe pipe;
    OutQueue queue;
    pipe.InitBuffer(queue, 1, 512);
    for (uint32_t tile = 0; tile < 2; ++tile) {
        auto x = queue.AllocTensor<float>();
        Duplicate(x, 1.0f, 128);
        queue.EnQue(x);
        x = queue.DeQue<float>();
        if (kBroken) queue.FreeTensor(x);
        DataCopy(m.MyW()[tile * 128], x, 128); // here
        if (!kBroken) queue.FreeTensor(x);
    }
}

// A queue that binds copies in to copies out, and work on the vector unit between the two.
DEFECT(worked_on_between_bound_copies, "race", 1)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 1024);
    auto x = queue.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    if (!kBroken) Order<MTE2_V>();
    Muls(x, x, 2.0f, 256); // here
    if (!kBroken) Order<V_MTE3>();
    queue.EnQue(x);
    x = queue.DeQue<float>();
    DataCopy(m.MyW(), x, 256);
    queue.FreeTensor(x);
}

// A barrier of one pipe taken for an order of two.
DEFECT(barrier_of_the_copies_only, "race", 1)
{
    auto x = Ub(0);
    DataCopy(x, m.x, 256);
    if (kBroken) {
        PipeBarrier<PIPE_MTE2>();
    } else {
        Order<MTE2_V>();
    }
    Exp(x, x, 256); // here
}

// The second operand is taken from its queue after it has been used.
DEFECT(second_operand_taken_too_late, "race", 1)
{
    TPipe pipe;
    InQueue a, b;
    pipe.InitBuffer(a, 1, 1024);
    pipe.InitBuffer(b, 1, 1024);
    auto x = a.AllocTensor<float>();
    auto y = b.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    a.EnQue(x);
    DataCopy(y, m.y, 256);
    b.EnQue(y);
    x = a.DeQue<float>();
    if (!kBroken) y = b.DeQue<float>();
    Add(x, x, y, 256); // here
    if (kBroken) y = b.DeQue<float>();
    a.FreeTensor(x);
    b.FreeTensor(y);
}

// Results by turns in two buffers; the wait for a buffer begins one round late.
DEFECT(waits_from_the_fourth_tile, "race", 1)
{
    for (int32_t tile = 0; tile < 4; ++tile) {
        auto x = Ub((tile & 1) * 512, 64);
        if (tile >= (kBroken ? 3 : 2)) WaitFlag<MTE3_V>(tile & 1);
        Duplicate(x, 1.0f, 64); // here
        Order<V_MTE3>();
        DataCopy(m.MyW()[tile * 64], x, 64);
        if (tile < 2) SetFlag<MTE3_V>(tile & 1);
    }
    if (kBroken) WaitFlag<MTE3_V>(0);
}

// Gamma is on its way after the flag that the tile is waited for by.
DEFECT(gamma_copied_behind_the_flag, "race", 1)
{
    auto x = Ub(0), gamma = Ub(2048);
    if (!kBroken) DataCopy(gamma, m.y, 256);
    DataCopy(x, m.x, 256);
    SetFlag<MTE2_V>(0);
    if (kBroken) DataCopy(gamma, m.y, 256);
    WaitFlag<MTE2_V>(0);
    Mul(x, x, gamma, 256); // here
}

// Shares of 234 numbers, rounded up to whole blocks in their length and not in their place.
DEFECT(length_rounded_up_place_not, "cross-core-race", 3)
{
    const uint32_t each = kBroken ? 234 : 240;
    auto x = Ub(0, 240);
    DataCopy(x, m.x[m.block * 240], 240);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, 240);
    Order<V_MTE3>();
    DataCopyPad(m.z[m.block * each], x, DataCopyExtParams(1, 960, 0, 0, 0)); // here
}

// One core clears what all add to.
DEFECT(added_before_it_is_cleared, "cross-core-race", 4)
{
    auto x = Ub(0, 64), zero = Ub(1024, 64);
    Duplicate(zero, 0.0f, 64);
    Duplicate(x, 1.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, zero, 64);
    if (m.block == 0) PipeBarrier<PIPE_MTE3>();
    if (!kBroken) SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.z, x, 64); // here
    SetAtomicNone();
}

// The partial sums are added up, and so is what comes after them.
OUTPUT_DEFECT(adding_never_switched_off, "uninitialised-read?", 1)
{
    auto x = Ub(0);
    Duplicate(x, 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), x, 256);
    PipeBarrier<PIPE_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.MyW(), x, 256);
    if (!kBroken) SetAtomicNone();
    DataCopy(m.MyZ(), x, 256); // here
    SetAtomicNone();
}

// Two rounds over one workspace: the second begins while others still read the first.
DEFECT(second_round_over_the_first, "cross-core-race", 4)
{
    auto mine = Ub(0, 64), all = Ub(1024);
    for (uint32_t round = 0; round < 2; ++round) {
        Duplicate(mine, 1.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.w[m.block * 64], mine, 64); // here
        SyncAll();
        DataCopy(all, m.w, 256);
        Order<MTE2_V>();
        Muls(all, all, 2.0f, 256);
        if (!kBroken) SyncAll();
        Order<V_MTE2>();
        Order<MTE3_V>();
    }
}

// Matrix columns of twelve numbers, one a core, copied out by blocks of eight.
DEFECT(columns_wider_than_their_share, "cross-core-race", 2)
{
    auto x = Ub(0);
    Duplicate(x, 1.0f, 256);
    Order<V_MTE3>();
    const uint32_t bytes = kBroken ? 64 : 48;
    DataCopyPad(m.z[m.block * 12], x, DataCopyExtParams(16, bytes, 0, 96 - bytes, 0)); // here
}

// Rows dealt to cores with a step that is one short of their number.
DEFECT(rows_dealt_twice, "cross-core-race", 3)
{
    auto x = Ub(0, 64);
    Duplicate(x, 1.0f, 64);
    Order<V_MTE3>();
    for (uint32_t row = m.block; row < 6; row += kBroken ? m.blocks - 1 : m.blocks) {
        DataCopy(m.z[row * 64], x, 64); // here
    }
}

// Cores without a share return before all meet.
DEFECT(idle_cores_return_before_all_meet, "deadlock", 4)
{
    auto x = Ub(0, 128);
    if (kBroken && m.block * 128 >= 384) return;
    if (m.block * 128 < 384) {
        Duplicate(x, 1.0f, 128);
        Order<V_MTE3>();
        DataCopy(m.w[m.block * 128], x, 128);
    }
    SyncAll(); // here
}

// The next core is told that the data are there before they are.
DEFECT(told_before_it_is_there, "cross-core-race", 2)
{
    auto x = Ub(0, 64);
    auto note = Ub<int32_t>(4096, 8);
    auto flags = m.w[256].ReinterpretCast<int32_t>();
    if (m.block == 0) {
        Duplicate(x, 1.0f, 64);
        Order<V_MTE3>();
        if (kBroken) IBSet(flags, note, 0, 0);
        DataCopy(m.w, x, 64); // here
        PipeBarrier<PIPE_ALL>();
        if (!kBroken) IBSet(flags, note, 0, 0);
    } else {
        IBWait(flags, note, 0, 0);
        PipeBarrier<PIPE_ALL>();
        DataCopy(x, m.w, 64);
    }
}

// Flags of other cores are counted, up to fifteen of them.
DEFECT(sixteen_flags_ahead, "flag-misuse", 2)
{
    for (uint32_t tile = 0; tile < 16; ++tile) {
        CrossCoreSetFlag<0, PIPE_MTE3>(3); // here
        if (!kBroken) CrossCoreWaitFlag(3);
    }
    for (uint32_t tile = 0; kBroken && tile < 16; ++tile) {
        CrossCoreWaitFlag(3);
    }
}

// Results that lie one after the other, copied out as if each began a block of its own: through the buffer behind.
DEFECT(copied_out_through_the_next_buffer, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> results, next;
    pipe.InitBuffer(results, 256);
    pipe.InitBuffer(next, 4096);
    Duplicate(next.Get<float>(), 0.0f, 1024);
    auto x = results.Get<float>();
    Duplicate(x, 1.0f, 64);
    Order<V_MTE3>();
    if (kBroken) {
        DataCopyPad(m.w, x, DataCopyExtParams(64, 4, 0, 0, 0)); // here
    } else {
        DataCopyPad(m.w, x, DataCopyExtParams(1, 256, 0, 0, 0));
    }
}
