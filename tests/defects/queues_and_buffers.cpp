// Queues in loops, temporaries beside them, pools, phases: who owns a buffer, how long, and how much of it.
#include <defect.h>

// Get hands out the beginning of the buffer each time: both temporaries are the same bytes.
DEFECT(two_temporaries_from_one_get, "race", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> temporary;
    pipe.InitBuffer(temporary, 2048);
    auto whole = temporary.Get<float>();
    auto first = temporary.Get<float>(256);
    auto second = kBroken ? temporary.Get<float>(256) : whole[256];
    Duplicate(first, 1.0f, 256);
    DataCopy(second, m.x, 256); // here
    const auto id = static_cast<event_t>(pipe.FetchEventID(MTE2_V));
    SetFlag<MTE2_V>(id);
    WaitFlag<MTE2_V>(id);
    Adds(second, second, 1.0f, 256);
}

// Two pools over the same memory, meant for one phase after the other, and both in use in the first.
DEFECT(shared_pools_used_at_once, "race", 1)
{
    TPipe pipe;
    TBufPool<TPosition::VECCALC> rows, sums;
    InQueue in;
    TBuf<TPosition::VECCALC> sumBuffer;
    pipe.InitBufPool(rows, 4096);
    if (kBroken) pipe.InitBufPool(sums, 4096, rows);
    else pipe.InitBufPool(sums, 4096);
    rows.InitBuffer(in, 1, 1024);
    sums.InitBuffer(sumBuffer, 1024);
    auto sum = sumBuffer.Get<float>();
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 256);
    in.EnQue(x);
    Duplicate(sum, 0.0f, 256); // here
    x = in.DeQue<float>();
    Add(sum, sum, x, 256);
    in.FreeTensor(x);
}

// Reset knows the tensors of queues only: the temporary of the first phase is still being read.
DEFECT(temporary_of_the_last_phase_still_in_use, "race", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(scratch, 8192);
    auto work = scratch.Get<float>();
    Duplicate(work, 2.0f, 2048);
    Exp(work, work, 2048);
    if (!kBroken) PipeBarrier<PIPE_ALL>();
    pipe.Reset();
    InQueue2 in;
    pipe.InitBuffer(in, 2, 1024);
    for (int32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * 256], 256); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        Adds(x, x, 1.0f, 256);
        in.FreeTensor(x);
    }
}

// Tiles were made as large as halves allow; then they got copies in floats.
DEFECT(float_copies_beside_tiles_of_halves, "ub-overflow", 1)
{
    const uint32_t tile = kBroken ? 16640 : 8192;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    TBuf<TPosition::VECCALC> wide;
    pipe.InitBuffer(in, 2, tile * sizeof(half));
    pipe.InitBuffer(out, 2, tile * sizeof(half));
    pipe.InitBuffer(wide, tile * sizeof(float)); // here
    if (kBroken) return;
    auto x = in.AllocTensor<half>();
    DataCopy(x, m.x.ReinterpretCast<half>(), 256);
    in.EnQue(x);
    x = in.DeQue<half>();
    auto z = out.AllocTensor<half>();
    auto floats = wide.Get<float>();
    Cast(floats, x, RoundMode::CAST_NONE, 256);
    Exp(floats, floats, 256);
    Cast(z, floats, RoundMode::CAST_RINT, 256);
    in.FreeTensor(x);
    out.EnQue(z);
    z = out.DeQue<half>();
    DataCopy(m.z.ReinterpretCast<half>(), z, 256);
    out.FreeTensor(z);
}

// The difference to what stands a block further on: for the last block of a tile, that is another buffer.
DEFECT(difference_reaches_into_the_other_buffer, "out-of-bounds-ub", 1)
{
    constexpr int32_t tile = 128;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, tile * 4);
    pipe.InitBuffer(out, 2, tile * 4);
    for (int32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], tile);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto z = out.AllocTensor<float>();
        Duplicate(z, 0.0f, tile);
        Sub(z, x[8], x, kBroken ? tile : tile - 8); // here
        in.FreeTensor(x);
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopy(m.z[i * tile], z, tile);
        out.FreeTensor(z);
    }
}

