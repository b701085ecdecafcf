// matmul::MatmulImpl: multiplication on the core that runs it. C (m x n) = A (m x k) B (k x n) + bias, in base blocks whose
// order and size the tiling gives. Sizes and offsets are elements.
#ifndef ASCENDC_MATMUL_MATMUL_H
#define ASCENDC_MATMUL_MATMUL_H

#include "ascendc/matmul/engine.h"
#include "ascendc/matmul/ignored_settings.h"

namespace AscendC {
namespace detail {

/// What a multiplication is asked to do; the same on both sides of a mixed kernel.
struct MatmulState {
    TCubeTiling tiling;
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t c = 0;
    uint64_t bias = 0;
    uint64_t factors = 0;
    uint64_t scalar = 0;
    int32_t orgM = 0;
    int32_t orgN = 0;
    int32_t orgKa = 0;
    int32_t orgKb = 0;
    int32_t orgKc = 0;
    int32_t m = 0; // of this core
    int32_t n = 0;
    int32_t k = 0;
    uint32_t transposedA = 0;
    uint32_t transposedB = 0;
    uint32_t quantised = 0;
    uint32_t hf32 = 0;
    uint32_t hf32TowardsZero = 0;
    uint64_t userInfo = 0; // for functions of the kernel's own
    uint64_t selfData = 0;
    uint32_t givenA = 0; // how often SetTensorA and SetTensorB gave one in global memory
    uint32_t givenB = 0;

    ASC_API void Start(const TCubeTiling& given)
    {
        tiling = given;
        SetOrgShape(tiling.M, tiling.N, tiling.Ka, tiling.Kb, tiling.N);
        SetSingleShape(tiling.singleCoreM, tiling.singleCoreN, tiling.singleCoreK);
    }
    ASC_API void SetOrgShape(int32_t mIn, int32_t nIn, int32_t ka, int32_t kb, int32_t kc)
    {
        orgM = mIn;
        orgN = nIn;
        orgKa = ka;
        orgKb = kb;
        orgKc = kc == 0 ? nIn : kc;
    }
    ASC_API void SetSingleShape(int32_t mIn, int32_t nIn, int32_t kIn)
    {
        m = mIn;
        n = nIn;
        k = kIn;
    }
    ASC_API void SetTail(int32_t mIn, int32_t nIn, int32_t kIn)
    {
        m = mIn == -1 ? m : mIn;
        n = nIn == -1 ? n : nIn;
        k = kIn == -1 ? k : kIn;
    }
    ASC_API uint32_t Blocks(int32_t size, int32_t base) const
    {
        return base <= 0 ? 0 : static_cast<uint32_t>((size + base - 1) / base);
    }
    ASC_API uint32_t BlocksM() const { return Blocks(m, tiling.baseM); }
    ASC_API uint32_t BlocksN() const { return Blocks(n, tiling.baseN); }
};

/// What a function of the kernel's own is told, in one word.
template <class T>
ASC_API uint64_t WordOf(const T& data)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "SetSelfDefineData: one word");
    uint64_t word = 0;
    __builtin_memcpy(&word, &data, sizeof(T));
    return word;
}

/// The walk over base blocks: along m first, or along n.
struct BlockWalk {
    uint32_t next = 0;
    uint32_t row = 0; // of the block, in blocks
    uint32_t column = 0;

    ASC_API bool Step(const MatmulState& s, bool nFirst)
    {
        const uint32_t rows = s.BlocksM(), columns = s.BlocksN();
        if (next >= rows * columns) {
            next = 0;
            return false;
        }
        row = nFirst ? next / columns : next % rows;
        column = nFirst ? next % columns : next / rows;
        ++next;
        return true;
    }
};

ASC_API bool RunsAlongN(const MatmulConfig& config, const TCubeTiling& tiling)
{
    return config.iterateOrder == IterateOrder::UNDEF ? tiling.iterateOrder == 1
                                                      : config.iterateOrder == IterateOrder::ORDER_N;
}

