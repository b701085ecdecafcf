// One tile at a time under several pipes: flags by hand, ping-pong, rings, and what two pipes touch together.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// Two buffers take turns, but their ways back are counted in threes: the third tile is loaded before the first is used.
DEFECT(three_flags_for_two_buffers, "race", 1)
{
    constexpr int32_t tiles = 6;
    const int32_t turn = kBroken ? 3 : 2;
    for (int32_t i = 0; i < tiles; ++i) {
        auto x = Ub(static_cast<uint32_t>(i & 1) * 1024);
        const int32_t id = i % turn;
        if (i >= turn) WaitFlag<V_MTE2>(id);
        DataCopy(x, m.x[i * 256], 256); // here
        SetFlag<MTE2_V>(id);
        WaitFlag<MTE2_V>(id);
        Exp(Ub(kOut + static_cast<uint32_t>(i) * 1024), x, 256);
        SetFlag<V_MTE2>(id);
    }
    for (int32_t id = 0; id < turn; ++id) WaitFlag<V_MTE2>(id);
}

// A tile that is left out does not give its buffer back, and the tile after it waits for that.
DEFECT(skipped_tile_sets_nothing, "deadlock", 1)
{
    constexpr int32_t tiles = 3;
    auto x = Ub(0);
    for (int32_t i = 0; i < tiles; ++i) {
        if (i > 0) WaitFlag<V_MTE2>(0); // here
        DataCopy(x, m.x[i * 256], 256);
        Order<MTE2_V>();
        const bool empty = i == 1;
        if (empty && kBroken) continue;
        if (!empty) Relu(Ub(kOut + static_cast<uint32_t>(i) * 1024), x, 256);
        if (i + 1 < tiles) SetFlag<V_MTE2>(0);
    }
}

// A row of a hundred floats: its padding is cleared before it has arrived, from one block too early on.
DEFECT(pad_cleared_over_the_last_arriving_block, "race", 1)
{
    auto x = Ub(0, 128);
    DataCopyPad(x, m.x, DataCopyExtParams(1, 400, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 4, 0.0f));
    // From 104 on nothing arrives: that part needs no flag.
    const uint32_t first = kBroken ? 96 : 104;
    Duplicate(x[first], 0.0f, static_cast<int32_t>(128 - first)); // here
    Order<MTE2_V>();
    PipeBarrier<PIPE_V>();
    WholeReduceSum(Ub(kOut), x, 64, 2, 1, 1, 8);
    Order<V_MTE3>();
    DataCopyPad(m.z, Ub(kOut), DataCopyExtParams(1, 8, 0, 0, 0));
}

// The tile that is turned is the next one, which is still on its way.
DEFECT(turned_from_the_half_that_arrives, "race", 1)
{
    constexpr int32_t tiles = 4;
    const GlobalTensor<half> from = m.x.ReinterpretCast<half>();
    const auto buffer = [](int32_t i) { return Ub<half>(static_cast<uint32_t>(i & 1) * 512); };
    DataCopy(buffer(0), from, 256);
    SetFlag<MTE2_V>(0);
    for (int32_t i = 0; i < tiles; ++i) {
        const int32_t next = i + 1;
        if (next < tiles) {
            if (next >= 2) WaitFlag<V_MTE2>(next & 1);
            DataCopy(buffer(next), from[next * 256], 256);
            SetFlag<MTE2_V>(next & 1);
        }
        WaitFlag<MTE2_V>(i & 1);
        Transpose(Ub<half>(kOut + static_cast<uint32_t>(i) * 512), buffer(kBroken ? next : i)); // here
        if (i + 2 < tiles) SetFlag<V_MTE2>(i & 1);
    }
}

// A copy within the Unified Buffer is work of the vector unit, not of the pipe that copies in.
DEFECT(inner_copy_ordered_as_a_transfer, "race", 1)
{
    auto x = Ub(0), z = Ub(kOut);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    DataCopy(z, x, 256);
    if (kBroken) Order<MTE2_MTE3>();
    else Order<V_MTE3>();
    DataCopy(m.z, z, 256); // here
}

// The upper half of the floats is taken for free as soon as the halves are asked for.
DEFECT(upper_half_refilled_while_it_is_narrowed, "race", 1)
{
    auto x = Ub(0);
    auto narrow = Ub<half>(4096, 256);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Cast(narrow, x, RoundMode::CAST_RINT, 256);
    if (!kBroken) Order<V_MTE2>();
    DataCopy(x[128], m.y, 128); // here
    Order<MTE2_V>(1);
    Adds(Ub(kOut, 128), x[128], 1.0f, 128);
}

// Everything waits for everything, but only after every second tile.
DEFECT(barrier_after_every_second_tile, "race", 1)
{
    auto x = Ub(0, 64);
    for (int32_t i = 0; i < 4; ++i) {
        auto z = Ub(kOut + static_cast<uint32_t>(i) * 256, 64);
        DataCopy(x, m.x[i * 64], 64); // here
        Order<MTE2_V>(i);
        Abs(z, x, 64);
        Order<V_MTE3>(i);
        DataCopy(m.z[i * 64], z, 64);
        if (!kBroken || i % 2 == 1) PipeBarrier<PIPE_ALL>();
    }
}

// Sixteen sums spread to a block each take 512 bytes; the next tile is fetched to 256 bytes behind their beginning.
DEFECT(spread_rows_reach_into_the_prefetch, "race", 1)
{
    constexpr uint32_t spread = 8192;
    DataCopy(Ub(0, 16), m.x, 16);
    SetFlag<MTE2_V>(0);
    auto next = Ub(spread + (kBroken ? 256 : 512), 64);
    DataCopy(next, m.y, 64);
    SetFlag<MTE2_V>(1);
    WaitFlag<MTE2_V>(0);
    Brcb(Ub(spread, 128), Ub(0, 16), 2, BrcbRepeatParams(1, 8)); // here
    WaitFlag<MTE2_V>(1);
    Mul(Ub(kOut, 64), next, Ub(spread, 64), 64);
}

