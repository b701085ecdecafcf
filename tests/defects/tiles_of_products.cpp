// Tiles of products: where fractals, accumulators, biases and factors lie, and what has to be there before.
// To be compiled with -D__DAV_C220_CUBE__.
#include <defect.h>

/// A tensor of `count` halves at byte `at` of L1.
ASC_API LocalTensor<half> InL1(uint32_t at, uint32_t count) { return LocalTensor<half>(TPosition::A1, at, count); }

/// The operands of a product of one fractal each.
ASC_API void LoadBoth(const Memory& m)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
}

ASC_API MmadParams Sized(uint16_t rows, uint16_t columns, uint16_t depth)
{
    MmadParams p;
    p.m = rows;
    p.n = columns;
    p.k = depth;
    return p;
}

// L0B in two parts, the first as long as 24 rows of 16 halves: the second begins in the middle of a fractal.
DEFECT(second_part_of_l0b_behind_24_rows, "misaligned", 1)
{
    constexpr uint32_t depth = kBroken ? 24 : 32;
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::B2>(0, 0);
    const LocalTensor<half> second(TPosition::B2, depth * 16 * sizeof(half), 256);
    LoadData(second, InL1(0, 256), LoadData2DParams(0, 1, 0, 0, 0, false, 0)); // here
}

// Biases of eight columns, one behind the other in the bias table, which takes 64 bytes at a time.
DEFECT(bias_in_the_middle_of_a_line_of_its_table, "misaligned", 1)
{
    constexpr uint32_t columns = kBroken ? 8 : 16;
    DataCopy(LocalTensor<float>(TPosition::C1, 0, 64), m.y, 64);
    Order<MTE2_MTE1>();
    const LocalTensor<float> first(TPosition::C1, 0, 16);
    const LocalTensor<float> second(TPosition::C2, columns * sizeof(float), 16);
    DataCopy(second, first, DataCopyParams(1, 1, 0, 0)); // here
}

// A depth of 16 in steps of 32: no step at all, and the accumulators are drained as they are.
DEFECT(no_step_for_a_short_depth, "uninitialised-read", 1)
{
    uint32_t depth = 16;
    const uint32_t base = 32;
    const uint32_t steps = kBroken ? depth / base : DivCeil(depth, base);
    for (uint32_t step = 0; step < steps; ++step) {
        LoadBoth(m);
        Order<MTE1_M>();
        Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), Sized(16, 16, 16));
    }
    Order<M_FIX>();
    const auto sums = Fractal<TPosition::CO1, float>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, sums, FixpipeParamsV220(16, 16, 16, 16, false)); // here
}

// 512 columns have a bias of 2 KiB, the bias table has one.
DEFECT(bias_longer_than_its_table, "out-of-bounds-on-chip", 1)
{
    constexpr uint16_t columns = kBroken ? 512 : 256;
    DataCopy(LocalTensor<float>(TPosition::C1, 0, columns), m.y, columns);
    Order<MTE2_MTE1>();
    const LocalTensor<float> fetched(TPosition::C1, 0, columns), table(TPosition::C2, 0, columns);
    DataCopy(table, fetched, DataCopyParams(1, columns * sizeof(float) / 64, 0, 0)); // here
}

// Results in fractals have whole fractals of columns; 20 are one and a quarter.
DEFECT(twenty_columns_drained_as_fractals, "bad-argument", 1)
{
    constexpr uint16_t columns = kBroken ? 20 : 32, rows = 8;
    DataCopy(InL1(0, 512), m.x.ReinterpretCast<half>(), 512);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    LoadData(LocalTensor<half>(TPosition::B2, 0, 512), InL1(0, 512), LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    Order<MTE1_M>();
    const LocalTensor<float> sums(TPosition::CO1, 0, 512);
    Mmad(sums, Fractal<TPosition::A2>(), LocalTensor<half>(TPosition::B2, 0, 512), Sized(rows, columns, 16));
    Order<M_FIX>();
    Fixpipe<float, float, CFG_NZ>(m.z, sums, FixpipeParamsV220(columns, rows, 16, rows * 64 / 32, false)); // here
}

// The product has 32 rows, the distance of its columns of fractals is given as twice that: the second is behind the result.
DEFECT(columns_of_accumulators_too_far_apart, "uninitialised-read", 1)
{
    DataCopy(InL1(0, 1024), m.x.ReinterpretCast<half>(), 1024);
    Order<MTE2_MTE1>();
    const LoadData2DParams two(0, 2, 1, 0, 0, false, 0);
    const LocalTensor<half> a(TPosition::A2, 0, 512), b(TPosition::B2, 0, 512);
    LoadData(a, InL1(0, 512), two);
    LoadData(b, InL1(1024, 512), two);
    Order<MTE1_M>();
    const LocalTensor<float> sums(TPosition::CO1, 0, 2048);
    Mmad(sums, a, b, Sized(32, 32, 16));
    Order<M_FIX>();
    const uint16_t apart = kBroken ? 64 : 32;
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, sums, FixpipeParamsV220(32, 8, apart, 32, false)); // here
}

// 48 rows are laid out with room for 64, and loaded as if there was none: the fourth fractal is the room.
DEFECT(room_for_64_rows_loaded_with_the_48, "uninitialised-read?", 1)
{
    constexpr uint16_t rows = 48, columns = 32, room = kBroken ? 64 : rows;
    DataCopy(InL1(0, 2048), m.x.ReinterpretCast<half>(), Nd2NzParams(1, rows, columns, 0, columns, room, 1, 0));
    Order<MTE2_MTE1>();
    const LocalTensor<half> a(TPosition::A2, 0, 1536);
    LoadData(a, InL1(0, 1536), LoadData2DParams(0, 6, 1, 0, 0, false, 0)); // here
}

