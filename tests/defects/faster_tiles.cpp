// Kernels made faster by hand or by machine: flags, buffers and masks that did not come along.
#include <defect.h>

// The next tile is on its way before the half that it goes to has been waited for.
DEFECT(prefetches_before_the_wait, "race", 1)
{
    auto sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t half = tile & 1, next = half ^ 1;
        if (tile + 1 < 4) {
            if (!kBroken && tile > 0) WaitFlag<V_MTE2>(next);
            DataCopy(Ub(next * 1024), m.x[(tile + 1) * 256], 256); // here
            if (kBroken && tile > 0) WaitFlag<V_MTE2>(next);
            SetFlag<MTE2_V>(next);
        }
        WaitFlag<MTE2_V>(half);
        Add(sum, sum, Ub(half * 1024), 256);
        if (tile < 2) SetFlag<V_MTE2>(half);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// Three tiles in flight, with the two events of double buffering.
DEFECT(three_tiles_on_two_events, "flag-misuse", 1)
{
    const int32_t ids = kBroken ? 2 : 3;
    for (int32_t tile = 0; tile < 3; ++tile) {
        DataCopy(Ub(tile * 1024), m.x[tile * 256], 256);
        SetFlag<MTE2_V>(tile % ids); // here
    }
    auto sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    for (int32_t tile = 0; tile < 3; ++tile) {
        WaitFlag<MTE2_V>(tile % ids);
        Add(sum, sum, Ub(tile * 1024), 256);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// The wait for the copy out has been hoisted out of the loop over rows.
DEFECT(store_awaited_behind_the_rows, "race", 1)
{
    auto rows = Ub(0), out = Ub(1024, 64);
    DataCopy(rows, m.x, 256);
    Order<MTE2_V>();
    for (uint32_t row = 0; row < 4; ++row) {
        Muls(out, rows[row * 64], 0.5f, 64); // here
        Exp(out, out, 64);
        Order<V_MTE3>();
        DataCopy(m.MyZ()[row * 64], out, 64);
        if (!kBroken) Order<MTE3_V>();
    }
    if (kBroken) Order<MTE3_V>();
}

// Computed in place and stored from the buffer of the loads, which knows of the vector unit only when it is given back.
DEFECT(stored_from_the_buffer_of_the_loads, "race", 1)
{
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 1, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = queue.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64); // here
        queue.EnQue(x);
        x = queue.DeQue<float>();
        Muls(x, x, 2.0f, 64);
        Order<V_MTE3>(7);
        DataCopy(m.MyZ()[tile * 64], x, 64);
        if (!kBroken) Order<MTE3_MTE2>(7);
        queue.FreeTensor(x);
    }
}

// One place in the workspace for all rounds: the next one is spilt while the last one is still read back.
DEFECT(spilt_over_what_is_read_back, "race", 1)
{
    auto x = Ub(0, 1024), out = Ub(4096), back = Ub(8192, 1024);
    DataCopy(x, m.x, 1024);
    Order<MTE2_V>();
    for (uint32_t tile = 0; tile < 4; ++tile) {
        if (tile > 0) Order<MTE3_V>();
        Muls(out, x[tile * 256], 2.0f, 256);
        Order<V_MTE3>();
        if (!kBroken && tile > 0) Order<MTE2_MTE3>();
        DataCopy(m.MyW(), out, 256); // here
        Order<MTE3_MTE2>();
        DataCopy(back[tile * 256], m.MyW(), 256);
    }
    Order<MTE2_V>();
    Add(back, back, back[256], 256);
    Add(back, back, back[768], 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), back, 256);
}

// The output queue has become a plain buffer, and its order a barrier of the vector unit.
DEFECT(output_queue_made_a_plain_buffer, "race", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> results;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(results, 1024);
    auto y = results.Get<float>();
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        Muls(y[tile * 64], x, 3.0f, 64);
        in.FreeTensor(x);
        if (kBroken) {
            PipeBarrier<PIPE_V>();
        } else {
            Order<V_MTE3>(7);
        }
        DataCopy(m.MyZ()[tile * 64], y[tile * 64], 64); // here
    }
}

