// Flags by hand: ping-pong with ids, prologues and epilogues, ids from the pipe object.
#include <defect.h>

constexpr uint32_t kTile = 64;
constexpr uint32_t kBytes = kTile * sizeof(float);
constexpr uint32_t kOut = 32768;

// The way back is set for the buffer that is filled next, not for the one that has just been read.
DEFECT(way_back_of_the_wrong_half, "flag-misuse", 1)
{
    SetFlag<V_MTE2>(EVENT_ID0);
    SetFlag<V_MTE2>(EVENT_ID1);
    for (int32_t i = 0; i < 4; ++i) {
        const int32_t half = i & 1;
        WaitFlag<V_MTE2>(half);
        DataCopy(Ub(half * kBytes), m.x[i * kTile], kTile);
        SetFlag<MTE2_V>(half);
        WaitFlag<MTE2_V>(half);
        Adds(Ub(kOut + i * kBytes), Ub(half * kBytes), 1.0f, kTile);
        SetFlag<V_MTE2>(kBroken ? 1 - half : half); // here
    }
    WaitFlag<V_MTE2>(EVENT_ID0);
    WaitFlag<V_MTE2>(EVENT_ID1);
}

// The epilogue takes back one of the two flags.
DEFECT(epilogue_takes_one_of_two, "flag-misuse?", 1)
{
    SetFlag<V_MTE2>(EVENT_ID0);
    SetFlag<V_MTE2>(EVENT_ID1);
    for (int32_t i = 0; i < 3; ++i) {
        const int32_t half = i & 1;
        WaitFlag<V_MTE2>(half);
        DataCopy(Ub(half * kBytes), m.x[i * kTile], kTile);
        SetFlag<MTE2_V>(half);
        WaitFlag<MTE2_V>(half);
        Adds(Ub(kOut + i * kBytes), Ub(half * kBytes), 1.0f, kTile);
        SetFlag<V_MTE2>(half); // here
    }
    WaitFlag<V_MTE2>(EVENT_ID0);
    if (!kBroken) WaitFlag<V_MTE2>(EVENT_ID1);
}

// No prologue: the first copy waits for a buffer that nobody has declared free.
DEFECT(loop_without_its_prologue, "deadlock", 1)
{
    if (!kBroken) {
        SetFlag<V_MTE2>(EVENT_ID0);
        SetFlag<V_MTE2>(EVENT_ID1);
    }
    for (int32_t i = 0; i < 4; ++i) {
        const int32_t half = i & 1;
        WaitFlag<V_MTE2>(half); // here
        DataCopy(Ub(half * kBytes), m.x[i * kTile], kTile);
        SetFlag<MTE2_V>(half);
        WaitFlag<MTE2_V>(half);
        Adds(Ub(kOut + i * kBytes), Ub(half * kBytes), 1.0f, kTile);
        SetFlag<V_MTE2>(half);
    }
    if (!kBroken) {
        WaitFlag<V_MTE2>(EVENT_ID0);
        WaitFlag<V_MTE2>(EVENT_ID1);
    }
}

// With a single tile the second buffer is never declared free, but waited for.
DEFECT(epilogue_for_a_buffer_never_used, "deadlock", 1)
{
    int32_t tiles = 1;
    SetFlag<MTE3_V>(EVENT_ID0);
    if (tiles > 1) SetFlag<MTE3_V>(EVENT_ID1);
    for (int32_t i = 0; i < tiles; ++i) {
        WaitFlag<MTE3_V>(i & 1);
        Duplicate(Ub((i & 1) * kBytes), 1.0f, kTile);
        SetFlag<V_MTE3>(i & 1);
        WaitFlag<V_MTE3>(i & 1);
        DataCopy(m.z[i * kTile], Ub((i & 1) * kBytes), kTile);
        SetFlag<MTE3_V>(i & 1);
    }
    WaitFlag<MTE3_V>(EVENT_ID0);
    if (kBroken || tiles > 1) WaitFlag<MTE3_V>(EVENT_ID1); // here
}

// CopyOut takes an id of its own for every tile and returns none.
DEFECT(event_id_for_every_tile, "flag-misuse", 1)
{
    struct Store {
        TPipe& pipe;
        __aicore__ inline void operator()(const GlobalTensor<float>& to, const LocalTensor<float>& from)
        {
            const TEventID id = pipe.AllocEventID<V_MTE3>(); // here
            SetFlag<V_MTE3>(id);
            WaitFlag<V_MTE3>(id);
            DataCopy(to, from, 16);
            if (!kBroken) pipe.ReleaseEventID<V_MTE3>(id);
            Order<MTE3_V>(EVENT_ID0);
        }
    };
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto a = buffer.Get<float>();
    Store store{pipe};
    for (uint32_t i = 0; i < 10; ++i) {
        Duplicate(a[i * 16], 1.0f, 16);
        store(m.z[i * 16], a[i * 16]);
    }
}

// FetchEventID only looks: without AllocEventID in between both calls name the same id.
DEFECT(two_ids_that_are_one, "flag-misuse", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto x = buffer.GetWithOffset<float>(kTile, 0);
    auto y = buffer.GetWithOffset<float>(kTile, 1024);
    auto z = buffer.GetWithOffset<float>(kTile, 2048);
    const TEventID first = kBroken ? pipe.FetchEventID<MTE2_V>() : pipe.AllocEventID<MTE2_V>();
    const TEventID second = kBroken ? pipe.FetchEventID<MTE2_V>() : pipe.AllocEventID<MTE2_V>();
    DataCopy(x, m.x, kTile);
    SetFlag<MTE2_V>(first);
    DataCopy(y, m.y, kTile);
    SetFlag<MTE2_V>(second); // here
    WaitFlag<MTE2_V>(first);
    Exp(z, x, kTile);
    WaitFlag<MTE2_V>(second);
    Mul(z, z, y, kTile);
    if (!kBroken) {
        pipe.ReleaseEventID<MTE2_V>(first);
        pipe.ReleaseEventID<MTE2_V>(second);
    }
}

