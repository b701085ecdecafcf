// Tiles on their way through an operator: queues ahead of each other, pools, and events that several tiles share.
#include <defect.h>

constexpr uint32_t kOut = 65536;
constexpr uint32_t kTile = 256;

// One queue passes tiles from copy to copy. The second input is added from a tensor that was never enqueued.
DEFECT(added_from_what_was_never_enqueued, "race", 1)
{
    TPipe pipe;
    InQueue2 left, right;
    TBuf<TPosition::VECCALC> sums;
    pipe.InitBuffer(left, 2, 1024);
    pipe.InitBuffer(right, 2, 1024);
    pipe.InitBuffer(sums, 1024);
    auto a = left.AllocTensor<float>();
    auto b = right.AllocTensor<float>();
    DataCopy(b, m.y, kTile);
    if (!kBroken) right.EnQue(b);
    DataCopy(a, m.x, kTile);
    left.EnQue(a);
    if (!kBroken) b = right.DeQue<float>();
    // In the broken one the flag of the left tile is taken after the sum.
    if (!kBroken) a = left.DeQue<float>();
    Add(sums.Get<float>(), b, b, kTile); // here
    if (kBroken) a = left.DeQue<float>();
    Add(sums.Get<float>(), sums.Get<float>(), a, kTile);
    left.FreeTensor(a);
    right.FreeTensor(b);
}

// Two buffers by turns; the copy out of a tile is waited for by the fill of the next, not of the next but one.
DEFECT(one_flag_for_two_turns, "flag-misuse", 1)
{
    for (int32_t tile = 0; tile < 4; ++tile) {
        auto y = Ub(kOut + static_cast<uint32_t>(tile & 1) * 1024);
        const int32_t id = kBroken ? 0 : tile & 1;
        if (tile >= 2) WaitFlag<MTE3_V>(id);
        Duplicate(y, 1.0f, kTile);
        Order<V_MTE3>(tile & 1);
        DataCopy(m.z, y, 8);
        PipeBarrier<PIPE_MTE3>();
        if (tile < 2) SetFlag<MTE3_V>(id); // here
    }
}

// The last tile of a group is drained behind the loop, with the index of the one behind it.
DEFECT(drained_with_the_index_behind_the_last, "race", 1)
{
    constexpr int32_t kTiles = 3;
    for (int32_t tile = 0; tile < kTiles; ++tile) {
        auto x = Ub(static_cast<uint32_t>(tile) * 1024);
        DataCopy(x, m.x[tile * kTile], kTile);
        SetFlag<MTE2_V>(tile);
        if (tile == 0) continue;
        WaitFlag<MTE2_V>(tile - 1);
        Relu(Ub(kOut), Ub(static_cast<uint32_t>(tile - 1) * 1024), kTile);
    }
    if (!kBroken) WaitFlag<MTE2_V>(kTiles - 1);
    Relu(Ub(kOut), Ub((kTiles - 1) * 1024), kTile); // here
    if (kBroken) WaitFlag<MTE2_V>(kTiles - 1);
}

// Three tiles in flight in a queue of three buffers, whose consumer keeps one for the next step.
DEFECT(one_tile_kept_for_the_next_step, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    TBuf<TPosition::VECCALC> steps;
    pipe.InitBuffer(queue, kBroken ? 2 : 3, 1024);
    pipe.InitBuffer(steps, 1024);
    LocalTensor<float> kept;
    for (int32_t step = 0; step < 3; ++step) {
        for (int32_t ahead = 0; ahead < (step == 0 ? 2 : 1); ++ahead) {
            auto x = queue.AllocTensor<float>(); // here
            DataCopy(x, m.x[(step + ahead) * kTile], kTile);
            queue.EnQue(x);
        }
        auto x = queue.DeQue<float>();
        if (step > 0) {
            Sub(steps.Get<float>(), x, kept, kTile);
            queue.FreeTensor(kept);
        }
        kept = x;
    }
    queue.FreeTensor(kept);
    queue.FreeTensor(kept = queue.DeQue<float>());
}

// A scratch of the second phase is the queue of the first; its last tile is still on its way out.
DEFECT(scratch_of_the_next_phase_over_a_copy_out, "queue-misuse", 1)
{
    TPipe pipe;
    {
        OutQueue out;
        pipe.InitBuffer(out, 1, 1024);
        auto y = out.AllocTensor<float>();
        Duplicate(y, 1.0f, kTile);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z, y, kTile);
        out.FreeTensor(y);
        if (!kBroken) pipe.Reset();
    }
    if (!kBroken) Order<MTE3_V>(EVENT_ID5);
    Duplicate(Ub(0, kTile), 2.0f, kTile); // here
    Order<V_MTE3>(EVENT_ID5);
    DataCopy(m.w, Ub(0, kTile), kTile);
}

