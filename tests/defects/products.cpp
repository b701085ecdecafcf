// Products in the cube core, with tails and turns.
#include <defect.h>

// Twenty rows of the right matrix, multiplied as thirty-two.
DEFECT(depth_beyond_the_rows, "uninitialised-read?", 1)
{
    auto left = LocalTensor<half>(TPosition::A1, 0, 512), right = LocalTensor<half>(TPosition::A1, 4096, 512);
    if (!kBroken) InitConstValue(right, InitConstValueParams<half>(1, 32, 0, half(0.0f)));
    PipeBarrier<PIPE_MTE2>();
    DataCopy(left, m.x.ReinterpretCast<half>(), 512);
    DataCopy(right, m.y.ReinterpretCast<half>(), 20 * 16);
    Order<MTE2_MTE1>();
    LoadData(LocalTensor<half>(TPosition::A2, 0, 512), left, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    LoadData(LocalTensor<half>(TPosition::B2, 0, 512), right, LoadData2DParams(0, 2, 1, 0, 0, true, 0)); // here
    Order<MTE1_M>();
    MmadParams p;
    p.m = p.n = 16;
    p.k = 32;
    Mmad(Fractal<TPosition::CO1, float>(), LocalTensor<half>(TPosition::A2, 0, 512),
         LocalTensor<half>(TPosition::B2, 0, 512), p);
    Order<M_FIX>();
    Drain(m);
}

// The first product of a sum is added as well.
DEFECT(first_product_added_to_nothing, "uninitialised-read?", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    for (int32_t step = 0; step < 2; ++step) {
        Load<TPosition::A2>(0, 0);
        Load<TPosition::B2>(0, 0);
        Order<MTE1_M>();
        MmadParams p;
        p.m = p.n = p.k = 16;
        p.cmatrixInitVal = !kBroken && step == 0;
        Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p); // here
        Order<M_MTE1>();
    }
    Order<M_FIX>();
    Drain(m);
}

// L1 is given back after the left matrix, with the right one still to be loaded from it.
DEFECT(given_back_after_the_left_matrix, "race", 1)
{
    for (int32_t tile = 0; tile < 2; ++tile) {
        if (tile > 0) WaitFlag<MTE1_MTE2>(0);
        Fetch(m, 0); // here
        Order<MTE2_MTE1>();
        if (tile > 0) WaitFlag<M_MTE1>(0);
        Load<TPosition::A2>(0, 0);
        if (kBroken && tile == 0) SetFlag<MTE1_MTE2>(0);
        Load<TPosition::B2>(0, 0);
        if (!kBroken && tile == 0) SetFlag<MTE1_MTE2>(0);
        Order<MTE1_M>();
        Multiply();
        if (tile == 0) SetFlag<M_MTE1>(0);
        PipeBarrier<PIPE_M>();
    }
    Order<M_FIX>();
    Drain(m);
}

// Rows of the result at twice their distance.
DEFECT(result_at_twice_its_pitch, "out-of-bounds-gm", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    const uint32_t pitch = kBroken ? 32 : 16;
    auto sums = Fractal<TPosition::CO1, float>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, sums, FixpipeParamsV220(16, 16, 16, pitch, false)); // here
}

// Two accumulators by turns, drained without waiting for their turn.
DEFECT(accumulator_taken_while_it_drains, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    for (int32_t tile = 0; tile < 3; ++tile) {
        const int32_t turn = tile & 1;
        auto sums = Fractal<TPosition::CO1, float>(turn * 1024);
        if (tile == 2 && !kBroken) WaitFlag<FIX_M>(0);
        MmadParams p;
        p.m = p.n = p.k = 16;
        Mmad(sums, Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p); // here
        Order<M_FIX>(turn);
        Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, sums, FixpipeParamsV220(16, 16, 16, 16, false));
        if (tile == 0 && !kBroken) SetFlag<FIX_M>(0);
        PipeBarrier<PIPE_FIX>();
    }
}