// The id goes back before its flag has been waited for, and the queue takes it for its own.
DEFECT(id_returned_before_the_wait, "flag-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(in, 1, kBytes);
    pipe.InitBuffer(buffer, 2048);
    auto weight = buffer.GetWithOffset<float>(kTile, 0);
    DataCopy(weight, m.y, kTile);
    const TEventID loaded = pipe.AllocEventID<MTE2_V>();
    SetFlag<MTE2_V>(loaded);
    if (kBroken) pipe.ReleaseEventID<MTE2_V>(loaded);
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, kTile);
    in.EnQue(x); // here
    WaitFlag<MTE2_V>(loaded);
    if (!kBroken) pipe.ReleaseEventID<MTE2_V>(loaded);
    x = in.DeQue<float>();
    Mul(buffer.GetWithOffset<float>(kTile, 1024), x, weight, kTile);
    in.FreeTensor(x);
}

// Exponentials are kept in global memory between two passes. Queues order buffers, not what lies in global memory.
DEFECT(second_pass_reads_the_first_too_early, "race", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, kBytes);
    pipe.InitBuffer(out, 2, kBytes);
    for (uint32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto e = out.AllocTensor<float>();
        Exp(e, x, kTile);
        in.FreeTensor(x);
        out.EnQue(e);
        e = out.DeQue<float>();
        DataCopy(m.w[i * kTile], e, kTile);
        out.FreeTensor(e);
    }
    if (!kBroken) Order<MTE3_MTE2>(pipe.FetchEventID(MTE3_MTE2));
    for (uint32_t i = 0; i < 2; ++i) {
        auto e = in.AllocTensor<float>();
        DataCopy(e, m.w[i * kTile], kTile); // here
        in.EnQue(e);
        e = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Muls(y, e, 0.5f, kTile);
        in.FreeTensor(e);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[i * kTile], y, kTile);
        out.FreeTensor(y);
    }
}

// The flag of the copy out turned round.
DEFECT(copy_out_behind_the_reverse_flag, "race", 1)
{
    for (int32_t row = 0; row < 3; ++row) {
        if (row > 0) WaitFlag<MTE3_V>(EVENT_ID3 + row);
        Duplicate(Ub(kOut), 0.25f, kTile);
        Muls(Ub(kOut), Ub(kOut), 4.0f, kTile);
        if (kBroken) Order<MTE3_V>(row);
        else Order<V_MTE3>(row);
        DataCopy(m.z[row * kTile], Ub(kOut), kTile); // here
        if (row + 1 < 3) SetFlag<MTE3_V>(EVENT_ID3 + row + 1);
    }
}

// One flag for two copies, set between them.
DEFECT(flag_between_two_copies, "race", 1)
{
    DataCopy(Ub(0), m.x, kTile);
    if (kBroken) SetFlag<MTE2_V>(EVENT_ID0);
    DataCopy(Ub(kBytes), m.y, kTile);
    if (!kBroken) SetFlag<MTE2_V>(EVENT_ID0);
    WaitFlag<MTE2_V>(EVENT_ID0);
    Add(Ub(kOut), Ub(0), Ub(kBytes), kTile); // here
}

// The tile is declared free after the first of its two readers.
DEFECT(way_back_before_the_last_reader, "race", 1)
{
    for (int32_t i = 0; i < 3; ++i) {
        if (i > 0) WaitFlag<V_MTE2>(EVENT_ID0);
        DataCopy(Ub(0), m.x[i * kTile], kTile); // here
        Order<MTE2_V>(EVENT_ID0);
        Mul(Ub(kOut), Ub(0), Ub(0), kTile);
        if (kBroken && i + 1 < 3) SetFlag<V_MTE2>(EVENT_ID0);
        Add(Ub(kOut + kBytes), Ub(kOut), Ub(0), kTile);
        if (!kBroken && i + 1 < 3) SetFlag<V_MTE2>(EVENT_ID0);
    }
}

// A barrier of the vector unit orders its own instructions.
DEFECT(barrier_of_the_vector_unit_before_the_copy_out, "race", 1)
{
    DataCopy(Ub(0), m.x, kTile);
    Order<MTE2_V>();
    Exp(Ub(kOut), Ub(0), kTile);
    PipeBarrier<PIPE_V>();
    Adds(Ub(kOut), Ub(kOut), 1.0f, kTile);
    PipeBarrier<PIPE_V>();
    if (!kBroken) Order<V_MTE3>();
    DataCopy(m.z, Ub(kOut), kTile); // here
}

// The wait begins one round late, so that the flag is set again before the first wait.
DEFECT(wait_from_the_second_round_on, "flag-misuse", 1)
{
    for (int32_t i = 0; i < 4; ++i) {
        if (i > (kBroken ? 1 : 0)) WaitFlag<MTE3_V>(EVENT_ID0);
        Duplicate(Ub(kOut + (kBroken ? i * kBytes : 0)), 1.0f, kTile);
        Order<V_MTE3>(1 + i);
        DataCopy(m.z[i * kTile], Ub(kOut + (kBroken ? i * kBytes : 0)), kTile);
        SetFlag<MTE3_V>(EVENT_ID0); // here
    }
    WaitFlag<MTE3_V>(EVENT_ID0);
    if (kBroken) WaitFlag<MTE3_V>(EVENT_ID0);
}