// The event that a helper fetches is the one that the loop holds on to.
DEFECT(fetched_what_the_loop_holds, "flag-misuse", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 2048);
    auto x = buffer.GetWithOffset<float>(kTile, 0);
    auto y = buffer.GetWithOffset<float>(kTile, 1024);
    const TEventID held = kBroken ? pipe.FetchEventID(MTE2_V) : pipe.AllocEventID<MTE2_V>();
    DataCopy(x, m.x, kTile);
    SetFlag<MTE2_V>(held);
    const TEventID helper = pipe.FetchEventID(MTE2_V);
    DataCopy(y, m.y, kTile);
    SetFlag<MTE2_V>(helper); // here
    WaitFlag<MTE2_V>(helper);
    WaitFlag<MTE2_V>(held);
    Add(x, x, y, kTile);
    if (!kBroken) pipe.ReleaseEventID<MTE2_V>(held);
}

// What was copied in is passed on at once, by a queue that binds both ends; between them the row is changed by the vector unit.
DEFECT(changed_between_the_ends_of_a_binding, "race", 1)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
    pipe.InitBuffer(through, 1, 1024);
    auto x = through.AllocTensor<float>();
    DataCopy(x, m.x, kTile);
    through.EnQue(x);
    x = through.DeQue<float>();
    if (!kBroken) Order<MTE2_V>(pipe.FetchEventID(MTE2_V));
    Muls(x, x, 0.5f, kTile); // here
    Order<V_MTE3>(pipe.FetchEventID(V_MTE3));
    DataCopy(m.z, x, kTile);
    through.FreeTensor(x);
}

// A pool for the first phase, and a buffer of the second that is cut from it without giving it back.
DEFECT(second_phase_asks_for_what_the_first_holds, "ub-overflow", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> first, second;
    pipe.InitBuffer(first, 120 * 1024);
    Duplicate(first.Get<float>(), 1.0f, kTile);
    PipeBarrier<PIPE_ALL>();
    if (!kBroken) pipe.Reset();
    pipe.InitBuffer(second, 100 * 1024); // here
    Duplicate(second.Get<float>(), 1.0f, kTile);
}

// The result of the sum is given back while the next step's operand still lies in it.
DEFECT(operand_in_a_tensor_given_back, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue out;
    pipe.InitBuffer(in, 2, 1024);
    pipe.InitBuffer(out, 1, 1024);
    auto a = in.AllocTensor<float>();
    DataCopy(a, m.x, kTile);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto tail = a[128];
    if (kBroken) in.FreeTensor(a);
    auto y = out.AllocTensor<float>();
    Adds(y, tail, 1.0f, 128); // here
    if (!kBroken) in.FreeTensor(a);
    out.EnQue(y);
    y = out.DeQue<float>();
    DataCopy(m.z, y, 128);
    out.FreeTensor(y);
}

// Rows that are too short for the vector unit take another way, which forgets to enqueue.
DEFECT(short_row_not_handed_on, "queue-misuse", 1)
{
    TPipe pipe;
    OutQueue out;
    pipe.InitBuffer(out, 1, 1024);
    for (uint32_t row = 0; row < 3; ++row) {
        auto y = out.AllocTensor<float>();
        Duplicate(y, 1.0f, row == 1 ? 8 : 64);
        if (row != 1 || !kBroken) out.EnQue(y);
        y = out.DeQue<float>(); // here
        DataCopy(m.z[row * 64], y, row == 1 ? 8 : 64);
        out.FreeTensor(y);
    }
}

// A tile that is used twice is copied into its second place before the first has been worked on.
DEFECT(moved_within_the_buffer_while_it_arrives, "race", 1)
{
    auto x = Ub(0), copy = Ub(kOut);
    DataCopy(x, m.x, kTile);
    SetFlag<MTE2_V>(0);
    if (!kBroken) WaitFlag<MTE2_V>(0);
    DataCopy(copy, x, kTile); // here
    if (kBroken) WaitFlag<MTE2_V>(0);
    Add(copy, copy, x, kTile);
}

// All pipes wait before the loop, which is one round too early for its last copy.
DEFECT(barrier_before_the_loop_only, "race", 1)
{
    PipeBarrier<PIPE_ALL>();
    for (int32_t tile = 0; tile < 2; ++tile) {
        DataCopy(Ub(0), m.x[tile * kTile], kTile); // here
        Order<MTE2_V>();
        Abs(Ub(kOut), Ub(0), kTile);
        if (!kBroken) PipeBarrier<PIPE_ALL>();
    }
}

// What is passed on in the Unified Buffer's last block lies half behind its end.
DEFECT(last_row_half_behind_the_memory, "out-of-bounds-ub", 1)
{
    constexpr uint32_t kEnd = 192 * 1024;
    auto row = Ub(kEnd - (kBroken ? 128 : 256), 64);
    DataCopy(row, m.x, 64); // here
}

// The wait for a tensor stands behind the barrier that the wait is for.
DEFECT(waited_for_by_the_pipe_that_sets, "deadlock", 1)
{
    DataCopy(Ub(0), m.x, kTile);
    if (kBroken) WaitFlag<V_MTE2>(1); // here
    SetFlag<MTE2_V>(1);
    WaitFlag<MTE2_V>(1);
    Abs(Ub(kOut), Ub(0), kTile);
    if (kBroken) SetFlag<V_MTE2>(1);
}