// Every tile fetches the next one, also the last: what it fetched stays in the queue.
DEFECT(one_tile_prefetched_too_many, "queue-misuse", 1)
{
    constexpr int32_t tiles = 3;
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, 1024);
    const auto fetch = [&](int32_t i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[(i < tiles ? i : tiles - 1) * 256], 256);
        in.EnQue(x); // here
    };
    fetch(0);
    for (int32_t i = 0; i < tiles; ++i) {
        if (kBroken || i + 1 < tiles) fetch(i + 1);
        auto x = in.DeQue<float>();
        Adds(x, x, 1.0f, 256);
        in.FreeTensor(x);
    }
}

// The row's sum goes out from a temporary, after its row, whose queue was told before the sum was there.
DEFECT(statistics_ride_on_the_wrong_flag, "race", 1)
{
    TPipe pipe;
    InQueue in;
    OutQueue out;
    TBuf<TPosition::VECCALC> statistics;
    pipe.InitBuffer(in, 1, 512);
    pipe.InitBuffer(out, 1, 512);
    pipe.InitBuffer(statistics, 32);
    auto sum = statistics.Get<float>();
    auto x = in.AllocTensor<float>();
    DataCopy(x, m.x, 128);
    in.EnQue(x);
    x = in.DeQue<float>();
    auto z = out.AllocTensor<float>();
    Exp(z, x, 128);
    if (kBroken) out.EnQue(z);
    WholeReduceSum(sum, x, 64, 2, 1, 1, 8);
    if (!kBroken) out.EnQue(z);
    in.FreeTensor(x);
    z = out.DeQue<float>();
    DataCopy(m.z, z, 128);
    DataCopyPad(m.z[128], sum, DataCopyExtParams(1, 8, 0, 0, 0)); // here
    out.FreeTensor(z);
}

// With one buffer of output, the next row waits until the row and its sum are out; with two, nothing keeps the sum.
DEFECT(double_buffering_takes_away_an_order, "race", 1)
{
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    TBuf<TPosition::VECCALC> statistics;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, kBroken ? 2 : 1, 256);
    pipe.InitBuffer(statistics, 32);
    auto sum = statistics.Get<float>();
    for (int32_t row = 0; row < 3; ++row) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[row * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto z = out.AllocTensor<float>();
        Exp(z, x, 64);
        WholeReduceSum(sum, z, 64, 1, 1, 1, 8); // here
        in.FreeTensor(x);
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopy(m.z[row * 64], z, 64);
        DataCopyPad(m.z[200 + row * 8], sum, DataCopyExtParams(1, 4, 0, 0, 0));
        out.FreeTensor(z);
    }
}

// The part of a buffer that no row fills is cleared once, before the first row: the second buffer has never been.
DEFECT(rest_cleared_in_one_of_two_buffers, "uninitialised-read?", 1)
{
    constexpr int32_t width = 192, padded = 256;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(in, 2, padded * 4);
    pipe.InitBuffer(out, 2, 32);
    for (int32_t row = 0; row < 4; ++row) {
        auto x = in.AllocTensor<float>();
        if (row < (kBroken ? 1 : 2)) Duplicate(x[width], 0.0f, padded - width);
        DataCopy(x, m.x[row * width], width);
        in.EnQue(x);
        x = in.DeQue<float>();
        auto z = out.AllocTensor<float>();
        WholeReduceSum(z, x, 64, padded / 64, 1, 1, 8); // here
        in.FreeTensor(x);
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopyPad(m.z[row * 8], z, DataCopyExtParams(1, 16, 0, 0, 0));
        out.FreeTensor(z);
    }
}

