// Blind corpus, first half: flags, queues, addresses in global memory, and some reads of what was never written.
#include <defect.h>

// One buffer for copy in, work and copy out; the copy in of the second tile does not wait for the copy out of the first.
DEFECT(in_place_reuse_ordered_from_round_two, "race", 1)
{
    auto x = Ub(0, 64);
    for (int32_t tile = 0; tile < 4; ++tile) {
        if (tile > (kBroken ? 1 : 0)) WaitFlag<MTE3_MTE2>(0);
        DataCopy(x, m.x[tile * 64], 64); // here
        Order<MTE2_V>();
        Muls(x, x, 0.5f, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ()[tile * 64], x, 64);
        if (tile < 3 && tile >= (kBroken ? 1 : 0)) SetFlag<MTE3_MTE2>(0);
    }
}

// Two inputs, each with a flag of its own for "read by the vector unit"; the reloads take each other's.
DEFECT(y_reloaded_on_the_flag_of_x, "race", 1)
{
    auto x = Ub(0), y = Ub(1024), sum = Ub(2048);
    Duplicate(sum, 0.0f, 256);
    for (int32_t tile = 0; tile < 4; ++tile) {
        if (tile > 0) WaitFlag<V_MTE2>(kBroken ? 0 : 1);
        DataCopy(y, m.y[tile * 256], 256); // here
        if (tile > 0) WaitFlag<V_MTE2>(kBroken ? 1 : 0);
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>();
        Axpy(sum, x, 0.5f, 256);
        if (tile < 3) SetFlag<V_MTE2>(0);
        Sub(sum, sum, y, 256);
        if (tile < 3) SetFlag<V_MTE2>(1);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// Row sums are collected in a TBuf and copied out of it directly: no queue, and no flag instead of it.
DEFECT(totals_stored_straight_from_scratch, "race", 1)
{
    TPipe pipe;
    InQueue2 queue;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(queue, 2, 1024);
    pipe.InitBuffer(room, 64);
    auto totals = room.Get<float>();
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = queue.AllocTensor<float>();
        DataCopy(x, m.x[tile * 256], 256);
        queue.EnQue(x);
        x = queue.DeQue<float>();
        WholeReduceSum(totals[tile * 4], x, 64, 4, 1, 1, 8);
        queue.FreeTensor(x);
    }
    if (!kBroken) Order<V_MTE3>(7);
    DataCopyPad(m.MyZ(), totals, DataCopyExtParams(1, 64, 0, 0, 0)); // here
}

// A second spill to the same place of the workspace, while the first is still being fetched back.
DEFECT(workspace_respilled_while_it_is_read, "race", 1)
{
    auto a = Ub(0), b = Ub(1024), back = Ub(2048);
    DataCopy(a, m.x, 256);
    DataCopy(b, m.y, 256);
    Order<MTE2_V>();
    Exp(a, a, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), a, 256);
    Order<MTE3_MTE2>();
    DataCopy(back, m.MyW(), 256);
    SetFlag<MTE2_V>(1);
    Abs(b, b, 256);
    Order<V_MTE3>();
    if (!kBroken) Order<MTE2_MTE3>();
    DataCopy(m.MyW(), b, 256); // here
    WaitFlag<MTE2_V>(1);
    Muls(back, back, 2.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), back, 256);
}

// Activation in place on the tensor of the input queue: freeing it lets the next copy in wait for the vector unit only.
DEFECT(in_place_result_leaves_from_the_input_queue, "race", 1)
{
    TPipe pipe;
    InQueue2 queue;
    pipe.InitBuffer(queue, 2, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = queue.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64); // here
        queue.EnQue(x);
        x = queue.DeQue<float>();
        Relu(x, x, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ()[tile * 64], x, 64);
        if (!kBroken) Order<MTE3_MTE2>();
        queue.FreeTensor(x);
    }
}

// The epilogue of the compute stage (plus one) has slipped behind EnQue.
DEFECT(bias_added_after_enque, "race", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = out.AllocTensor<float>();
    Mul(y, x, x, 256);
    if (!kBroken) Adds(y, y, 1.0f, 256);
    out.EnQue(y);
    if (kBroken) Adds(y, y, 1.0f, 256);
    in.FreeTensor(x);
    y = out.DeQue<float>();
    DataCopy(m.MyZ(), y, 256); // here
    out.FreeTensor(y);
}

