// Loops of queues as operators have them: CopyIn, Compute, CopyOut, one or two buffers, and what goes wrong between them.
#include <defect.h>

constexpr uint32_t kTile = 64;
constexpr uint32_t kTiles = 4;

// z = x + y. The first input goes back to its queue one line too early.
DEFECT(add_frees_its_input_before_the_sum, "queue-misuse", 1)
{
    struct Kernel {
        Memory& m;
        InQueue2 inX, inY;
        OutQueue2 outZ;
        __aicore__ inline void Init(TPipe& pipe)
        {
            pipe.InitBuffer(inX, 2, kTile * sizeof(float));
            pipe.InitBuffer(inY, 2, kTile * sizeof(float));
            pipe.InitBuffer(outZ, 2, kTile * sizeof(float));
        }
        __aicore__ inline void CopyIn(uint32_t i)
        {
            auto x = inX.AllocTensor<float>();
            auto y = inY.AllocTensor<float>();
            DataCopy(x, m.x[i * kTile], kTile);
            DataCopy(y, m.y[i * kTile], kTile);
            inX.EnQue(x);
            inY.EnQue(y);
        }
        __aicore__ inline void Compute()
        {
            auto x = inX.DeQue<float>();
            auto y = inY.DeQue<float>();
            auto z = outZ.AllocTensor<float>();
            if (kBroken) inX.FreeTensor(x);
            Add(z, x, y, kTile); // here
            if (!kBroken) inX.FreeTensor(x);
            inY.FreeTensor(y);
            outZ.EnQue(z);
        }
        __aicore__ inline void CopyOut(uint32_t i)
        {
            auto z = outZ.DeQue<float>();
            DataCopy(m.z[i * kTile], z, kTile);
            outZ.FreeTensor(z);
        }
    };
    TPipe pipe;
    Kernel op{m, {}, {}, {}};
    op.Init(pipe);
    for (uint32_t i = 0; i < kTiles; ++i) {
        op.CopyIn(i);
        op.Compute();
        op.CopyOut(i);
    }
}

// The branch for the last tile computes, but forgets to hand its result on.
DEFECT(last_tile_is_never_enqueued, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    pipe.InitBuffer(out, 2, kTile * sizeof(float));
    for (uint32_t i = 0; i < kTiles; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        if (i + 1 < kTiles) {
            Relu(y, x, kTile);
            out.EnQue(y);
        } else {
            Relu(y, x, kTile);
            if (!kBroken) out.EnQue(y);
        }
        in.FreeTensor(x);
        auto z = out.DeQue<float>(); // here
        DataCopy(m.z[i * kTile], z, kTile);
        out.FreeTensor(z);
    }
}

// A typing error: the tensor of x is handed to the queue of y.
DEFECT(enqueued_to_the_neighbouring_queue, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue inX, inY;
    pipe.InitBuffer(inX, 1, kTile * sizeof(float));
    pipe.InitBuffer(inY, 1, kTile * sizeof(float));
    auto x = inX.AllocTensor<float>();
    auto y = inY.AllocTensor<float>();
    DataCopy(x, m.x, kTile);
    DataCopy(y, m.y, kTile);
    (kBroken ? inY : inX).EnQue(x); // here
    inY.EnQue(y);
    x = inX.DeQue<float>();
    y = inY.DeQue<float>();
    Mul(Ub(65536), x, y, kTile);
    inX.FreeTensor(x);
    inY.FreeTensor(y);
}

// Mean and variance each take the row from the queue, which holds it once.
DEFECT(two_consumers_of_one_row, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(in, 1, kTile * sizeof(float));
    pipe.InitBuffer(work, 4 * kTile * sizeof(float));
    auto row = in.AllocTensor<float>();
    DataCopy(row, m.x, kTile);
    in.EnQue(row);
    auto forMean = in.DeQue<float>();
    auto mean = work.GetWithOffset<float>(8, 0);
    WholeReduceSum(mean, forMean, 64, 1, 1, 1, 8);
    auto squares = work.GetWithOffset<float>(kTile, 256);
    auto forVariance = kBroken ? in.DeQue<float>() : forMean; // here
    Mul(squares, forVariance, forVariance, kTile);
    in.FreeTensor(forMean);
}