// One fractal of the right matrix is loaded, two are multiplied by.
DEFECT(product_wider_than_its_right_matrix, "uninitialised-read?", 1)
{
    constexpr uint16_t columns = kBroken ? 32 : 16;
    LoadBoth(m);
    Order<MTE1_M>();
    const LocalTensor<float> sums(TPosition::CO1, 0, 512);
    Mmad(sums, Fractal<TPosition::A2>(), LocalTensor<half>(TPosition::B2, 0, 512), Sized(16, columns, 16)); // here
    Order<M_FIX>();
    Drain(m);
}

// The tile is filled with zeros and then copied over, by the same pipe; nothing makes the copy come second.
DEFECT(zeros_and_rows_into_l1_at_once, "race", 1)
{
    const LocalTensor<half> tile = InL1(0, 512);
    InitConstValue(tile, InitConstValueParams<half>(1, 32, 0, half(0.0f)));
    if (!kBroken) PipeBarrier<PIPE_MTE2>();
    DataCopy(tile, m.x.ReinterpretCast<half>(), 24 * 16); // here
    Order<MTE2_MTE1>();
    LoadData(LocalTensor<half>(TPosition::A2, 0, 512), tile, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
}

// The result stays on the chip to be the next product's left matrix, and is loaded while it is on its way to L1.
DEFECT(next_left_matrix_loaded_before_it_is_drained, "race", 1)
{
    LoadBoth(m);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    const FixpipeParamsV220 halves(16, 16, 16, 16, false, QuantMode_t::F322F16);
    Fixpipe<half, float, CFG_NZ>(InL1(8192, 256), Fractal<TPosition::CO1, float>(), halves);
    if (!kBroken) Order<HardEvent::FIX_MTE1>();
    Load<TPosition::A2>(512, 8192); // here
    Order<MTE1_M>(1);
    const LocalTensor<float> second(TPosition::CO1, 1024, 256);
    Mmad(second, Fractal<TPosition::A2>(512), Fractal<TPosition::B2>(), Sized(16, 16, 16));
}

// Factors of the columns are fetched behind the flag of the matrices, and nobody waits for them.
DEFECT(factors_of_columns_not_waited_for, "race", 1)
{
    const LocalTensor<int8_t> tile(TPosition::A1, 0, 512), a(TPosition::A2, 0, 512), b(TPosition::B2, 0, 512);
    const LocalTensor<uint64_t> factors(TPosition::A1, 16384, 16);
    DataCopy(tile, m.x.ReinterpretCast<int8_t>(), 512);
    SetFlag<MTE2_MTE1>(0);
    DataCopy(factors, m.y.ReinterpretCast<uint64_t>(), 16);
    if (!kBroken) SetFlag<HardEvent::MTE2_FIX>(0);
    WaitFlag<MTE2_MTE1>(0);
    LoadData(a, tile, LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    LoadData(b, tile, LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    Order<MTE1_M>();
    const LocalTensor<int32_t> sums(TPosition::CO1, 0, 256);
    Mmad(sums, a, b, Sized(16, 16, 32));
    Order<M_FIX>();
    if (!kBroken) WaitFlag<HardEvent::MTE2_FIX>(0);
    const FixpipeParamsV220 scaled(16, 16, 16, 16, false, QuantMode_t::VDEQF16);
    Fixpipe<half, int32_t, CFG_ROW_MAJOR>(m.z.ReinterpretCast<half>(), sums, factors, scaled); // here
}

// Two cores have one half of the depth each, and store their parts of one result instead of adding them.
DEFECT(halves_of_the_depth_stored_over_each_other, "cross-core-race", 2)
{
    DataCopy(InL1(0, 256), m.x.ReinterpretCast<half>()[m.block * 256], 256);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    if (!kBroken) SetAtomicAdd<float>();
    const auto sums = Fractal<TPosition::CO1, float>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, sums, FixpipeParamsV220(16, 16, 16, 16, false)); // here
    if (!kBroken) SetAtomicNone();
}

// The input has 32 fractals. Eight from the 28th on are four too many.
DEFECT(fractals_of_the_input_from_a_start_on, "out-of-bounds-gm", 1)
{
    constexpr uint16_t start = 28;
    const uint8_t fractals = kBroken ? 8 : 4;
    const LoadData2DParams last(start, fractals, 1, 0, 0, false, 0);
    LoadData(InL1(0, 2048), m.x.ReinterpretCast<half>(), last); // here
}

// The bias of the next columns goes to the table while the product still starts from the last one's.
DEFECT(bias_of_the_next_columns_under_the_product, "race", 1)
{
    const LocalTensor<float> biases(TPosition::C1, 65536, 32), table(TPosition::C2, 0, 16);
    DataCopy(biases, m.y, 32);
    LoadBoth(m);
    DataCopy(table, biases, DataCopyParams(1, 1, 0, 0));
    Order<MTE1_M>();
    MmadParams p = Sized(16, 16, 16);
    p.cmatrixInitVal = false;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), table, p);
    if (!kBroken) Order<M_MTE1>();
    DataCopy(table, biases[16], DataCopyParams(1, 1, 0, 0)); // here
    Order<MTE1_M>(1);
    Mmad(Fractal<TPosition::CO1, float>(1024), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), table, p);
}