// The last tile is always fetched into the first half, which is the one being worked on just then.
DEFECT(last_prefetch_into_the_half_in_use, "race", 1)
{
    auto sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t half = tile & 1;
        if (tile < 3) {
            const int32_t to = kBroken && tile == 2 ? 0 : 1 - half;
            if (tile > 0) WaitFlag<V_MTE2>(1 - half);
            DataCopy(Ub(to * 1024), m.x[(tile + 1) * 256], 256);
            SetFlag<MTE2_V>(1 - half);
        }
        WaitFlag<MTE2_V>(half);
        Add(sum, sum, Ub(half * 1024), 256); // here
        if (tile < 2) SetFlag<V_MTE2>(half);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// Phase two computes into the TBuf from which phase one is still being copied out.
DEFECT(second_phase_takes_over_the_buffer, "race", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(room, 1024);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto y = room.Get<float>();
    Exp(y, x, 256);
    Order<V_MTE3>(7);
    DataCopy(m.MyW(), y, 256);
    if (!kBroken) Order<MTE3_V>(7);
    Maxs(y, x, 0.0f, 256); // here
    in.FreeTensor(x);
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), y, 256);
}

// The last copy out sets no flag, but the epilogue drains one all the same.
DEFECT(drained_once_more_after_the_loop, "deadlock", 1)
{
    auto x = Ub(0), y = Ub(1024, 64);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    for (uint32_t tile = 0; tile < 4; ++tile) {
        if (tile > 0) WaitFlag<MTE3_V>(2);
        Muls(y, x[tile * 64], 2.0f, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ()[tile * 64], y, 64);
        if (tile < 3) SetFlag<MTE3_V>(2);
    }
    if (kBroken) WaitFlag<MTE3_V>(2); // here
}

// A matrix of 15 rows is transposed as one of 16.
DEFECT(sixteenth_row_never_loaded, "uninitialised-read?", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 512);
    pipe.InitBuffer(out, 1, 512);
    auto x = in.AllocTensor<half>();
    DataCopy(x, m.x.ReinterpretCast<half>(), (kBroken ? 15 : 16) * 16);
    in.EnQue(x);
    x = in.DeQue<half>();
    auto y = out.AllocTensor<half>();
    Transpose(y, x); // here
    in.FreeTensor(x);
    out.EnQue(y);
    y = out.DeQue<half>();
    DataCopy(m.MyZ().ReinterpretCast<half>(), y, 256);
    out.FreeTensor(y);
}

// A padded row is skipped by `continue`, together with the flag that hands the buffer back.
DEFECT(skipped_row_hands_nothing_back, "deadlock", 1)
{
    auto x = Ub(0), sum = Ub(1024);
    Duplicate(sum, 0.0f, 256);
    SetFlag<V_MTE2>(0);
    for (uint32_t row = 0; row < 6; ++row) {
        WaitFlag<V_MTE2>(0); // here
        DataCopy(x, m.x[row * 256], 256);
        Order<MTE2_V>(1);
        if (row == 3) {
            if (!kBroken) SetFlag<V_MTE2>(0);
            continue;
        }
        Add(sum, sum, x, 256);
        SetFlag<V_MTE2>(0);
    }
    WaitFlag<V_MTE2>(0);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// The buffer is handed back after the last round too, where nobody takes it: the flag is left for the next kernel.
DEFECT(last_round_hands_back_too, "flag-misuse?", 1)
{
    auto x = Ub(0), most = Ub(1024);
    Duplicate(most, -1.0f, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        if (tile > 0) WaitFlag<V_MTE2>(3);
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>();
        Max(most, most, x, 256);
        if (kBroken || tile < 3) SetFlag<V_MTE2>(3); // here
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), most, 256);
}