// Scratch memory moved down to save room: it now reaches into the tile that is being fetched.
DEFECT(scratch_over_the_tile_on_its_way, "race", 1)
{
    auto x = Ub(0), next = Ub(1024);
    auto scratch = Ub(kBroken ? 1536 : 2048);
    DataCopy(x, m.x, 256);
    SetFlag<MTE2_V>(0);
    DataCopy(next, m.x[256], 256);
    SetFlag<MTE2_V>(1);
    WaitFlag<MTE2_V>(0);
    Exp(scratch, x, 256); // here
    Muls(x, scratch, 0.5f, 256);
    WaitFlag<MTE2_V>(1);
    Add(x, x, next, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 256);
}

// A row of defaults and the values that replace some of them are fetched without a barrier in between.
DEFECT(defaults_fetched_along_with_values, "race", 1)
{
    auto row = Ub(0);
    DataCopy(row, m.y, 256);
    if (!kBroken) PipeBarrier<PIPE_MTE2>();
    DataCopy(row, m.x[512], 200); // here
    Order<MTE2_V>();
    Relu(row, row, 256);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), row, 256);
}

// The input is given back early, after the first of the two instructions that read it.
DEFECT(given_back_between_two_readers, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 2, 512);
    pipe.InitBuffer(out, 2, 512);
    for (uint32_t tile = 0; tile < 2; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 128], 128);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Abs(y, x, 128);
        if (kBroken) in.FreeTensor(x);
        Add(y, y, x, 128); // here
        if (!kBroken) in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[tile * 128], y, 128);
        out.FreeTensor(y);
    }
}

// The last tensor is not given back, for nobody asks for it any more.
DEFECT(last_tensor_kept_back, "queue-misuse?", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 2, 256);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[tile * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>(); // here
        auto y = out.AllocTensor<float>();
        Exp(y, x, 64);
        if (!kBroken || tile + 1 < 4) in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[tile * 64], y, 64);
        out.FreeTensor(y);
    }
}

// Both halves are declared free at the start, but only one is waited for at the end.
DEFECT(one_half_never_drained, "flag-misuse?", 1)
{
    auto sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    SetFlag<V_MTE2>(0);
    SetFlag<V_MTE2>(1);
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t half = tile & 1;
        auto x = Ub(half * 1024);
        WaitFlag<V_MTE2>(half);
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>(half);
        Add(sum, sum, x, 256);
        SetFlag<V_MTE2>(half); // here
    }
    WaitFlag<V_MTE2>(0);
    if (!kBroken) WaitFlag<V_MTE2>(1);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), sum, 256);
}

// A half is released to the stores although the loads wait for it.
DEFECT(half_released_to_the_wrong_pipe, "deadlock", 1)
{
    auto sum = Ub(4096);
    Duplicate(sum, 0.0f, 256);
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t half = tile & 1;
        auto x = Ub(half * 1024);
        if (tile >= 2) WaitFlag<V_MTE2>(half); // here
        DataCopy(x, m.x[tile * 256], 256);
        Order<MTE2_V>(half);
        Add(sum, sum, x, 256);
        if (tile < 2) SetFlag<kBroken ? V_MTE3 : V_MTE2>(half);
    }
    Order<V_MTE3>(2);
    DataCopy(m.MyZ(), sum, 256);
}

// One tile more than there are events, and the tile's number for the event.
DEFECT(ninth_tile_ninth_event, "flag-misuse", 1)
{
    auto x = Ub(0);
    for (int32_t tile = 0; tile < 9; ++tile) {
        const int32_t id = kBroken ? tile : tile % 8;
        DataCopy(x[tile * 24], m.x[tile * 24], 24);
        SetFlag<MTE2_V>(id); // here
        WaitFlag<MTE2_V>(id);
        Muls(x[tile * 24], x[tile * 24], 2.0f, 24);
    }
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 216);
}

