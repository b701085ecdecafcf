// Matrix products in pieces along K: L1 and L0 in two halves, accumulation, results by the fixpipe.
// To be compiled with -D__DAV_C220_CUBE__.
#include <defect.h>

constexpr uint32_t kFractal = 512;  // bytes
constexpr uint32_t kSteps = 4;

/// A product of one fractal of A at `a` and one of B at `b`, both bytes.
ASC_API void Step(uint32_t a, uint32_t b, bool first)
{
    MmadParams p;
    p.m = p.n = p.k = 16;
    p.cmatrixInitVal = first;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(a), Fractal<TPosition::B2>(b), p);
}
/// Sixteen fractals to L1.
ASC_API void FetchAll(const Memory& m, uint32_t at)
{
    DataCopy(LocalTensor<half>(TPosition::A1, at, 4096), m.x.ReinterpretCast<half>(), 4096);
}

// L0A and L0B in two halves, but the way back is not waited for: the third step loads over the first one's operands.
DEFECT(operands_reloaded_under_the_product, "race", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    for (uint32_t k = 0; k < kSteps; ++k) {
        const int32_t half_ = static_cast<int32_t>(k & 1);
        const uint32_t at = (k & 1) * kFractal;
        if (!kBroken && k >= 2) WaitFlag<M_MTE1>(half_);
        Load<TPosition::A2>(at, k * kFractal); // here
        Load<TPosition::B2>(at, k * kFractal);
        Order<MTE1_M>(static_cast<int32_t>(k));
        if (k > 0) PipeBarrier<PIPE_M>();
        Step(at, at, k == 0);
        if (!kBroken && k + 2 < kSteps) SetFlag<M_MTE1>(half_);
    }
    Order<M_FIX>();
    Drain(m);
}

// L1 in two halves; the flag back is set by the load of A, before B has been loaded from the same half.
DEFECT(l1_half_returned_after_the_first_load, "race", 1)
{
    for (uint32_t k = 0; k < kSteps; ++k) {
        const int32_t half_ = static_cast<int32_t>(k & 1);
        const uint32_t at = (k & 1) * 4096;
        if (k >= 2) WaitFlag<MTE1_MTE2>(half_);
        DataCopy(LocalTensor<half>(TPosition::A1, at, 512), m.x.ReinterpretCast<half>()[k * 512], 512); // here
        SetFlag<MTE2_MTE1>(half_);
        WaitFlag<MTE2_MTE1>(half_);
        Load<TPosition::A2>(k * kFractal, at);
        if (kBroken && k + 2 < kSteps) SetFlag<MTE1_MTE2>(half_);
        Load<TPosition::B2>(k * kFractal, at + kFractal);
        if (!kBroken && k + 2 < kSteps) SetFlag<MTE1_MTE2>(half_);
    }
}

// The first step adds to what is in L0C.
// Class: an error rather than a warning could be argued, since the result goes out.
DEFECT(first_step_adds_to_nothing, "uninitialised-read?", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    for (uint32_t k = 0; k < 2; ++k) {
        Load<TPosition::A2>(k * kFractal, k * kFractal);
        Load<TPosition::B2>(k * kFractal, k * kFractal);
    }
    Order<MTE1_M>();
    for (uint32_t k = 0; k < 2; ++k) {
        MmadParams p;
        p.m = p.n = p.k = 16;
        p.cmatrixInitVal = !kBroken && k == 0;
        if (k > 0) PipeBarrier<PIPE_M>();
        Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(k * kFractal), Fractal<TPosition::B2>(k * kFractal), p); // here
    }
    Order<M_FIX>();
    Drain(m);
}

// One L0C for all columns: the next product begins while the last one's result is still on its way out.
DEFECT(next_columns_over_the_last_result, "race", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    for (uint32_t n = 0; n < 3; ++n) Load<TPosition::B2>(n * kFractal, n * kFractal);
    Order<MTE1_M>();
    for (uint32_t n = 0; n < 3; ++n) {
        MmadParams p;
        p.m = p.n = p.k = 16;
        if (!kBroken && n > 0) WaitFlag<FIX_M>(static_cast<int32_t>(n));
        Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(n * kFractal), p); // here
        Order<M_FIX>(static_cast<int32_t>(n));
        Fixpipe<float, float, CFG_ROW_MAJOR>(m.w, Fractal<TPosition::CO1, float>(), FixpipeParamsV220(16, 16, 16, 16, false));
        PipeBarrier<PIPE_FIX>();
        if (!kBroken && n < 2) SetFlag<FIX_M>(static_cast<int32_t>(n + 1));
    }
}

// The bias is loaded to its table behind the flag that the product waits for.
DEFECT(bias_behind_the_flag, "race", 1)
{
    FetchAll(m, 0);
    DataCopy(LocalTensor<float>(TPosition::C1, 65536, 16), m.y, 16);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    if (kBroken) SetFlag<MTE1_M>(0);
    LocalTensor<float> table(TPosition::C2, 0, 16);
    DataCopy(table, LocalTensor<float>(TPosition::C1, 65536, 16), DataCopyParams(1, 1, 0, 0));
    if (!kBroken) SetFlag<MTE1_M>(0);
    WaitFlag<MTE1_M>(0);
    MmadParams p;
    p.m = p.n = p.k = 16;
    p.cmatrixInitVal = false;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), table, p); // here
    Order<M_FIX>();
    Drain(m);
}