ASC_API constexpr void OverrideTiling(TCubeTiling&, const MatmulConfig&) {}
ASC_API void OverrideTiling(TCubeTiling& tiling, const MatmulApiStaticTiling& given)
{
#define ASCENDC_OVERRIDE(field)            \
    if (given.field != -1) {               \
        tiling.field = given.field;        \
    }
    ASCENDC_OVERRIDE(M)
    ASCENDC_OVERRIDE(N)
    ASCENDC_OVERRIDE(Ka)
    ASCENDC_OVERRIDE(Kb)
    ASCENDC_OVERRIDE(singleCoreM)
    ASCENDC_OVERRIDE(singleCoreN)
    ASCENDC_OVERRIDE(singleCoreK)
    ASCENDC_OVERRIDE(baseM)
    ASCENDC_OVERRIDE(baseN)
    ASCENDC_OVERRIDE(baseK)
    ASCENDC_OVERRIDE(depthA1)
    ASCENDC_OVERRIDE(depthB1)
    ASCENDC_OVERRIDE(stepM)
    ASCENDC_OVERRIDE(stepN)
    ASCENDC_OVERRIDE(stepKa)
    ASCENDC_OVERRIDE(stepKb)
    ASCENDC_OVERRIDE(isBias)
    ASCENDC_OVERRIDE(iterateOrder)
#undef ASCENDC_OVERRIDE
}

}  // namespace detail

template <
    class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
    class MM_CB = MatmulCallBackFunc<>,
    template <const auto&, typename, typename, typename, typename, typename> class POLICY = Impl::Detail::MatmulPolicy>
class MatmulImpl : public detail::IgnoredMatmulSettings {
public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using TA = typename A_TYPE::T;
    using TB = typename B_TYPE::T;
    using TC = typename C_TYPE::T;
    using TBias = typename BIAS_TYPE::T;

    ASC_API MatmulImpl() {}
    /// What still moves is waited for, where nobody said End().
    ASC_API ~MatmulImpl() { End(); }
    MatmulImpl(const MatmulImpl&) = delete;
    MatmulImpl& operator=(const MatmulImpl&) = delete;

    ASC_API void Init(const TCubeTiling* tiling, TPipe* pipe = nullptr)
    {
        if (tiling != nullptr) {
            state_.tiling = *tiling;
        }
        detail::OverrideTiling(state_.tiling, MM_CFG);
        const TCubeTiling given = state_.tiling;
        state_.Start(given);
        if constexpr (g_coreType == AIC) {
            StartEngine(pipe == nullptr ? GetTPipePtr() : pipe);
        }
    }
    /// Takes the buffers that the tiling asks for from a pipe object.
    ASC_API void StartEngine(TPipe* pipe)
    {
        if constexpr (g_coreType == AIC) {
            const TCubeTiling& t = state_.tiling;
            constexpr uint32_t side = Engine::SIDE;
            const uint32_t k = detail::CeilTo(static_cast<uint32_t>(t.baseK), side);
            const uint32_t left = detail::CeilTo(static_cast<uint32_t>(t.baseM), side) * k * sizeof(TA);
            const uint32_t right = detail::CeilTo(static_cast<uint32_t>(t.baseN), side) * k * sizeof(TB);
            // What a function of the kernel's own loads as a whole is loaded once and stays, as the tiling promises.
            detail::WholeOperands whole;
            if (MM_CB::CopyA1Ptr != nullptr && t.stepM * t.baseM >= t.singleCoreM && t.stepKa * t.baseK >= t.singleCoreK) {
                whole.a = detail::CeilTo(static_cast<uint32_t>(t.singleCoreM), side)
                    * detail::CeilTo(static_cast<uint32_t>(t.singleCoreK), side);
            }
            if (MM_CB::CopyB1Ptr != nullptr && t.stepN * t.baseN >= t.singleCoreN && t.stepKb * t.baseK >= t.singleCoreK) {
                whole.b = detail::CeilTo(static_cast<uint32_t>(t.singleCoreN), side)
                    * detail::CeilTo(static_cast<uint32_t>(t.singleCoreK), side);
            }
            isWholeA_ = whole.a != 0;
            isWholeB_ = whole.b != 0;
            loadedA_ = Loaded();
            loadedB_ = Loaded();
            // As much of L1 as the tiling gives: two sets of as many blocks along k as fit, else one of one block.
            const uint32_t pieceA = isWholeA_ ? 0 : left, pieceB = isWholeB_ ? 0 : right;
            const uint64_t given = uint64_t(t.depthA1) * pieceA + uint64_t(t.depthB1) * pieceB;
            const uint64_t stays = uint64_t(whole.a) * sizeof(TA) + uint64_t(whole.b) * sizeof(TB);
            const uint64_t room = TOTAL_L1_SIZE - 16 * 1024;
            const uint64_t most = stays < room ? room - stays : 0;
            const uint64_t pair = 2 * (uint64_t(pieceA) + pieceB);
            const uint64_t pairs = pair == 0 ? 1 : (given < most ? given : most) / pair;
            const uint64_t asked = static_cast<uint64_t>(
                isWholeA_ ? t.stepKb : isWholeB_ ? t.stepKa : t.stepKa < t.stepKb ? t.stepKa : t.stepKb);
            const uint64_t step = pairs < asked ? pairs : asked;
            engine_.Init(
                pipe, static_cast<uint32_t>(t.baseM), static_cast<uint32_t>(t.baseN), static_cast<uint32_t>(t.baseK),
                static_cast<uint32_t>(step), pairs == 0 ? 1 : 2, t.isBias != 0, whole);
        } else {
            (void)pipe;
        }
    }
    ASC_API void SetSubBlockIdx(uint8_t index) { (void)index; }
    ASC_API uint8_t GetSubBlockIdx() { return 0; }