// The loop ends as soon as the result is good enough; the tile fetched ahead has then set a flag that nobody takes.
DEFECT(left_early_with_a_tile_announced, "flag-misuse?", 1)
{
    constexpr int32_t steps = 4;
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    for (int32_t i = 0; i < steps; ++i) {
        WaitFlag<MTE2_V>(i & 1);
        Exp(Ub(kOut), Ub(static_cast<uint32_t>(i & 1) * 1024), 256);
        const bool enough = i == 1;
        // The repaired kernel looks before it fetches ahead.
        if (!kBroken && enough) break;
        if (i + 1 < steps) {
            if (i > 0) WaitFlag<V_MTE2>(0);
            DataCopy(Ub(static_cast<uint32_t>((i + 1) & 1) * 1024), m.x[(i + 1) * 256], 256);
            SetFlag<MTE2_V>((i + 1) & 1); // here
            if (!enough && i + 2 < steps) SetFlag<V_MTE2>(0);
        }
        if (enough) break;
    }
    if (!kBroken) WaitFlag<V_MTE2>(0);
}

// Mean and deviation both go out, and the flag stands between them.
DEFECT(deviation_behind_the_flag, "race", 1)
{
    auto x = Ub(0), square = Ub(2048), mean = Ub(kOut, 8), deviation = Ub(kOut + 256, 8);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    WholeReduceSum(mean, x, 64, 4, 1, 1, 8);
    if (kBroken) SetFlag<V_MTE3>(0);
    Mul(square, x, x, 256);
    WholeReduceSum(deviation, square, 64, 4, 1, 1, 8);
    if (!kBroken) SetFlag<V_MTE3>(0);
    WaitFlag<V_MTE3>(0);
    DataCopyPad(m.z, mean, DataCopyExtParams(1, 16, 0, 0, 0));
    DataCopyPad(m.z[8], deviation, DataCopyExtParams(1, 16, 0, 0, 0)); // here
}

// Gamma is announced with number 0, and so is the first tile, before anybody has waited for gamma.
DEFECT(gamma_and_tiles_on_one_number, "flag-misuse", 1)
{
    auto gamma = Ub(8192);
    const int32_t mark = kBroken ? 0 : 7;
    DataCopy(gamma, m.y, 256);
    SetFlag<MTE2_V>(mark);
    for (int32_t i = 0; i < 2; ++i) {
        auto x = Ub(static_cast<uint32_t>(i) * 1024);
        DataCopy(x, m.x[i * 256], 256);
        SetFlag<MTE2_V>(i); // here
        WaitFlag<MTE2_V>(i);
        if (i == 0) WaitFlag<MTE2_V>(mark);
        Mul(Ub(kOut + static_cast<uint32_t>(i) * 1024), x, gamma, 256);
    }
}

// Tiles are worked on in place: the last one to read them is the copy out, the buffer is given back by the vector unit.
DEFECT(in_place_tile_given_back_by_the_vector_unit, "race", 1)
{
    for (int32_t i = 0; i < 4; ++i) {
        auto x = Ub(static_cast<uint32_t>(i & 1) * 256, 64);
        const int32_t id = i & 1;
        if (i >= 2) {
            if (kBroken) WaitFlag<V_MTE2>(id);
            else WaitFlag<MTE3_MTE2>(id);
        }
        DataCopy(x, m.x[i * 64], 64); // here
        Order<MTE2_V>(id);
        Muls(x, x, 0.5f, 64);
        if (kBroken && i < 2) SetFlag<V_MTE2>(id);
        Order<V_MTE3>(i);
        DataCopy(m.z[i * 64], x, 64);
        if (!kBroken && i < 2) SetFlag<MTE3_MTE2>(id);
    }
}

// Three rows are needed at a time and one is fetched ahead: a ring of three buffers is one too short.
DEFECT(ring_of_three_rows_with_one_ahead, "race", 1)
{
    constexpr int32_t rows = 7;
    const int32_t ring = kBroken ? 3 : 4;
    const auto row = [ring](int32_t r) { return Ub(static_cast<uint32_t>(r % ring) * 256, 64); };
    for (int32_t r = 0; r < 3; ++r) DataCopy(row(r), m.x[r * 64], 64);
    Order<MTE2_V>();
    SetFlag<V_MTE2>(0);
    for (int32_t middle = 1; middle + 1 < rows; ++middle) {
        const int32_t ahead = middle + 2, id = middle & 1;
        WaitFlag<V_MTE2>(1 - id);
        if (ahead < rows) {
            DataCopy(row(ahead), m.x[ahead * 64], 64);
            SetFlag<MTE2_V>(id);
        }
        auto sum = Ub(kOut + static_cast<uint32_t>(middle) * 256, 64);
        Add(sum, row(middle), row(middle + 1), 64);
        Add(sum, sum, row(middle - 1), 64); // here
        if (ahead < rows) {
            SetFlag<V_MTE2>(id);
            WaitFlag<MTE2_V>(id);
        }
    }
}

// The buffer comes back through the flag of another pair of pipes.
DEFECT(given_back_to_the_pipe_that_copies_out, "deadlock", 1)
{
    auto x = Ub(0), z = Ub(kOut);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    Sqrt(z, x, 256);
    if (kBroken) SetFlag<V_MTE3>(1);
    else SetFlag<V_MTE2>(1);
    Order<V_MTE3>(0);
    DataCopy(m.z, z, 256);
    WaitFlag<V_MTE2>(1); // here
    DataCopy(x, m.y, 256);
}