// A and B come by two copies; the flag is set after the first.
DEFECT(flag_between_a_and_b, "race", 1)
{
    Fetch(m, 0);
    if (kBroken) SetFlag<MTE2_MTE1>(0);
    DataCopy(Fractal<TPosition::B1>(8192), m.y.ReinterpretCast<half>(), 256);
    if (!kBroken) SetFlag<MTE2_MTE1>(0);
    WaitFlag<MTE2_MTE1>(0);
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 8192); // here
    Order<MTE1_M>();
    Multiply();
}

// A half of L0A holds two fractals (16 x 32); the second half begins one fractal behind the first.
DEFECT(halves_of_l0_that_overlap, "race", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    const uint32_t distance = kBroken ? kFractal : 2 * kFractal;
    const LoadData2DParams two(0, 2, 1, 0, 0, false, 0);
    const LocalTensor<half> l1(TPosition::A1, 0, 4096);
    MmadParams p;
    p.m = p.n = 16;
    p.k = 32;
    LoadData(Fractal<TPosition::B2>(0), l1, two);
    LoadData(Fractal<TPosition::A2>(0), l1, two);
    Order<MTE1_M>(0);
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(0), Fractal<TPosition::B2>(0), p);
    LoadData(Fractal<TPosition::A2>(distance), l1[512], two); // here
    Order<MTE1_M>(1);
    PipeBarrier<PIPE_M>();
    p.cmatrixInitVal = false;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(distance), Fractal<TPosition::B2>(0), p);
    Order<M_FIX>();
    Drain(m);
}

// The last tile of accumulators is two fractals high and does not end within L0C.
DEFECT(accumulators_behind_the_end_of_l0c, "out-of-bounds-on-chip", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::A2>(kFractal, kFractal);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    MmadParams p;
    p.m = 32;
    p.n = p.k = 16;
    const LocalTensor<float> c(TPosition::CO1, 131072 - (kBroken ? 1024 : 2048), 512);
    Mmad(c, Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p); // here
}

// Sixteen fractals where eight have room.
DEFECT(fractals_behind_the_end_of_l0a, "out-of-bounds-on-chip", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    LocalTensor<half> a(TPosition::A2, 65536 - 8 * kFractal, 8 * 256);
    const uint8_t fractals = kBroken ? 16 : 8;
    LoadData(a, LocalTensor<half>(TPosition::A1, 0, 4096), LoadData2DParams(0, fractals, 1, 0, 0, false, 0)); // here
}

// The result goes through the workspace to be the next product's operand.
DEFECT(result_fetched_before_it_is_out, "race", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.w, Fractal<TPosition::CO1, float>(), FixpipeParamsV220(16, 16, 16, 16, false));
    if (!kBroken) Order<HardEvent::FIX_MTE2>();
    DataCopy(LocalTensor<float>(TPosition::A1, 8192, 256), m.w, 256); // here
}

// The flag is set by every step and waited for by the last.
DEFECT(flag_of_every_step_waited_for_once, "flag-misuse", 1)
{
    FetchAll(m, 0);
    Order<MTE2_MTE1>();
    for (uint32_t k = 0; k < kSteps; ++k) {
        Load<TPosition::A2>(k * kFractal, k * kFractal);
        Load<TPosition::B2>(k * kFractal, k * kFractal);
        if (kBroken || k + 1 == kSteps) SetFlag<MTE1_M>(0); // here
    }
    WaitFlag<MTE1_M>(0);
    for (uint32_t k = 0; k < kSteps; ++k) {
        if (k > 0) PipeBarrier<PIPE_M>();
        Step(k * kFractal, k * kFractal, k == 0);
    }
    Order<M_FIX>();
    Drain(m);
}

// Operands come by a queue, and are given back before they are loaded.
DEFECT(l1_tensor_returned_before_the_load, "queue-misuse", 1)
{
    TPipe pipe;
    TQue<TPosition::A1, 1> queue;
    pipe.InitBuffer(queue, 1, kFractal);
    for (uint32_t k = 0; k < 2; ++k) {
        auto a = queue.AllocTensor<half>();
        DataCopy(a, m.x.ReinterpretCast<half>()[k * 256], 256);
        queue.EnQue(a);
        a = queue.DeQue<half>();
        if (kBroken) queue.FreeTensor(a);
        LoadData(Fractal<TPosition::A2>(k * kFractal), a, LoadData2DParams(0, 1, 0, 0, 0, false, 0)); // here
        if (!kBroken) queue.FreeTensor(a);
    }
}

// Rows of the result are 64 elements apart, as in the whole matrix; the output of this launch is the tile alone.
DEFECT(rows_of_the_result_too_far_apart, "out-of-bounds-gm", 1)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    FixpipeParamsV220 p(16, 16, 16, kBroken ? 64 : 16, false);
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, Fractal<TPosition::CO1, float>(), p); // here
}

// Each block has a tile of the output, and both write the first.
DEFECT(tiles_of_two_blocks_at_one_place, "cross-core-race", 2)
{
    Fetch(m, 0);
    Order<MTE2_MTE1>();
    Load<TPosition::A2>(0, 0);
    Load<TPosition::B2>(0, 0);
    Order<MTE1_M>();
    Multiply();
    Order<M_FIX>();
    const GlobalTensor<float> tile = kBroken ? m.z : m.MyZ();
    Fixpipe<float, float, CFG_ROW_MAJOR>(tile, Fractal<TPosition::CO1, float>(), FixpipeParamsV220(16, 16, 16, 16, false)); // here
}