    ASC_API void SetOrgShape(int m, int n, int k) { state_.SetOrgShape(m, n, k, k, n); }
    ASC_API void SetOrgShape(int m, int n, int ka, int kb, int kc = 0) { state_.SetOrgShape(m, n, ka, kb, kc); }
    ASC_API void SetSingleShape(int m, int n, int k) { state_.SetSingleShape(m, n, k); }
    ASC_API void SetTail(int m = -1, int n = -1, int k = -1) { state_.SetTail(m, n, k); }

    ASC_API void SetTensorA(const GlobalTensor<TA>& gm, bool transposed = false)
    {
        state_.a = Address(gm);
        isLocalA_ = false;
        ++state_.givenA;
        state_.transposedA = transposed;
        walk_.next = 0;
    }
    ASC_API void SetTensorB(const GlobalTensor<TB>& gm, bool transposed = false)
    {
        state_.b = Address(gm);
        isLocalB_ = false;
        ++state_.givenB;
        state_.transposedB = transposed;
        walk_.next = 0;
    }
    /// In L1 as columns of blocks, with rows of this core's part rounded up to 16 (32 for bytes).
    ASC_API void SetTensorA(const LocalTensor<TA>& tensor, bool transposed = false)
    {
        NeedsKAlongBlocks<TA>(!transposed);
        localA_ = tensor;
        isLocalA_ = true;
        state_.transposedA = transposed;
        walk_.next = 0;
    }
    /// In L1 as columns of blocks, with rows of this core's part rounded up to 16 (32 for bytes).
    ASC_API void SetTensorB(const LocalTensor<TB>& tensor, bool transposed = false)
    {
        NeedsKAlongBlocks<TB>(transposed);
        localB_ = tensor;
        isLocalB_ = true;
        state_.transposedB = transposed;
        walk_.next = 0;
    }
    ASC_API void SetBias(const GlobalTensor<TBias>& bias) { state_.bias = Address(bias); }
    ASC_API void SetBias(const LocalTensor<TBias>& bias)
    {
        (void)bias;
        NotFromL1();
    }
    ASC_API void DisableBias() { state_.bias = 0; }
    ASC_API void ClearBias() { state_.bias = 0; }
    ASC_API void SetQuantScalar(const uint64_t scalar)
    {
        state_.scalar = scalar;
        state_.factors = 0;
        state_.quantised = 1;
    }
    ASC_API void SetQuantVector(const GlobalTensor<uint64_t>& factors)
    {
        state_.factors = Address(factors);
        state_.quantised = 1;
    }
    /// A word for functions of the kernel's own: where its tiling lies.
    ASC_API void SetUserDefInfo(const uint64_t tiling) { state_.userInfo = tiling; }
    /// Another one, which may be anything.
    template <class T>
    ASC_API void SetSelfDefineData(T data)
    {
        state_.selfData = detail::WordOf(data);
    }
    ASC_API void SetHF32(bool enable = false, int32_t mode = 0)
    {
        state_.hf32 = enable;
        if constexpr (g_coreType == AIC) {
            SetHF32Mode(enable);
            SetHF32TransMode(mode == 1);
        }
    }
    /// The next base block of C, left in L0C; false when there is none left. With `partialSum` it adds to what is there.
    template <bool sync = true>
    ASC_API bool Iterate(bool partialSum = false)
    {
        if (!walk_.Step(state_, detail::RunsAlongN(ToMatmulConfig(MM_CFG), state_.tiling))) {
            return false;
        }
        ComputeBlock(walk_.row, walk_.column, partialSum);
        return true;
    }
    /// Writes the block that Iterate computed. With `sequential` blocks follow each other, baseM x baseN each.
    template <bool sync = true>
    ASC_API void GetTensorC(const GlobalTensor<TC>& gm, uint8_t atomic = 0, bool sequential = false)
    {
        state_.c = Address(gm);
        DrainBlock(walk_.row, walk_.column, atomic != 0, sequential);
    }
    template <bool sync = true>
    ASC_API void GetTensorC(const LocalTensor<TC>& tensor, uint8_t atomic = 0, bool sequential = false)
    {
        (void)tensor;
        (void)atomic;
        (void)sequential;
        NotFromL1();
    }
    template <bool sync = true>
    ASC_API void IterateAll(
        const GlobalTensor<TC>& gm, uint8_t atomic = 0, bool sequential = false, bool waitIterateAll = false,
        bool fakeMsg = false)
    {
        (void)waitIterateAll;
        (void)fakeMsg;
        state_.c = Address(gm);
        walk_.next = 0;
        while (Iterate()) {
            DrainBlock(walk_.row, walk_.column, atomic != 0, sequential);
        }
        walk_.next = 0;
    }
    /// The same for a result that goes to both places.
    template <bool sync = true>
    ASC_API void GetTensorC(
        const GlobalTensor<TC>& gm, const LocalTensor<TC>& tensor, uint8_t atomic = 0, bool sequential = false)
    {
        (void)tensor;
        GetTensorC<sync>(gm, atomic, sequential);
        NotFromL1();
    }
    template <bool sync = true>
    ASC_API void IterateAll(const LocalTensor<TC>& tensor, uint8_t atomic = 0)
    {
        (void)tensor;
        (void)atomic;
        NotFromL1();
    }
    ASC_API void AsyncGetTensorC(const LocalTensor<TC>& tensor) { GetTensorC<false>(tensor); }
    ASC_API void WaitIterateAll() {}
    ASC_API void WaitIterateBatch() {}
    ASC_API void WaitGetTensorC() {}
    /// How many matrices of A and of B IterateBatch multiplies; what the tiling says, where nobody says more.
    ASC_API void SetBatchNum(int32_t batchA, int32_t batchB)
    {
        batchA_ = batchA;
        batchB_ = batchB;
    }
    /// Matrices one after another in memory, or `stride` elements apart.
    template <bool sync = true, bool waitIterateBatch = false>
    ASC_API void IterateBatch(
        const GlobalTensor<TC>& gm, bool partialSum, uint8_t atomic, bool sequential, const uint32_t strideA = 0,
        const uint32_t strideB = 0, const uint32_t strideC = 0)
    {
        (void)partialSum;
        const int32_t planned = state_.tiling.BatchNum > 0 ? state_.tiling.BatchNum : 1;
        MultiplyBatches(
            gm, static_cast<uint32_t>(batchA_ > 0 ? batchA_ : planned), static_cast<uint32_t>(batchB_ > 0 ? batchB_ : planned),
            sequential, strideA, strideB, strideC, atomic);
    }

