// The cube core: tiles on their way through L1, L0A and L0B, products in L0C, and what empties it.
#include <defect.h>

using Half = LocalTensor<half>;
using Floats = LocalTensor<float>;

/// `count` halves from byte `at` of L1, L0A and L0B, and floats of L0C.
ASC_API Half Tile(uint32_t at, uint32_t count = 256) { return Half(TPosition::A1, at, count); }
ASC_API Half Left(uint32_t at, uint32_t count = 256) { return Half(TPosition::A2, at, count); }
ASC_API Half Right(uint32_t at, uint32_t count = 256) { return Half(TPosition::B2, at, count); }
ASC_API Floats Acc(uint32_t at, uint32_t count = 256) { return Floats(TPosition::CO1, at, count); }

/// So many fractals one after the other.
ASC_API LoadData2DParams Fractals(uint8_t count = 1) { return LoadData2DParams(0, count, 1, 0, 0, false, 0); }
ASC_API MmadParams Shape(uint16_t rows, uint16_t columns, uint16_t depth, bool fromZero = true)
{
    MmadParams p;
    p.m = rows;
    p.n = columns;
    p.k = depth;
    p.cmatrixInitVal = fromZero;
    return p;
}
/// The first rows of a product of sixteen columns.
ASC_API void Store(const GlobalTensor<float>& to, const Floats& from, uint16_t rows = 16)
{
    Fixpipe<float, float, CFG_ROW_MAJOR>(to, from, FixpipeParamsV220(16, rows, 16, 16, false));
}

