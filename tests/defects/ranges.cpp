// Accesses outside of what they were meant for: buffers, their neighbours, tensors, workspaces.
#include <defect.h>


// Buffers are cut in bytes, the tile's length is in elements: the first tile runs into the second buffer.
DEFECT(buffers_cut_in_elements, "out-of-bounds-ub", 1)
{
    constexpr uint32_t tile = 64;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, kBroken ? tile : tile * sizeof(float));
    pipe.InitBuffer(out, 2, tile * sizeof(float));
    for (uint32_t i = 0; i < 4; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], tile); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Abs(y, x, tile);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[i * tile], y, tile);
        out.FreeTensor(y);
    }
}

// Half in and float out, but the output's buffers have the input's size.
DEFECT(wider_output_in_narrow_buffers, "out-of-bounds-ub", 1)
{
    constexpr uint32_t tile = 128;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(out, 2, tile * (kBroken ? sizeof(half) : sizeof(float)));
    pipe.InitBuffer(in, 2, tile * sizeof(half));
    for (uint32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<half>();
        DataCopy(x, m.x.ReinterpretCast<half>()[i * tile], tile);
        in.EnQue(x);
        x = in.DeQue<half>();
        auto y = out.AllocTensor<float>();
        Cast(y, x, RoundMode::CAST_NONE, tile); // here
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[i * tile], y, tile);
        out.FreeTensor(y);
    }
}

// A fill takes elements and gets bytes.
DEFECT(fill_of_a_scratch_in_bytes, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> sumBuffer, maxBuffer;
    pipe.InitBuffer(sumBuffer, 1024);
    pipe.InitBuffer(maxBuffer, 1024);
    auto rowMax = maxBuffer.Get<float>();
    auto sum = sumBuffer.Get<float>();
    Duplicate(rowMax, -1.0e30f, static_cast<int32_t>(rowMax.GetSize()));
    Duplicate(sum, 0.0f, static_cast<int32_t>(kBroken ? sum.GetLength() : sum.GetSize())); // here
}

// Two halves of a scratch; the second begins so late that it does not end within it.
DEFECT(second_half_of_a_scratch_too_long, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> scratch, other;
    pipe.InitBuffer(scratch, 1024);
    pipe.InitBuffer(other, 1024);
    auto all = scratch.Get<float>();
    auto low = all[0];
    auto high = all[kBroken ? 192 : 128];
    Duplicate(low, 1.0f, 128);
    Adds(high, low, 1.0f, 128); // here
}

// 4096 elements over three blocks, shares rounded up to whole blocks of 32 bytes: the last share ends 8 elements late.
DEFECT(last_share_rounded_up, "out-of-bounds-gm?", 3)
{
    const uint32_t share = AlignUp(DivCeil(Memory::kInput, m.blocks), 8);
    const uint32_t start = m.block * share;
    uint32_t count = share;
    if (!kBroken && start + count > Memory::kInput) count = Memory::kInput - start;
    DataCopy(Ub(0, 2048), m.x[start], count); // here
    Order<MTE2_V>();
    Adds(Ub(32768, 2048), Ub(0, 2048), 1.0f, static_cast<int32_t>(count));
}

// The indices are int32, the kernel was written for int64.
DEFECT(indices_of_the_wrong_width, "out-of-bounds-gm", 1)
{
    const GlobalTensor<int64_t> wide = m.x.ReinterpretCast<int64_t>();
    const GlobalTensor<int32_t> narrow = m.x.ReinterpretCast<int32_t>();
    int64_t sum = 0;
    for (uint32_t i = 0; i < Memory::kInput; i += 1024) {
        const uint32_t at = i + 1023;
        sum += kBroken ? wide.GetValue(at) : narrow.GetValue(at); // here
    }
    Duplicate(Ub(0), sum > 0 ? 1.0f : 0.0f, 64);
}

// The host asked for the kernel's own workspace and forgot the 16 MiB that the system keeps in front of it.
DEFECT(workspace_without_the_systems_share, "out-of-bounds-gm", 1)
{
    GlobalTensor<float> user;
    GM_ADDR start = reinterpret_cast<GM_ADDR>(m.w.address_);
    user.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(kBroken ? GetUserWorkspace(start) : start), 256);
    Duplicate(Ub(0), 0.0f, 256);
    Order<V_MTE3>();
    DataCopy(user, Ub(0), 256); // here
}

// Ping and pong have 256 elements each, the workspace was reckoned for one of them.
DEFECT(workspace_for_one_of_two_halves, "out-of-bounds-gm", 1)
{
    constexpr uint32_t length = kBroken ? 256 : 128;
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    for (uint32_t i = 0; i < 2; ++i) {
        DataCopy(m.w[i * length], Ub(0), length); // here
    }
    Order<MTE3_MTE2>();
    DataCopy(Ub(4096), m.w, length);
}

// 250 elements in rows of 64 are four rows; the last has 58. With one row added "for the tail" there are five.
DEFECT(one_row_for_a_tail_that_is_counted, "out-of-bounds-gm", 1)
{
    uint32_t total = 250;
    const uint32_t rows = (total + 63) / 64 + (kBroken && total % 64 != 0 ? 1 : 0);
    Duplicate(Ub(0), 1.0f, 64);
    Order<V_MTE3>();
    for (uint32_t row = 0; row < rows; ++row) {
        DataCopy(m.z[row * 64], Ub(0), 64); // here
    }
}

// The stride of DataCopyPad is the gap between rows, not the distance from row to row.
DEFECT(pitch_given_as_gap, "out-of-bounds-gm", 1)
{
    const uint32_t pitch = 1024, length = 512;
    const uint32_t stride = kBroken ? pitch : pitch - length;
    DataCopyPad(Ub(0), m.x, DataCopyExtParams(16, length, stride, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
}

// Every share is read with the eight elements before it; the first has none.
DEFECT(halo_before_the_first_share, "out-of-bounds-gm", 2)
{
    const int64_t start = static_cast<int64_t>(m.block) * 1024;
    const bool first = m.block == 0;
    if (!kBroken && first) {
        DataCopy(Ub(32), m.x[start], 1024);
    } else {
        DataCopy(Ub(0, 2048), m.x[start - 8], 1032); // here
    }
    Order<MTE2_V>();
    Relu(Ub(32768, 2048), Ub(32, 2048), 1024);
}

// Buffers are cut anew for every batch, and the pipe object never hears that the old ones are done with.
DEFECT(buffers_cut_for_every_batch, "ub-overflow", 1)
{
    constexpr uint32_t tile = 64;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    for (uint32_t batch = 0; batch < 4; ++batch) {
        if (!kBroken && batch > 0) pipe.Reset();
        pipe.InitBuffer(in, 2, 20 * 1024); // here
        pipe.InitBuffer(out, 2, 20 * 1024);
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[batch * tile], tile);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Exp(y, x, tile);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[batch * tile], y, tile);
        out.FreeTensor(y);
        if (!kBroken) PipeBarrier<PIPE_ALL>();
    }
}

// A maximum with its index needs room for a pair of every repeat, and for the levels above them.
DEFECT(work_buffer_of_a_maximum_too_small, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> data, work, result;
    pipe.InitBuffer(data, 4096 * 4);
    pipe.InitBuffer(work, kBroken ? 64 : 1024);
    pipe.InitBuffer(result, 32);
    auto x = data.Get<float>();
    DataCopy(x, m.x, 4096);
    Order<MTE2_V>();
    ReduceMax(result.Get<float>(), x, work.Get<float>(), 4096, true); // here
}