    /// `batchA` and `batchB` matrices, of which the fewer are used several times.
    ASC_API void MultiplyBatches(
        const GlobalTensor<TC>& gm, uint32_t batchA, uint32_t batchB, bool sequential, uint32_t strideA, uint32_t strideB,
        uint32_t strideC, uint8_t atomic)
    {
        const uint32_t batch = batchA > batchB ? batchA : batchB;
        const detail::MatmulState start = state_;
        const uint64_t sizeA = strideA != 0 ? strideA : uint64_t(state_.orgM) * state_.orgKa;
        const uint64_t sizeB = strideB != 0 ? strideB : uint64_t(state_.orgN) * state_.orgKb;
        const uint64_t sizeC = strideC != 0 ? strideC : uint64_t(state_.orgM) * state_.orgKc;
        GlobalTensor<TC> out = gm;
        for (uint32_t i = 0; i < batch; ++i) {
            state_.a = start.a + (batchA == 0 ? 0 : i * batchA / batch) * sizeA * sizeof(TA);
            state_.b = start.b + (batchB == 0 ? 0 : i * batchB / batch) * sizeB * sizeof(TB);
            if (start.bias != 0 && ToMatmulConfig(MM_CFG).isBiasBatch) {
                state_.bias = start.bias + uint64_t(i) * static_cast<uint32_t>(state_.n) * sizeof(TBias);
            }
            IterateAll(out, atomic, sequential);
            out = out[sizeC];
        }
        state_ = start;
    }

