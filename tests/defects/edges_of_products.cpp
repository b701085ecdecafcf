// The cube core: matrices by turns, bias, accumulation, edges, and the way out.
#include <defect.h>

/// `elements` from byte `at` of a memory of the cube core.
template <TPosition position, typename T = half>
ASC_API LocalTensor<T> At(uint32_t at, uint32_t elements = 256)
{
    return LocalTensor<T>(position, at, elements);
}
/// Fractals one behind the other: into L1, and from there into L0A or L0B.
ASC_API void Bring(const Memory& m, uint32_t to, uint32_t fractals, uint32_t first = 0)
{
    DataCopy(At<TPosition::A1>(to, fractals * 256), m.x.ReinterpretCast<half>()[first * 256], fractals * 256);
}
template <TPosition position>
ASC_API void Take(uint32_t to, uint32_t from, uint8_t fractals)
{
    LoadData(At<position>(to, fractals * 256u), At<TPosition::A1>(from, fractals * 256u),
             LoadData2DParams(0, fractals, 1, 0, 0, false, 0));
}
ASC_API MmadParams Shape(uint16_t rows, uint16_t columns, uint16_t depth, bool first = true)
{
    MmadParams p;
    p.m = rows;
    p.n = columns;
    p.k = depth;
    p.cmatrixInitVal = first;
    return p;
}

// A half of L1 is given back when the left matrix is loaded; the right one is loaded from it after that.
DEFECT(half_of_l1_given_back_between_the_loads, "race", 1)
{
    SetFlag<MTE1_MTE2>(0);
    SetFlag<MTE1_MTE2>(1);
    for (int32_t step = 0; step < 4; ++step) {
        const int32_t turn = step & 1;
        const uint32_t at = turn * 4096;
        WaitFlag<MTE1_MTE2>(turn);
        DataCopy(At<TPosition::A1>(at, 512), m.x.ReinterpretCast<half>()[step * 512], 512); // here
        Order<MTE2_MTE1>(turn);
        if (step > 0) WaitFlag<M_MTE1>(0);
        Take<TPosition::A2>(0, at, 1);
        if (kBroken) SetFlag<MTE1_MTE2>(turn);
        Take<TPosition::B2>(0, at + 512, 1);
        if (!kBroken) SetFlag<MTE1_MTE2>(turn);
        Order<MTE1_M>();
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16, step == 0));
        if (step < 3) SetFlag<M_MTE1>(0);
    }
    WaitFlag<MTE1_MTE2>(0);
    WaitFlag<MTE1_MTE2>(1);
    Order<M_FIX>();
    Drain(m);
}

// L0A by turns, and L0B as if it were too.
DEFECT(l0b_without_turns, "race", 1)
{
    Bring(m, 0, 8);
    Order<MTE2_MTE1>();
    SetFlag<M_MTE1>(0);
    SetFlag<M_MTE1>(1);
    for (int32_t step = 0; step < 4; ++step) {
        const int32_t turn = step & 1;
        const uint32_t a = turn * 32768;
        const uint32_t b = kBroken ? 0 : a;
        WaitFlag<M_MTE1>(turn);
        Take<TPosition::A2>(a, step * 512, 1);
        LoadData(At<TPosition::B2>(b), At<TPosition::A1>(2048 + step * 512), LoadData2DParams(0, 1, 1, 0, 0, false, 0)); // here
        Order<MTE1_M>(turn);
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(a), At<TPosition::B2>(b), Shape(16, 16, 16, step == 0));
        SetFlag<M_MTE1>(turn);
    }
    WaitFlag<M_MTE1>(0);
    WaitFlag<M_MTE1>(1);
    Order<M_FIX>();
    Drain(m);
}

// A depth of 24 in two steps, the first of which adds to what nobody wrote.
DEFECT(first_step_of_the_depth_adds, "uninitialised-read?", 1)
{
    Bring(m, 0, 4);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 2);
    Take<TPosition::B2>(0, 1024, 2);
    Order<MTE1_M>();
    for (uint32_t step = 0; step < 2; ++step) {
        const MmadParams p = Shape(16, 16, step == 0 ? 16 : 8, !kBroken && step == 0);
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(step * 512), At<TPosition::B2>(step * 512), p); // here
    }
    Order<M_FIX>();
    Drain(m);
}