// Every row of a tile sets the flag, only the tile waits for it.
DEFECT(flag_set_by_every_row_of_a_tile, "flag-misuse", 1)
{
    auto x = Ub(0), sum = Ub(1024);
    Duplicate(sum, 0.0f, 256);
    for (uint32_t tile = 0; tile < 2; ++tile) {
        for (uint32_t row = 0; row < 4; ++row) {
            DataCopy(x[row * 64], m.x[(tile * 4 + row) * 128], 64);
            if (kBroken || row == 3) SetFlag<MTE2_V>(0); // here
        }
        WaitFlag<MTE2_V>(0);
        Add(sum, sum, x, 256);
        Order<V_MTE2>();
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// Ids that are fetched, not allocated, stay free: both copies get the same one.
DEFECT(fetched_ids_are_the_same, "flag-misuse", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> left, right;
    pipe.InitBuffer(left, 1024);
    pipe.InitBuffer(right, 1024);
    auto a = left.Get<float>(), b = right.Get<float>();
    const auto ofA = kBroken ? pipe.FetchEventID<MTE2_V>() : pipe.AllocEventID<MTE2_V>();
    const auto ofB = kBroken ? pipe.FetchEventID<MTE2_V>() : pipe.AllocEventID<MTE2_V>();
    DataCopy(a, m.x, 256);
    SetFlag<MTE2_V>(ofA);
    DataCopy(b, m.y, 256);
    SetFlag<MTE2_V>(ofB); // here
    WaitFlag<MTE2_V>(ofA);
    Exp(a, a, 256);
    WaitFlag<MTE2_V>(ofB);
    Add(a, a, b, 256);
    if (!kBroken) pipe.ReleaseEventID<MTE2_V>(ofA);
    if (!kBroken) pipe.ReleaseEventID<MTE2_V>(ofB);
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), a, 256);
}

// The branch for the tail copies in with padding and forgets EnQue.
DEFECT(tail_is_not_enqueued, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 1, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        const uint32_t count = tile < 3 ? 64 : 42;
        auto x = in.AllocTensor<float>();
        if (tile < 3) {
            DataCopy(x, m.x[tile * 64], 64);
            in.EnQue(x);
        } else {
            DataCopyPad(x, m.x[tile * 64], DataCopyExtParams(1, count * 4, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 6, 0.0f));
            if (!kBroken) in.EnQue(x);
        }
        x = in.DeQue<float>(); // here
        auto y = out.AllocTensor<float>();
        Relu(y, x, count);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopyPad(m.MyZ()[tile * 64], y, DataCopyExtParams(1, count * 4, 0, 0, 0));
        out.FreeTensor(y);
    }
}

// Sequences end early; leaving the inner loop keeps the tensor in hand.
DEFECT(early_end_keeps_a_tensor, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 2, 1024);
    pipe.InitBuffer(room, 1024);
    auto sum = room.Get<float>();
    Duplicate(sum, 0.0f, 256);
    for (uint32_t batch = 0; batch < 3; ++batch) {
        for (uint32_t row = 0; row < 4; ++row) {
            auto x = in.AllocTensor<float>(); // here
            DataCopy(x, m.x[(batch * 4 + row) * 256], 256);
            in.EnQue(x);
            x = in.DeQue<float>();
            Add(sum, sum, x, 256);
            if (row == 2) {
                if (!kBroken) in.FreeTensor(x);
                break;
            }
            in.FreeTensor(x);
        }
    }
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 256);
}

// The temporary of each round comes from a queue with one buffer and is freed after the last round only.
DEFECT(temporary_freed_after_the_last_round, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    TQue<TPosition::VECCALC, 1> temporaries;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(temporaries, 1, 256);
    pipe.InitBuffer(room, 256);
    auto sum = room.Get<float>();
    Duplicate(sum, 0.0f, 64);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    x = in.DeQue<float>();
    for (uint32_t part = 0; part < 4; ++part) {
        auto square = temporaries.AllocTensor<float>(); // here
        Mul(square, x[part * 64], x[part * 64], 64);
        Add(sum, sum, square, 64);
        if (!kBroken || part == 3) temporaries.FreeTensor(square);
    }
    in.FreeTensor(x);
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 64);
}

// Two input queues, and each gets the other's tensor back.
DEFECT(tensors_freed_crosswise, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue ofX, ofY;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(ofX, 1, 1024);
    pipe.InitBuffer(ofY, 1, 1024);
    pipe.InitBuffer(room, 1024);
    auto out = room.Get<float>();
    auto x = ofX.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    ofX.EnQue(x);
    auto y = ofY.AllocTensor<float>();
    DataCopy(y, m.y, 256);
    ofY.EnQue(y);
    x = ofX.DeQue<float>();
    y = ofY.DeQue<float>();
    Max(out, x, y, 256);
    ofX.FreeTensor(kBroken ? y : x); // here
    ofY.FreeTensor(kBroken ? x : y);
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), out, 256);
}