    ASC_API void End()
    {
        if constexpr (g_coreType == AIC) {
            engine_.End();
        }
    }

    // ---- for the service of a mixed kernel ----
    ASC_API detail::MatmulState& State() { return state_; }
    /// Makes `index` the block that sequential results are counted by.
    ASC_API void SetWalk(uint32_t index) { walk_.next = index; }
    ASC_API void ComputeBlock(uint32_t row, uint32_t column, bool partialSum)
    {
        if constexpr (g_coreType == AIC) {
            const detail::MatmulState& s = state_;
            detail::MatrixView<TA> a;
            a.gm = reinterpret_cast<__gm__ TA*>(s.a);
            a.fractal = A_TYPE::format == CubeFormat::NZ;
            a.transposed = s.transposedA != 0;
            a.rows = static_cast<uint32_t>(a.transposed ? s.orgKa : s.orgM);
            a.columns = static_cast<uint32_t>(a.transposed ? s.orgM : s.orgKa);
            a.stride = a.columns;
            if (isLocalA_) {
                a.local = localA_;
                a.isLocal = true;
                a.rows = static_cast<uint32_t>(a.transposed ? s.k : s.m);
            }
            detail::MatrixView<TB> b;
            b.gm = reinterpret_cast<__gm__ TB*>(s.b);
            b.fractal = B_TYPE::format == CubeFormat::NZ;
            b.transposed = s.transposedB != 0;
            b.rows = static_cast<uint32_t>(b.transposed ? s.orgN : s.orgKb);
            b.columns = static_cast<uint32_t>(b.transposed ? s.orgKb : s.orgN);
            b.stride = b.columns;
            if (isLocalB_) {
                b.local = localB_;
                b.isLocal = true;
                b.rows = static_cast<uint32_t>(b.transposed ? s.n : s.k);
            }
            engine_.words = {s.userInfo, s.selfData};
            if (isWholeA_ && !isLocalA_) {
                const Loaded wanted = {s.a, s.givenA, s.m, s.k};
                if (!(loadedA_ == wanted)) {
                    wholeA_ = engine_.LoadWholeA(a.gm, static_cast<uint32_t>(s.m), static_cast<uint32_t>(s.k));
                    loadedA_ = wanted;
                }
                a.local = wholeA_;
                a.isLocal = true;
                a.rows = static_cast<uint32_t>(a.transposed ? s.k : s.m);
                NeedsKAlongBlocks<TA>(!a.transposed);
            }
            if (isWholeB_ && !isLocalB_) {
                const Loaded wanted = {s.b, s.givenB, s.n, s.k};
                if (!(loadedB_ == wanted)) {
                    wholeB_ = engine_.LoadWholeB(b.gm, static_cast<uint32_t>(s.n), static_cast<uint32_t>(s.k));
                    loadedB_ = wanted;
                }
                b.local = wholeB_;
                b.isLocal = true;
                b.rows = static_cast<uint32_t>(b.transposed ? s.n : s.k);
                NeedsKAlongBlocks<TB>(b.transposed);
            }
            const uint32_t rowStart = row * BaseM(), columnStart = column * BaseN();
            engine_.Compute(
                a, b, reinterpret_cast<__gm__ TBias*>(s.bias), rowStart, columnStart, Used(s.m, rowStart, BaseM()),
                Used(s.n, columnStart, BaseN()), static_cast<uint32_t>(s.k), partialSum);
        }
    }
    ASC_API void DrainBlock(uint32_t row, uint32_t column, bool atomic, bool sequential)
    {
        if constexpr (g_coreType == AIC) {
            const detail::MatmulState& s = state_;
            detail::ResultView<TC> out;
            out.gm = reinterpret_cast<__gm__ TC*>(s.c);
            out.fractal = C_TYPE::format == CubeFormat::NZ;
            out.rows = static_cast<uint32_t>(s.orgM);
            out.stride = static_cast<uint32_t>(s.orgKc);
            out.atomic = atomic;
            out.relu = ToMatmulConfig(MM_CFG).enableRelu;
            out.scalar = s.scalar;
            out.factors = reinterpret_cast<__gm__ uint64_t*>(s.factors);
            out.quantised = s.quantised != 0;
            uint32_t rowStart = row * BaseM(), columnStart = column * BaseN();
            const uint32_t m = Used(s.m, rowStart, BaseM()), n = Used(s.n, columnStart, BaseN());
            if (sequential) {
                out.gm += uint64_t(walk_.next == 0 ? 0 : walk_.next - 1) * BaseM() * BaseN();
                out.rows = BaseM();
                out.stride = BaseN();
                out.factors = out.factors == nullptr ? nullptr : out.factors + columnStart;
                rowStart = 0;
                columnStart = 0;
            }
            engine_.Drain(out, rowStart, columnStart, m, n);
        }
    }

private:
    using Engine = detail::MatmulEngine<TA, TB, TC, TBias, MM_CB>;