// The next tile is fetched ahead, but the queue was given one buffer.
DEFECT(prefetch_with_a_single_buffer, "queue-misuse", 1)
{
    struct Kernel {
        Memory& m;
        InQueue2 in;
        OutQueue out;
        __aicore__ inline void CopyIn(uint32_t i)
        {
            auto x = in.AllocTensor<float>(); // here
            DataCopy(x, m.x[i * kTile], kTile);
            in.EnQue(x);
        }
        __aicore__ inline void ComputeAndStore(uint32_t i)
        {
            auto x = in.DeQue<float>();
            auto y = out.AllocTensor<float>();
            Exp(y, x, kTile);
            in.FreeTensor(x);
            out.EnQue(y);
            y = out.DeQue<float>();
            DataCopy(m.z[i * kTile], y, kTile);
            out.FreeTensor(y);
        }
    };
    TPipe pipe;
    Kernel op{m, {}, {}};
    pipe.InitBuffer(op.in, kBroken ? 1 : 2, kTile * sizeof(float));
    pipe.InitBuffer(op.out, 1, kTile * sizeof(float));
    op.CopyIn(0);
    for (uint32_t i = 0; i < kTiles; ++i) {
        if (i + 1 < kTiles) op.CopyIn(i + 1);
        op.ComputeAndStore(i);
    }
}

// Rows that are masked out are skipped, and with them the return of their buffers.
DEFECT(skipped_rows_keep_their_buffers, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    auto sum = Ub(65536, kTile);
    Duplicate(sum, 0.0f, kTile);
    for (uint32_t row = 0; row < 8; ++row) {
        auto x = in.AllocTensor<float>(); // here
        DataCopy(x, m.x[row * kTile], kTile);
        in.EnQue(x);
        x = in.DeQue<float>();
        if (row % 3 == 2) {
            if (!kBroken) in.FreeTensor(x);
            continue;
        }
        Add(sum, sum, x, kTile);
        in.FreeTensor(x);
    }
}

// CopyIn cleans up its own handle although the tensor now belongs to the queue.
DEFECT(freed_while_it_waits_in_the_queue, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    for (uint32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        in.EnQue(x);
        if (kBroken) in.FreeTensor(x); // here
        auto y = in.DeQue<float>();
        Adds(Ub(65536), y, 1.0f, kTile);
        in.FreeTensor(y);
    }
}

// In place in the input's buffer, and out from there: the input queue orders MTE2 and V only.
DEFECT(input_buffer_copied_out_at_once, "race", 1)
{
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    for (uint32_t i = 0; i < kTiles; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        in.EnQue(x);
        x = in.DeQue<float>();
        Muls(x, x, 0.5f, kTile);
        if (!kBroken) Order<V_MTE3>(static_cast<int32_t>(i));
        DataCopy(m.z[i * kTile], x, kTile); // here
        Order<MTE3_V>(static_cast<int32_t>(i));
        in.FreeTensor(x);
    }
}

// The same with the flag to the copy out, but the way back says nothing of it: the buffer is refilled while it is copied out.
DEFECT(input_buffer_refilled_behind_the_copy_out, "race", 1)
{
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    for (uint32_t i = 0; i < kTiles; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        Muls(x, x, 0.5f, kTile);
        Order<V_MTE3>(static_cast<int32_t>(i));
        DataCopy(m.z[i * kTile], x, kTile);
        // V_MTE2, which FreeTensor sets, comes after the copy only if the vector unit has waited for it.
        if (!kBroken) Order<MTE3_V>(static_cast<int32_t>(i));
        in.FreeTensor(x);
    }
}