// The scale is the first number of the tile, looked up after the tile has been given back.
DEFECT(scale_looked_up_in_a_freed_tensor, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 1, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Adds(y, x, 1.0f, 64);
        if (kBroken) in.FreeTensor(x);
        Order<MTE2_S>(7);
        const float scale = x.GetValue(0); // here
        Order<HardEvent::S_MTE2>(7);
        if (!kBroken) in.FreeTensor(x);
        Muls(y, y, scale, 64);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[tile * 64], y, 64);
        out.FreeTensor(y);
    }
}

// The mask of the tail stays set for the call after it, which says by `false` that it takes what is set.
DEFECT(mask_of_the_tail_left_set, "uninitialised-read", 1)
{
    auto x = Ub(0), y = Ub(1024);
    const UnaryRepeatParams steps(1, 1, 8, 8);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    SetVectorMask<float>(0, (uint64_t(1) << 40) - 1);
    Exp<float, false>(x[192], x[192], MASK_PLACEHOLDER, 1, steps);
    if (!kBroken) ResetMask();
    Adds<float, false>(y, x, 1.0f, MASK_PLACEHOLDER, 4, steps);
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, 256); // here
}

// 4096 numbers in tiles of 1200: the last one is copied in as if it were full.
DEFECT(full_tile_at_the_end, "out-of-bounds-gm", 1)
{
    TPipe pipe;
    InQueue2 in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 2, 4800);
    pipe.InitBuffer(room, 4800);
    auto sum = room.Get<float>();
    Duplicate(sum, 0.0f, 1200);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        const uint32_t count = !kBroken && tile == 3 ? 4096 - 3 * 1200 : 1200;
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 1200], count); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        Add(sum, sum, x, count);
        in.FreeTensor(x);
    }
    Order<V_MTE3>(7);
    DataCopy(m.MyZ(), sum, 256);
}

// The first 64 columns of a matrix with 256: the pitch is passed where the gap belongs.
DEFECT(pitch_of_the_source_passed_as_gap, "out-of-bounds-gm", 1)
{
    auto x = Ub(0, 1024);
    const uint32_t gap = kBroken ? 256 * sizeof(float) : (256 - 64) * sizeof(float);
    DataCopyPad(x, m.x, DataCopyExtParams(16, 64 * sizeof(float), gap, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
    Order<MTE2_V>();
    for (uint32_t row = 1; row < 16; ++row) {
        Add(x, x, x[row * 64], 64);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Rows that lie close together are copied out with the gap that they had in the buffer before.
DEFECT(gap_of_the_buffer_on_the_way_out, "out-of-bounds-gm", 1)
{
    auto x = Ub(0, 512), y = Ub(4096);
    DataCopy(x, m.x, 512);
    Order<MTE2_V>();
    for (uint32_t row = 0; row < 4; ++row) {
        Add(y[row * 64], x[row * 128], x[row * 128 + 64], 64);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), y, DataCopyParams(4, 8, 0, kBroken ? 8 : 0)); // here
}

// The head of the next row is looked up for the last row too.
DEFECT(head_behind_the_last_row, "out-of-bounds-gm?", 1)
{
    auto x = Ub(0, 64);
    for (uint32_t row = 0; row < 4; ++row) {
        const bool more = kBroken || row + 1 < 4;
        DataCopy(x, m.x[row * 1024], 64);
        const float next = more ? m.x.GetValue((row + 1) * 1024) : 0.0f; // here
        Order<MTE2_V>();
        Adds(x, x, next, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ()[row * 64], x, 64);
        Order<MTE3_MTE2>();
    }
}

// A counter in the workspace is written by copies and read by the scalar unit, whose cache still has it from the round before.
DEFECT(counter_read_from_the_cache, "stale-cache-line", 1)
{
    auto counter = m.MyW().ReinterpretCast<int32_t>();
    auto count = Ub<int32_t>(0, 8);
    auto x = Ub(1024);
    int32_t total = 0;
    DataCopy(x, m.x, 256);
    for (int32_t round = 1; round <= 2; ++round) {
        Duplicate(count, round, 8);
        Order<V_MTE3>();
        DataCopy(counter, count, 8);
        PipeBarrier<PIPE_ALL>();
        if (!kBroken) CleanLine(counter);
        total += counter.GetValue(0); // here
    }
    Adds(x, x, static_cast<float>(total), 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}