// The bias is on its way into its table after the flag that the product waits for.
DEFECT(bias_on_its_way_behind_the_flag, "race", 1)
{
    const LocalTensor<float> bias(TPosition::C1, 8192, 16), table(TPosition::C2, 0, 16);
    DataCopy(bias, m.y, 16);
    Bring(m, 0, 2);
    Order<MTE2_MTE1>();
    if (!kBroken) DataCopy(table, bias, DataCopyParams(1, 1, 0, 0));
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 1);
    SetFlag<MTE1_M>(0);
    if (kBroken) DataCopy(table, bias, DataCopyParams(1, 1, 0, 0));
    WaitFlag<MTE1_M>(0);
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), table, Shape(16, 16, 16, false)); // here
    Order<M_FIX>();
    Drain(m);
}

// Rows of sixteen columns go out with the pitch of the padded matrix.
DEFECT(rows_out_with_the_padded_pitch, "out-of-bounds-gm", 1)
{
    Bring(m, 0, 2);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 1);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 out(16, 16, 16, kBroken ? 32 : 16, true);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, At<TPosition::CO1, float>(0), out); // here
}

// The last rows of a matrix, eight of them, drained with the stride of a full tile.
DEFECT(last_rows_drained_with_the_full_tiles_stride, "uninitialised-read", 1)
{
    Bring(m, 0, 3);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 2);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0, 512), At<TPosition::A2>(0), At<TPosition::B2>(0, 512), Shape(8, 32, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 out(32, 8, kBroken ? 32 : 16, 32, false);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, At<TPosition::CO1, float>(0, 512), out); // here
}

// The way out is told before the last step of the depth.
DEFECT(way_out_told_before_the_last_step, "race", 1)
{
    Bring(m, 0, 6);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 3);
    Take<TPosition::B2>(0, 1536, 3);
    Order<MTE1_M>();
    for (uint32_t step = 0; step < 3; ++step) {
        if (kBroken && step == 2) SetFlag<M_FIX>(0);
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(step * 512), At<TPosition::B2>(step * 512), Shape(16, 16, 16, step == 0));
    }
    if (!kBroken) SetFlag<M_FIX>(0);
    WaitFlag<M_FIX>(0);
    Drain(m); // here
}

// 144 by 256 accumulators do not fit.
DEFECT(more_accumulators_than_there_are, "out-of-bounds-on-chip", 1)
{
    constexpr uint16_t rows = kBroken ? 144 : 128;
    Bring(m, 0, 25);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, rows / 16);
    Take<TPosition::B2>(0, 9 * 512, 16);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0, rows * 256), At<TPosition::A2>(0, rows * 16), At<TPosition::B2>(0, 4096), Shape(rows, 256, 16)); // here
    Order<M_FIX>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, At<TPosition::CO1, float>(0), FixpipeParamsV220(16, 16, rows, 16, false));
}

// The second step's left matrix begins in the middle of a fractal.
DEFECT(left_matrix_in_the_middle_of_a_fractal, "misaligned", 1)
{
    constexpr uint32_t pitch = kBroken ? 768 : 1024;
    Bring(m, 0, 4);
    Order<MTE2_MTE1>();
    for (uint32_t step = 0; step < 2; ++step) {
        LoadData(At<TPosition::A2>(step * pitch), At<TPosition::A1>(step * 512), LoadData2DParams(0, 1, 1, 0, 0, false, 0)); // here
    }
    Take<TPosition::B2>(0, 1024, 2);
    Order<MTE1_M>();
    for (uint32_t step = 0; step < 2; ++step) {
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(step * pitch), At<TPosition::B2>(step * 512), Shape(16, 16, 16, step == 0));
    }
    Order<M_FIX>();
    Drain(m);
}

// Both copies into L1 set the same flag, before either is waited for.
DEFECT(one_flag_for_both_matrices, "flag-misuse", 1)
{
    Bring(m, 0, 1);
    SetFlag<MTE2_MTE1>(0);
    Bring(m, 4096, 1, 1);
    SetFlag<MTE2_MTE1>(kBroken ? 0 : 1); // here
    WaitFlag<MTE2_MTE1>(0);
    Take<TPosition::A2>(0, 0, 1);
    WaitFlag<MTE2_MTE1>(kBroken ? 0 : 1);
    Take<TPosition::B2>(0, 4096, 1);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16));
    Order<M_FIX>();
    Drain(m);
}

