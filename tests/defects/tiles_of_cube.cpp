// Matrix products with layouts on the way: rows to fractals, halves of L0, results in pieces.
// To be compiled with -D__DAV_C220_CUBE__.
#include <defect.h>

constexpr uint32_t kFractal = 512;  // bytes

/// A tensor of `count` halves at byte `at` of L1.
ASC_API LocalTensor<half> InL1(uint32_t at, uint32_t count) { return LocalTensor<half>(TPosition::A1, at, count); }

// 48 rows are turned to fractals, of which L1 has the first 32 when the load takes the third.
DEFECT(third_fractal_loaded_behind_two, "uninitialised-read?", 1)
{
    const uint16_t rows = kBroken ? 32 : 48;
    DataCopy(InL1(0, 768), m.x.ReinterpretCast<half>(), Nd2NzParams(1, rows, 16, 0, 16, 48, 1, 0));
    Order<MTE2_MTE1>();
    LoadData(LocalTensor<half>(TPosition::A2, 0, 768), InL1(0, 768), LoadData2DParams(0, 3, 1, 0, 0, false, 0)); // here
}

// The matrix has 16 columns; its rows are taken to be 20 apart, and the last one ends behind the input.
DEFECT(rows_of_a_matrix_further_apart, "out-of-bounds-gm", 1)
{
    const uint16_t apart = kBroken ? 20 : 16;
    DataCopy(InL1(0, 8192), m.x.ReinterpretCast<half>(), Nd2NzParams(1, 512, 16, 0, apart, 512, 1, 0)); // here
}

// L1 holds two tiles by turns; the second load of B is from the tile that is fetched.
DEFECT(loaded_from_the_tile_that_arrives, "race", 1)
{
    DataCopy(InL1(0, 512), m.x.ReinterpretCast<half>(), 512);
    SetFlag<MTE2_MTE1>(0);
    DataCopy(InL1(1024, 512), m.x.ReinterpretCast<half>()[512], 512);
    SetFlag<MTE2_MTE1>(1);
    WaitFlag<MTE2_MTE1>(0);
    Load<TPosition::A2>(0, 0);
    if (!kBroken) WaitFlag<MTE2_MTE1>(1);
    Load<TPosition::B2>(0, 1024); // here
    if (kBroken) WaitFlag<MTE2_MTE1>(1);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    Drain(m);
}

// Two results of one L0C go out; the flag stands between the products, not before the second drain.
DEFECT(second_result_drained_by_the_first_flag, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    MmadParams p;
    p.m = p.n = p.k = 16;
    Mmad(Fractal<TPosition::CO1, float>(0), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p);
    if (kBroken) SetFlag<M_FIX>(0);
    Mmad(Fractal<TPosition::CO1, float>(1024), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p);
    if (!kBroken) SetFlag<M_FIX>(0);
    WaitFlag<M_FIX>(0);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, Fractal<TPosition::CO1, float>(1024), FixpipeParamsV220(16, 16, 16, 16, false)); // here
}

// L0A takes 128 rows by 256 halves: all of it. The product has one fractal more along k.
DEFECT(one_fractal_more_along_k, "out-of-bounds-on-chip", 1)
{
    DataCopy(InL1(0, 4096), m.x.ReinterpretCast<half>(), 4096);
    Order<MTE2_MTE1>();
    for (uint32_t i = 0; i < 8; ++i) {
        LoadData(LocalTensor<half>(TPosition::A2, i * 8192, 4096), InL1(0, 4096), LoadData2DParams(0, 16, 1, 0, 0, false, 0));
    }
    LoadData(LocalTensor<half>(TPosition::B2, 0, 4096), InL1(0, 4096), LoadData2DParams(0, 16, 1, 0, 0, false, 0));
    LoadData(LocalTensor<half>(TPosition::B2, 8192, 256), InL1(0, 256), LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    Order<MTE1_M>();
    MmadParams p;
    p.m = 128;
    p.n = 16;
    p.k = kBroken ? 272 : 256;
    const LocalTensor<half> a(TPosition::A2, 0, 32768), b(TPosition::B2, 0, 4352);
    Mmad(LocalTensor<float>(TPosition::CO1, 0, 2048), a, b, p); // here
}

// Four products along k, drained by twos: the third begins anew while the sum of two is still on its way out.
DEFECT(drained_after_every_second_step, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    for (uint32_t k = 0; k < 4; ++k) {
        MmadParams p;
        p.m = p.n = p.k = 16;
        p.cmatrixInitVal = k % 2 == 0;
        if (!kBroken && k == 2) WaitFlag<FIX_M>(0);
        PipeBarrier<PIPE_M>();
        Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p); // here
        if (k % 2 == 0) continue;
        Order<M_FIX>(static_cast<int32_t>(k));
        Fixpipe<float, float, CFG_ROW_MAJOR>(m.w, Fractal<TPosition::CO1, float>(), FixpipeParamsV220(16, 16, 16, 16, false));
        if (!kBroken && k == 1) SetFlag<FIX_M>(0);
        PipeBarrier<PIPE_FIX>();
    }
}

// The output has 16 rows; 32 are drained, as many as the product made.
DEFECT(drained_with_the_rows_of_the_fractal, "out-of-bounds-gm", 1)
{
    DataCopy(InL1(0, 512), m.x.ReinterpretCast<half>(), 512);
    Order<MTE2_MTE1>();
    LoadData(LocalTensor<half>(TPosition::A2, 0, 512), InL1(0, 512), LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    MmadParams p;
    p.m = 32;
    p.n = p.k = 16;
    const LocalTensor<float> c(TPosition::CO1, 0, 512);
    Mmad(c, LocalTensor<half>(TPosition::A2, 0, 512), Fractal<TPosition::B2>(), p);
    Order<M_FIX>();
    const uint16_t rows = kBroken ? 32 : 16;
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, c, FixpipeParamsV220(16, rows, 32, 16, false)); // here
}

// L1 is given back by the queue, but to the wrong one of two queues that share a size.
DEFECT(left_tile_freed_to_the_right_queue, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::A1, 1> left;
    TQue<TPosition::B1, 1> right;
    pipe.InitBuffer(left, 1, kFractal);
    pipe.InitBuffer(right, 1, kFractal);
    auto a = left.AllocTensor<half>();
    DataCopy(a, m.x.ReinterpretCast<half>(), 256);
    left.EnQue(a);
    a = left.DeQue<half>();
    auto b = right.AllocTensor<half>();
    DataCopy(b, m.x.ReinterpretCast<half>(), 256);
    right.EnQue(b);
    b = right.DeQue<half>();
    LoadData(Fractal<TPosition::A2>(), a, LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    LoadData(Fractal<TPosition::B2>(), b, LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    if (kBroken) right.FreeTensor(a); // here
    else left.FreeTensor(a);
    right.FreeTensor(b);
}

// The flag that the product waits for is set when A is loaded, before B.
DEFECT(waits_for_the_load_of_a_alone, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    LoadData(Fractal<TPosition::A2>(), InL1(0, 256), LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    if (kBroken) SetFlag<MTE1_M>(3);
    LoadData(Fractal<TPosition::B2>(), InL1(0, 256), LoadData2DParams(0, 1, 0, 0, 0, true, 0));
    if (!kBroken) SetFlag<MTE1_M>(3);
    WaitFlag<MTE1_M>(3);
    MmadParams p;
    p.m = p.n = p.k = 16;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p); // here
    Order<M_FIX>();
    Drain(m);
}