    /// What a whole operand in L1 is; vector cores of a mixed kernel have their own, and give others.
    struct Loaded {
        uint64_t address = 0;
        uint32_t given = 0;
        int32_t outer = 0; // along m or n
        int32_t k = 0;
        ASC_API bool operator==(const Loaded& other) const
        {
            return address == other.address && given == other.given && outer == other.outer && k == other.k;
        }
    };

    template <typename T>
    ASC_API static void NeedsKAlongBlocks(bool isAlong)
    {
        if (sizeof(T) == 4 && !isAlong) {
            ascendsim::Fault("unsupported", "Matmul: floats in L1 must have k along their blocks");
        }
    }
    template <typename T>
    ASC_API static uint64_t Address(const GlobalTensor<T>& gm)
    {
        return reinterpret_cast<uint64_t>(gm.GetPhyAddr());
    }
    ASC_API static void NotFromL1()
    {
        ascendsim::Fault("unsupported", "MatmulImpl: bias and results are taken in global memory only");
    }
    ASC_API uint32_t BaseM() const { return static_cast<uint32_t>(state_.tiling.baseM); }
    ASC_API uint32_t BaseN() const { return static_cast<uint32_t>(state_.tiling.baseN); }
    ASC_API static uint32_t Used(int32_t size, uint32_t start, uint32_t base)
    {
        const uint32_t left = static_cast<uint32_t>(size) - start;
        return left < base ? left : base;
    }
    detail::MatmulState state_;
    detail::BlockWalk walk_;
    LocalTensor<TA> localA_;
    LocalTensor<TB> localB_;
    bool isLocalA_ = false;
    bool isLocalB_ = false;
    LocalTensor<TA> wholeA_;
    LocalTensor<TB> wholeB_;
    int32_t batchA_ = 0;
    int32_t batchB_ = 0;
    bool isWholeA_ = false;
    bool isWholeB_ = false;
    Loaded loadedA_;
    Loaded loadedB_;
    Engine engine_;
};
}  // namespace AscendC

#endif