// The tail is computed first, and its mask stays for the whole repeats.
DEFECT(mask_of_the_tail_kept, "uninitialised-read", 1)
{
    auto x = Ub(0), out = Ub(1024);
    DataCopy(x, m.x, 232);
    Order<MTE2_V>();
    SetMaskNorm();
    SetVectorMask<float>(40);
    Muls<float, false>(out[192], x[192], 2.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    if (!kBroken) SetVectorMask<float>(64);
    Muls<float, false>(out, x, 2.0f, MASK_PLACEHOLDER, 3, UnaryRepeatParams());
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 232); // here
}

// GatherMask leaves counter mode, which the next instruction counts on.
DEFECT(counter_mode_ended_by_a_gather, "uninitialised-read", 1)
{
    auto x = Ub(0), even = Ub(2048), out = Ub(4096);
    uint64_t kept = 0;
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(256);
    Muls<float, false>(x, x, 2.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    GatherMask(even, x, static_cast<uint8_t>(1), true, 256, GatherMaskParams(1, 1, 8, 0), kept);
    if (!kBroken) SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(128);
    Adds<float, false>(out, even, 1.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    SetMaskNorm();
    ResetMask();
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 128); // here
}

// A tree over a power of two, without the zeros behind the numbers that are there.
DEFECT(tree_over_the_padding, "uninitialised-read?", 1)
{
    auto x = Ub(0, 512);
    if (!kBroken) Duplicate(x[480], 0.0f, 32);
    DataCopy(x, m.x, 480);
    Order<MTE2_V>();
    Add(x, x, x[256], 256); // here
    Add(x, x, x[128], 128);
    Add(x, x, x[64], 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// Reversed by a gather instead of a loop, with offsets that begin behind the last element.
DEFECT(reversed_from_one_too_far, "uninitialised-read?", 1)
{
    auto x = Ub(0), out = Ub(2048);
    auto index = Ub<int32_t>(4096);
    ArithProgression<int32_t>(index, kBroken ? 1024 : 1020, -4, 256);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Gather(out, x, index.ReinterpretCast<uint32_t>(), 0, 256); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 256);
}

// The tail is merged into the selection, but not into the comparison.
DEFECT(selected_beyond_the_comparison, "uninitialised-read?", 1)
{
    auto x = Ub(0), y = Ub(1024), out = Ub(2048);
    auto bits = Ub<uint8_t>(4096, 32);
    DataCopy(x, m.x, 256);
    DataCopy(y, m.y, 256);
    Order<MTE2_V>();
    Compare(bits, x, y, CMPMODE::GT, kBroken ? 192 : 256);
    Select(out, bits, x, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256); // here
    Order<V_MTE3>();
    DataCopy(m.MyZ(), out, 256);
}

// Ten rows over four cores: places with a remainder, lengths as if all had a part of it.
DEFECT(remainder_for_every_core, "cross-core-race", 4)
{
    const uint32_t each = 10 / m.blocks, rest = 10 % m.blocks;
    const uint32_t first = m.block * each + (m.block < rest ? m.block : rest);
    const uint32_t rows = each + (kBroken || m.block < rest ? 1 : 0);
    auto x = Ub(0, 192);
    DataCopy(x, m.x[first * 64], rows * 64);
    Order<MTE2_V>();
    Muls(x, x, 2.0f, rows * 64);
    Order<V_MTE3>();
    DataCopy(m.z[first * 64], x, rows * 64); // here
}

// Partial sums of all cores are read behind a flag of this core only: SyncAll seemed slow.
DEFECT(all_cores_ordered_by_a_flag_of_one, "cross-core-race", 4)
{
    auto x = Ub(0), part = Ub(2048, 64), all = Ub(4096);
    DataCopy(x, m.x[m.block * 256], 256);
    Order<MTE2_V>();
    Add(part, x, x[64], 64);
    Add(part, part, x[128], 64);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 64], part, 64); // here
    if (kBroken) {
        Order<MTE3_MTE2>();
    } else {
        SyncAll();
    }
    DataCopy(all, m.w, 256);
    Order<MTE2_V>();
    Add(all, all, all[128], 128);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), all, 128);
}