// A running sum adds the tile before, whose tensor has gone back to the output queue.
DEFECT(carry_read_from_a_returned_tensor, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    TBuf<TPosition::VECCALC> kept;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    pipe.InitBuffer(out, 2, kTile * sizeof(float));
    pipe.InitBuffer(kept, kTile * sizeof(float));
    auto carry = kept.Get<float>();
    Duplicate(carry, 0.0f, kTile);
    LocalTensor<float> before = carry;
    for (uint32_t i = 0; i < kTiles; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        Add(y, x, before, kTile); // here
        in.FreeTensor(x);
        if (kBroken) before = y;
        else Adds(carry, y, 0.0f, kTile);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[i * kTile], y, kTile);
        out.FreeTensor(y);
    }
}

// The scale of every row is loaded to a TBuf, which has no flag that says that the row before is done.
DEFECT(scale_reloaded_under_the_product, "race", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    TBuf<TPosition::VECCALC> scaleBuffer;
    pipe.InitBuffer(in, 2, kTile * sizeof(float));
    pipe.InitBuffer(out, 2, kTile * sizeof(float));
    pipe.InitBuffer(scaleBuffer, kTile * sizeof(float));
    auto scale = scaleBuffer.Get<float>();
    const TEventID loaded[2] = {pipe.AllocEventID<MTE2_V>(), pipe.AllocEventID<MTE2_V>()};
    const TEventID used = pipe.AllocEventID<V_MTE2>();
    for (uint32_t row = 0; row < kTiles; ++row) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[row * kTile], kTile);
        in.EnQue(x);
        if (!kBroken && row > 0) WaitFlag<V_MTE2>(used);
        DataCopy(scale, m.y[row * kTile], kTile); // here
        SetFlag<MTE2_V>(loaded[row & 1]);
        x = in.DeQue<float>();
        auto y = out.AllocTensor<float>();
        WaitFlag<MTE2_V>(loaded[row & 1]);
        Mul(y, x, scale, kTile);
        if (!kBroken && row + 1 < kTiles) SetFlag<V_MTE2>(used);
        in.FreeTensor(x);
        out.EnQue(y);
        y = out.DeQue<float>();
        DataCopy(m.z[row * kTile], y, kTile);
        out.FreeTensor(y);
    }
    pipe.ReleaseEventID<MTE2_V>(loaded[0]);
    pipe.ReleaseEventID<MTE2_V>(loaded[1]);
    pipe.ReleaseEventID<V_MTE2>(used);
}

// A queue that binds copy in to copy out was good for moving; now something is computed in between.
DEFECT(vector_work_in_a_copy_queue, "race", 1)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> copy;
    pipe.InitBuffer(copy, 1, kTile * sizeof(float));
    for (uint32_t i = 0; i < kTiles; ++i) {
        auto x = copy.AllocTensor<float>();
        DataCopy(x, m.x[i * kTile], kTile);
        if (!kBroken) Order<MTE2_V>(pipe.FetchEventID(MTE2_V));
        copy.EnQue(x);
        x = copy.DeQue<float>();
        Muls(x, x, 2.0f, kTile); // here
        Order<V_MTE3>(pipe.FetchEventID(V_MTE3));
        DataCopy(m.z[i * kTile], x, kTile);
        copy.FreeTensor(x);
    }
}

// The index is freed before the scalar unit looks at it.
DEFECT(index_looked_up_in_a_freed_tensor, "queue-misuse", 1)
{
    TPipe pipe;
    InQueue in;
    pipe.InitBuffer(in, 1, kTile * sizeof(int32_t));
    auto index = in.AllocTensor<int32_t>();
    DataCopy(index, m.x.ReinterpretCast<int32_t>(), kTile);
    in.EnQue(index);
    index = in.DeQue<int32_t>();
    Order<MTE2_S>(pipe.FetchEventID(MTE2_S));
    if (kBroken) in.FreeTensor(index);
    const int32_t row = index.GetValue(0); // here
    if (!kBroken) in.FreeTensor(index);
    DataCopy(Ub(65536), m.y[(row & 7) * kTile], kTile);
}