// A stage of L1 is given back when its left tile has been loaded, with the right one still to come.
DEFECT(stage_given_back_before_its_right_tile, "race", 1)
{
    const auto x = m.x.ReinterpretCast<half>(), y = m.y.ReinterpretCast<half>();
    SetFlag<MTE1_MTE2>(0);
    SetFlag<MTE1_MTE2>(1);
    for (uint32_t step = 0; step < 4; ++step) {
        const int32_t stage = step & 1;
        const auto a = Tile(stage * 1024), b = Tile(stage * 1024 + 512);
        WaitFlag<MTE1_MTE2>(stage);
        DataCopy(a, x[step * 256], 256);
        DataCopy(b, y[step * 256], 256); // here
        Order<MTE2_MTE1>(stage);
        LoadData(Left(0), a, Fractals());
        if (kBroken) SetFlag<MTE1_MTE2>(stage);
        LoadData(Right(0), b, Fractals());
        if (!kBroken) SetFlag<MTE1_MTE2>(stage);
        Order<MTE1_M>();
        Mmad(Acc(0), Left(0), Right(0), Shape(16, 16, 16, step == 0));
        Order<M_MTE1>();
    }
    WaitFlag<MTE1_MTE2>(0);
    WaitFlag<MTE1_MTE2>(1);
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// L0A goes by turns between two buffers, and so do the flags; L0B stays in one.
DEFECT(right_tile_without_its_second_buffer, "race", 1)
{
    DataCopy(Tile(0, 1024), m.x.ReinterpretCast<half>(), 1024);
    Order<MTE2_MTE1>();
    SetFlag<M_MTE1>(0);
    SetFlag<M_MTE1>(1);
    for (uint32_t step = 0; step < 4; ++step) {
        const uint32_t turn = step & 1;
        const auto a = Left(turn * 32768), b = Right(kBroken ? 0 : turn * 32768);
        WaitFlag<M_MTE1>(turn);
        LoadData(a, Tile(step * 512), Fractals());
        LoadData(b, Tile(step * 512), Fractals()); // here
        Order<MTE1_M>(turn);
        Mmad(Acc(0), a, b, Shape(16, 16, 16, step == 0));
        PipeBarrier<PIPE_M>();
        SetFlag<M_MTE1>(turn);
    }
    WaitFlag<M_MTE1>(0);
    WaitFlag<M_MTE1>(1);
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Two products are on their way out by turns of their flags, from one and the same place of L0C.
DEFECT(products_by_turns_in_one_place, "race", 1)
{
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(0), Fractals());
    Order<MTE1_M>();
    SetFlag<FIX_M>(0);
    SetFlag<FIX_M>(1);
    for (uint32_t tile = 0; tile < 4; ++tile) {
        const uint32_t turn = tile & 1;
        const auto c = Acc(kBroken ? 0 : turn * 65536);
        WaitFlag<FIX_M>(turn);
        Mmad(c, Left(0), Right(0), Shape(16, 16, 16)); // here
        Order<M_FIX>(turn);
        Store(m.z[tile * 64], c, 4);
        SetFlag<FIX_M>(turn);
    }
    WaitFlag<FIX_M>(0);
    WaitFlag<FIX_M>(1);
}

// Steps are counted from nought, and the first product is the one that the second step begins anew.
DEFECT(sum_begun_with_the_second_step, "uninitialised-read?", 1)
{
    DataCopy(Tile(0, 512), m.x.ReinterpretCast<half>(), 512);
    DataCopy(Tile(1024, 512), m.y.ReinterpretCast<half>(), 512);
    Order<MTE2_MTE1>();
    LoadData(Left(0, 512), Tile(0, 512), Fractals(2));
    LoadData(Right(0, 512), Tile(1024, 512), Fractals(2));
    Order<MTE1_M>();
    for (uint32_t step = 0; step < 2; ++step) {
        const bool fromZero = step == (kBroken ? 1 : 0);
        Mmad(Acc(0), Left(step * 512), Right(step * 512), Shape(16, 16, 16, fromZero)); // here
        PipeBarrier<PIPE_M>();
    }
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// The second buffer of L0A begins at half the size of L0C.
DEFECT(second_buffer_at_half_of_the_wrong_memory, "out-of-bounds-on-chip", 1)
{
    constexpr uint32_t pong = (kBroken ? TOTAL_L0C_SIZE : TOTAL_L0A_SIZE) / 2;
    DataCopy(Tile(0, 1024), m.x.ReinterpretCast<half>(), 1024);
    Order<MTE2_MTE1>();
    LoadData(Right(0), Tile(0), Fractals());
    for (uint32_t step = 0; step < 2; ++step) {
        LoadData(Left(step * pong), Tile(step * 512), Fractals()); // here
        Order<MTE1_M>();
        Mmad(Acc(0), Left(step * pong), Right(0), Shape(16, 16, 16, step == 0));
        PipeBarrier<PIPE_M>();
    }
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// A bias of 320 columns for a table that holds 256.
DEFECT(bias_of_more_columns_than_the_table, "out-of-bounds-on-chip", 1)
{
    constexpr uint16_t columns = kBroken ? 320 : 256;
    const Floats fetched(TPosition::C1, 65536, 320), bias(TPosition::C2, 0, columns);
    DataCopy(Tile(0, 320 * 16), m.x.ReinterpretCast<half>(), 320 * 16);
    DataCopy(fetched, m.y, 320);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0, 256 * 16), Tile(0, 256 * 16), Fractals(16));
    DataCopy(bias, fetched, DataCopyParams(1, columns * sizeof(float) / 64, 0, 0)); // here
    Order<MTE1_M>();
    Mmad(Acc(0, 256 * 16), Left(0), Right(0, 256 * 16), bias, Shape(16, 256, 16, false));
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Five products at a distance that L0C has room for only four times.
DEFECT(fifth_product_behind_the_end, "out-of-bounds-on-chip", 1)
{
    constexpr uint32_t distance = (kBroken ? 32 : 24) * 1024;
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    DataCopy(Tile(512), m.y.ReinterpretCast<half>(), 256);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(512), Fractals());
    Order<MTE1_M>();
    for (uint32_t tile = 0; tile < 5; ++tile) {
        Mmad(Acc(tile * distance), Left(0), Right(0), Shape(16, 16, 16)); // here
    }
    Order<M_FIX>();
    for (uint32_t tile = 0; tile < 5; ++tile) {
        Store(m.z[tile * 48], Acc(tile * distance), 3);
    }
}

// The second fractal of the left tile is placed by half of its elements.
DEFECT(second_fractal_in_the_middle_of_the_first, "misaligned", 1)
{
    constexpr uint32_t second = kBroken ? 128 : 256;
    const auto left = Left(0, 512);
    DataCopy(Tile(0, 512), m.x.ReinterpretCast<half>(), 512);
    Order<MTE2_MTE1>();
    LoadData(left, Tile(0), Fractals());
    LoadData(left[second], Tile(512), Fractals()); // here
    LoadData(Right(0), Tile(0), Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), left, Right(0), Shape(16, 16, 16));
    PipeBarrier<PIPE_M>();
    Mmad(Acc(0), left[second], Right(0), Shape(16, 16, 16, false));
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Columns of blocks are laid 32 rows apart for a matrix of 16, and loaded as if they followed each other.
DEFECT(columns_of_blocks_too_far_apart, "uninitialised-read?", 1)
{
    const auto a = Tile(0, 1024);
    DataCopy(a, m.x.ReinterpretCast<half>(), Nd2NzParams(1, 16, 32, 0, 32, kBroken ? 32 : 16, 1, 0));
    Order<MTE2_MTE1>();
    LoadData(Left(0, 512), a, Fractals(2)); // here
    LoadData(Right(0), a, Fractals());
    LoadData(Right(512), a, Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), Left(0, 512), Right(0, 512), Shape(16, 16, 32));
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// The product has 16 rows; its columns are fetched as if it had the 32 of the tile in L1.
DEFECT(columns_of_the_product_too_far_apart, "uninitialised-read", 1)
{
    DataCopy(Tile(0, 768), m.x.ReinterpretCast<half>(), 768);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0, 512), Tile(512, 512), Fractals(2));
    Order<MTE1_M>();
    Mmad(Acc(0, 512), Left(0), Right(0, 512), Shape(16, 32, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 p(32, 8, kBroken ? 32 : 16, 32, true);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, Acc(0, 512), p); // here
}