// The other core is told by the pipe that loads, not by the one that stores.
DEFECT(told_by_the_loading_pipe, "cross-core-race", 2)
{
    auto x = Ub(0, 128), other = Ub(1024, 128);
    DataCopy(x, m.x[m.block * 128], 128);
    Order<MTE2_V>();
    Muls(x, x, 0.5f, 128);
    Order<V_MTE3>();
    DataCopy(m.w[m.block * 128], x, 128); // here
    CrossCoreSetFlag<0, kBroken ? PIPE_MTE2 : PIPE_MTE3>(5);
    CrossCoreWaitFlag(5);
    DataCopy(other, m.w[(1 - m.block) * 128], 128);
    Order<MTE2_V>();
    Add(other, other, x, 128);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), other, 128);
}

// Merged by atomic sums, and read before the other cores have added theirs.
DEFECT(read_before_all_have_added, "cross-core-race", 3)
{
    auto part = Ub(0, 64), zero = Ub(1024, 64), total = Ub(2048, 64);
    Duplicate(zero, 0.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.w, zero, 64);
    DataCopy(part, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    Abs(part, part, 64);
    Order<V_MTE3>();
    SyncAll();
    SetAtomicAdd<float>();
    DataCopy(m.w, part, 64); // here
    SetAtomicNone();
    if (kBroken) {
        PipeBarrier<PIPE_ALL>();
    } else {
        SyncAll();
    }
    DataCopy(total, m.w, 64);
    Order<MTE2_V>();
    Muls(total, total, 0.5f, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), total, 64);
}

// The sums of the cores have moved together to save workspace: into one line of the data caches.
DEFECT(sums_side_by_side_in_a_line, "cross-core-race", 4)
{
    const uint32_t pitch = kBroken ? 1 : 16;
    auto x = Ub(0, 64), sum = Ub(512, 8);
    auto slot = m.w[m.block * pitch];
    DataCopy(x, m.x[m.block * 64], 64);
    Order<MTE2_V>();
    WholeReduceSum(sum, x, 64, 1, 1, 1, 8);
    slot.SetValue(0, sum.GetValue(0)); // here
    CleanLine(slot);
    SyncAll();
    float total = 0.0f;
    for (uint32_t core = 0; core < m.blocks; ++core) total += m.w.GetValue(core * pitch);
    Adds(x, x, total, 64);
    Order<V_MTE3>();
    DataCopy(m.MyZ(), x, 64);
}

// The number of tiles rounds down.
OUTPUT_DEFECT(tail_lost_in_the_division, "unwritten-output", 1)
{
    constexpr uint32_t tile = 80;
    const uint32_t tiles = kBroken ? 256 / tile : (256 + tile - 1) / tile;
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 2, tile * 4);
    pipe.InitBuffer(out, 2, tile * 4);
    for (uint32_t i = 0; i < tiles; ++i) {
        const uint32_t count = 256 - i * tile < tile ? 256 - i * tile : tile;
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], count);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Sqrt(y, x, count);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.MyZ()[i * tile], y, count); // here
        out.FreeTensor(y);
    }
}

// Atomic sums in place of a sum on the core: the first tile is added as well, to whatever was there.
OUTPUT_DEFECT(first_tile_added_too, "uninitialised-read?", 1)
{
    auto x = Ub(0, 1024);
    DataCopy(x, m.x, 1024);
    Order<MTE2_V>();
    Muls(x, x, 0.25f, 1024);
    Order<V_MTE3>();
    for (int32_t tile = 0; tile < 4; ++tile) {
        if (tile == (kBroken ? 0 : 1)) SetAtomicAdd<float>();
        DataCopy(m.MyZ(), x[tile * 256], 256); // here
        PipeBarrier<PIPE_MTE3>();
    }
    SetAtomicNone();
}