// The computation runs one round behind the copies, and does so from the very first round.
DEFECT(computes_a_round_behind_from_the_start, "queue-misuse", 1)
{
    constexpr int32_t tiles = 3;
    TPipe pipe;
    InQueue2 in;
    pipe.InitBuffer(in, 2, 1024);
    for (int32_t round = 0; round <= tiles; ++round) {
        if (kBroken || round > 0) {
            auto x = in.DeQue<float>(); // here
            Adds(x, x, 1.0f, 256);
            in.FreeTensor(x);
        }
        if (round < tiles) {
            auto x = in.AllocTensor<float>();
            DataCopy(x, m.x[round * 256], 256);
            in.EnQue(x);
        }
    }
}

// What is left behind the last whole tile is joined to it, and the buffer is one of a tile.
DEFECT(remainder_joined_to_the_last_tile, "out-of-bounds-ub", 1)
{
    constexpr uint32_t tile = 64, total = 160;
    TPipe pipe;
    InQueue2 in;
    OutQueue2 out;
    pipe.InitBuffer(out, 2, 2 * tile * 4);
    pipe.InitBuffer(in, 2, (kBroken ? tile : 2 * tile) * 4);
    const uint32_t tiles = total / tile;
    for (uint32_t i = 0; i < tiles; ++i) {
        const uint32_t now = i + 1 < tiles ? tile : total - i * tile;
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], now); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        auto z = out.AllocTensor<float>();
        Relu(z, x, static_cast<int32_t>(now));
        in.FreeTensor(x);
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopy(m.z[i * tile], z, now);
        out.FreeTensor(z);
    }
}

// One tensor of the output queue for all tiles: it goes through the queue again and again, but is never given back between.
DEFECT(result_tensor_taken_once_for_all_tiles, "race", 1)
{
    constexpr int32_t tile = 64;
    TPipe pipe;
    InQueue2 in;
    OutQueue out;
    pipe.InitBuffer(in, 2, tile * 4);
    pipe.InitBuffer(out, 1, tile * 4);
    auto z = out.AllocTensor<float>();
    for (int32_t i = 0; i < 3; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * tile], tile);
        in.EnQue(x);
        x = in.DeQue<float>();
        Abs(z, x, tile); // here
        in.FreeTensor(x);
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopy(m.z[i * tile], z, tile);
        if (!kBroken && i < 2) {
            out.FreeTensor(z);
            z = out.AllocTensor<float>();
        }
    }
    out.FreeTensor(z);
}

// A long row comes in two chunks through the same tensor: the second one is fetched over the first in use.
DEFECT(second_chunk_into_the_tensor_in_hand, "race", 1)
{
    constexpr int32_t chunk = 256;
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> total;
    pipe.InitBuffer(in, 1, chunk * 4);
    pipe.InitBuffer(total, chunk * 4);
    auto sum = total.Get<float>();
    Duplicate(sum, 0.0f, chunk);
    auto x = in.AllocTensor<float>();
    for (int32_t i = 0; i < 2; ++i) {
        DataCopy(x, m.x[i * chunk], chunk); // here
        in.EnQue(x);
        x = in.DeQue<float>();
        Add(sum, sum, x, chunk);
        if (!kBroken && i == 0) {
            in.FreeTensor(x);
            x = in.AllocTensor<float>();
        }
    }
    in.FreeTensor(x);
}

// A pool of 4096 bytes is to hold two buffers of 2048 and a temporary.
DEFECT(pool_cut_for_more_than_it_has, "ub-overflow", 1)
{
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool;
    InQueue2 in;
    TBuf<TPosition::VECCALC> temporary;
    pipe.InitBufPool(pool, kBroken ? 4096 : 5120);
    pool.InitBuffer(in, 2, 2048);
    pool.InitBuffer(temporary, 1024); // here
    if (kBroken) return;
    auto work = temporary.Get<float>();
    for (int32_t i = 0; i < 2; ++i) {
        auto x = in.AllocTensor<float>();
        DataCopy(x, m.x[i * 512], 512);
        in.EnQue(x);
        x = in.DeQue<float>();
        Add(work, x, x[256], 256);
        in.FreeTensor(x);
    }
}