// The factors of the columns are on their way to L1 when the fixpipe takes them from there.
DEFECT(factors_taken_before_they_are_there, "race", 1)
{
    const LocalTensor<uint64_t> factors(TPosition::C1, 8192, 16);
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    Order<MTE2_MTE1>();
    DataCopy(factors, m.y.ReinterpretCast<uint64_t>(), 16);
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(0), Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), Left(0), Right(0), Shape(16, 16, 16));
    if (!kBroken) Order<HardEvent::MTE2_FIX>();
    Order<M_FIX>();
    const FixpipeParamsV220 p(16, 16, 16, 16, false, QuantMode_t::VQF322B8_PRE);
    Fixpipe<int8_t, float, CFG_ROW_MAJOR>(m.z.ReinterpretCast<int8_t>(), Acc(0), factors, p); // here
}

// Columns that are not a multiple of a fractal, stored as fractals.
DEFECT(twenty_columns_as_fractals, "bad-argument", 1)
{
    DataCopy(Tile(0, 768), m.x.ReinterpretCast<half>(), 768);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0, 512), Tile(512, 512), Fractals(2));
    Order<MTE1_M>();
    Mmad(Acc(0, 512), Left(0), Right(0, 512), Shape(16, 32, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 p(kBroken ? 20 : 32, 8, 16, 16, false);
    Fixpipe<float, float, CFG_NZ>(m.z, Acc(0, 512), p); // here
}

// The unit flag stands for the flag between product and fixpipe, and is asked of one of the two only.
DEFECT(unit_flag_of_the_product_only, "race", 1)
{
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    DataCopy(Tile(512), m.y.ReinterpretCast<half>(), 256);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(512), Fractals());
    Order<MTE1_M>();
    auto product = Shape(16, 16, 16);
    product.unitFlag = 3;
    Mmad(Acc(0), Left(0), Right(0), product);
    FixpipeParamsV220 out(16, 16, 16, 16, true);
    out.unitFlag = kBroken ? 0 : 3;
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, Acc(0), out); // here
}

// Two stages of L1 are given back, and one of them is waited for at the end.
DEFECT(second_stage_left_given_back, "flag-misuse?", 1)
{
    const auto x = m.x.ReinterpretCast<half>();
    SetFlag<MTE1_MTE2>(2);
    SetFlag<MTE1_MTE2>(3);
    for (uint32_t step = 0; step < 4; ++step) {
        const int32_t stage = 2 + (step & 1);
        const auto a = Tile(stage * 512);
        WaitFlag<MTE1_MTE2>(stage);
        DataCopy(a, x[step * 256], 256);
        Order<MTE2_MTE1>(stage);
        LoadData(Left(0), a, Fractals());
        LoadData(Right(0), a, Fractals());
        SetFlag<MTE1_MTE2>(stage); // here
        Order<MTE1_M>();
        Mmad(Acc(0), Left(0), Right(0), Shape(16, 16, 16, step == 0));
        Order<M_MTE1>();
    }
    WaitFlag<MTE1_MTE2>(2);
    if (!kBroken) WaitFlag<MTE1_MTE2>(3);
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Of two buffers of L0A and L0B the first is said to be free at the beginning.
DEFECT(second_buffer_never_said_to_be_free, "deadlock", 1)
{
    DataCopy(Tile(0, 1024), m.x.ReinterpretCast<half>(), 1024);
    Order<MTE2_MTE1>();
    SetFlag<M_MTE1>(0);
    if (!kBroken) SetFlag<M_MTE1>(1);
    for (uint32_t step = 0; step < 4; ++step) {
        const uint32_t turn = step & 1;
        WaitFlag<M_MTE1>(turn); // here
        LoadData(Left(turn * 512), Tile(step * 512), Fractals());
        LoadData(Right(turn * 512), Tile(step * 512), Fractals());
        Order<MTE1_M>(turn);
        Mmad(Acc(0), Left(turn * 512), Right(turn * 512), Shape(16, 16, 16, step == 0));
        PipeBarrier<PIPE_M>();
        SetFlag<M_MTE1>(turn);
    }
    WaitFlag<M_MTE1>(0);
    WaitFlag<M_MTE1>(1);
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Two cores have sixteen columns each, and the second one's begin where half of the first one's end.
DEFECT(columns_of_two_cores_overlap, "cross-core-race", 2)
{
    const uint32_t column = m.block * (kBroken ? 8 : 16);
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    DataCopy(Tile(512), m.y.ReinterpretCast<half>()[m.block * 256], 256);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(512), Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), Left(0), Right(0), Shape(16, 16, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 p(16, 16, 16, 32, false);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z[column], Acc(0), p); // here
}

// The bias is fetched with the first tile, and the second core begins with another one.
DEFECT(bias_fetched_with_the_first_tile_only, "uninitialised-read?", 2)
{
    const uint32_t tile = m.block;
    const Floats fetched(TPosition::C1, 8192, 16), bias(TPosition::C2, 0, 16);
    DataCopy(Tile(0), m.x.ReinterpretCast<half>()[tile * 256], 256);
    if (tile == 0 || !kBroken) DataCopy(fetched, m.y, 16);
    Order<MTE2_MTE1>();
    if (tile == 0 || !kBroken) DataCopy(bias, fetched, DataCopyParams(1, 1, 0, 0));
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(0), Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), Left(0), Right(0), bias, Shape(16, 16, 16, false)); // here
    Order<M_FIX>();
    Store(m.MyZ(), Acc(0));
}