// Both halves of L1 are given back at the end, and only one is taken back.
DEFECT(one_half_not_taken_back, "flag-misuse?", 1)
{
    SetFlag<MTE1_MTE2>(2);
    SetFlag<MTE1_MTE2>(3);
    for (int32_t step = 0; step < 4; ++step) {
        const int32_t turn = 2 + (step & 1);
        const uint32_t at = (step & 1) * 4096;
        WaitFlag<MTE1_MTE2>(turn);
        Bring(m, at, 2, step * 2);
        Order<MTE2_MTE1>();
        if (step > 0) WaitFlag<M_MTE1>(0);
        Take<TPosition::A2>(0, at, 1);
        Take<TPosition::B2>(0, at + 512, 1);
        SetFlag<MTE1_MTE2>(turn); // here
        Order<MTE1_M>();
        Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16, step == 0));
        if (step < 3) SetFlag<M_MTE1>(0);
    }
    WaitFlag<MTE1_MTE2>(2);
    if (!kBroken) WaitFlag<MTE1_MTE2>(3);
    Order<M_FIX>();
    Drain(m);
}

// Two sets of accumulators by turns, only one of which is free at first.
DEFECT(one_set_of_accumulators_free_at_first, "deadlock", 1)
{
    Bring(m, 0, 3);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 2);
    Order<MTE1_M>();
    SetFlag<FIX_M>(0);
    if (!kBroken) SetFlag<FIX_M>(1);
    for (int32_t tile = 0; tile < 2; ++tile) {
        WaitFlag<FIX_M>(tile); // here
        const auto c = At<TPosition::CO1, float>(tile * 65536);
        Mmad(c, At<TPosition::A2>(0), At<TPosition::B2>(tile * 512), Shape(8, 16, 16));
        Order<M_FIX>(tile);
        Fixpipe<float, float, CFG_ROW_MAJOR>(m.z[tile * 128], c, FixpipeParamsV220(16, 8, 16, 16, false));
        SetFlag<FIX_M>(tile);
    }
    WaitFlag<FIX_M>(0);
    WaitFlag<FIX_M>(1);
}

// Columns of blocks lie as far apart in L1 as those of a tile of 32 rows would; there are sixteen.
DEFECT(columns_as_far_apart_as_in_a_higher_tile, "uninitialised-read?", 1)
{
    const Nd2NzParams by_columns(1, 16, 32, 0, 32, kBroken ? 32 : 16, 1, 512);
    DataCopy(At<TPosition::A1>(0, 512), m.x.ReinterpretCast<half>(), by_columns);
    Bring(m, 8192, 2, 2);
    Order<MTE2_MTE1>();
    LoadData(At<TPosition::A2>(0, 512), At<TPosition::A1>(0, 512), LoadData2DParams(0, 2, 1, 0, 0, false, 0)); // here
    Take<TPosition::B2>(0, 8192, 2);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0, 512), At<TPosition::B2>(0, 512), Shape(16, 16, 32));
    Order<M_FIX>();
    Drain(m);
}

// The first product is the second one's left matrix, and loaded while it still drains into L1.
DEFECT(left_matrix_loaded_while_it_drains, "race", 1)
{
    Bring(m, 0, 2);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 1);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 halves(16, 16, 16, 16, true, QuantMode_t::F322F16);
    Fixpipe<half, float, CFG_NZ>(At<TPosition::A1>(16384), At<TPosition::CO1, float>(0), halves);
    Order<M_MTE1>();
    if (!kBroken) Order<HardEvent::FIX_MTE1>();
    LoadData(At<TPosition::A2>(0, 256u), At<TPosition::A1>(16384, 256u), LoadData2DParams(0, 1, 1, 0, 0, false, 0)); // here
    Order<MTE1_M>();
    Order<FIX_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16));
    Order<M_FIX>();
    Drain(m);
}

// Twelve columns as fractals, of which they do not fill one.
DEFECT(twelve_columns_as_fractals, "bad-argument", 1)
{
    Bring(m, 0, 2);
    Order<MTE2_MTE1>();
    Take<TPosition::A2>(0, 0, 1);
    Take<TPosition::B2>(0, 512, 1);
    Order<MTE1_M>();
    Mmad(At<TPosition::CO1, float>(0), At<TPosition::A2>(0), At<TPosition::B2>(0), Shape(16, 16, 16));
    Order<M_FIX>();
    const FixpipeParamsV220 out(kBroken ? 12 : 16, 16, 16, 32, false);
    Fixpipe<float, float, CFG_NZ>(m.z, At<TPosition::CO1, float>(0), out); // here
}