// The bias follows the tiles into its table, behind the flag that the product waits for.
DEFECT(bias_behind_the_flag_of_the_tiles, "race", 1)
{
    const Floats fetched(TPosition::C1, 8192, 16), bias(TPosition::C2, 0, 16);
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    DataCopy(fetched, m.y, 16);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(0), Fractals());
    if (!kBroken) DataCopy(bias, fetched, DataCopyParams(1, 1, 0, 0));
    SetFlag<MTE1_M>(1);
    if (kBroken) DataCopy(bias, fetched, DataCopyParams(1, 1, 0, 0));
    WaitFlag<MTE1_M>(1);
    Mmad(Acc(0), Left(0), Right(0), bias, Shape(16, 16, 16, false)); // here
    Order<M_FIX>();
    Store(m.z, Acc(0));
}

// Two buffers for results of 96 KiB each, in 128 KiB of L0C.
DEFECT(two_results_of_96_kib, "ub-overflow", 1)
{
    TPipe pipe;
    TQue<TPosition::A1, 1> tiles;
    TQue<TPosition::A2, 1> lefts;
    TQue<TPosition::B2, 1> rights;
    TQue<TPosition::CO1, 1> results;
    pipe.InitBuffer(tiles, 1, 512);
    pipe.InitBuffer(lefts, 1, 512);
    pipe.InitBuffer(rights, 1, 512);
    pipe.InitBuffer(results, 2, (kBroken ? 96 : 64) * 1024); // here
    auto tile = tiles.AllocTensor<half>();
    DataCopy(tile, m.x.ReinterpretCast<half>(), 256);
    tiles.EnQue(tile);
    tile = tiles.DeQue<half>();
    auto a = lefts.AllocTensor<half>(), b = rights.AllocTensor<half>();
    LoadData(a, tile, Fractals());
    LoadData(b, tile, Fractals());
    lefts.EnQue(a);
    rights.EnQue(b);
    tiles.FreeTensor(tile);
    a = lefts.DeQue<half>(), b = rights.DeQue<half>();
    auto c = results.AllocTensor<float>();
    Mmad(c, a, b, Shape(16, 16, 16));
    results.EnQue(c);
    lefts.FreeTensor(a);
    rights.FreeTensor(b);
    c = results.DeQue<float>();
    Store(m.z, c);
    results.FreeTensor(c);
}

// The second core's columns are cut off at a width that the output does not have.
OUTPUT_DEFECT(columns_cut_off_at_another_width, "unwritten-output", 2)
{
    constexpr uint32_t width = 32, used = kBroken ? 24 : 32;
    const uint32_t first = m.block * 16;
    const uint16_t columns = used - first < 16 ? used - first : 16;
    DataCopy(Tile(0), m.x.ReinterpretCast<half>(), 256);
    DataCopy(Tile(512), m.y.ReinterpretCast<half>()[m.block * 256], 256);
    Order<MTE2_MTE1>();
    LoadData(Left(0), Tile(0), Fractals());
    LoadData(Right(0), Tile(512), Fractals());
    Order<MTE1_M>();
    Mmad(Acc(0), Left(0), Right(0), Shape(16, 16, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 p(columns, 16, 16, width, false);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z[first], Acc(0), p); // here
}
