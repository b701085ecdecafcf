// What computes a base block of C on a cube core: loads from global memory through L1, L0A and L0B into L0C, and the
// fixpipe from there. Two sets of buffers in L1 and L0 keep the pipes busy where they fit; flags order them.
#ifndef ASCENDC_MATMUL_ENGINE_H
#define ASCENDC_MATMUL_ENGINE_H

#include "ascendc/atomic.h"
#include "ascendc/cube/mmad.h"
#include "ascendc/matmul/callbacks.h"
#include "ascendc/tque.h"

namespace AscendC {
namespace detail {

ASC_API constexpr uint32_t CeilTo(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

/// An operand of a multiplication as it lies in memory: `rows` x `columns` elements, row-major with `stride` elements from
/// row to row, or as columns of blocks (`fractal`) with rows rounded up to 16.
template <typename T>
struct MatrixView {
    __gm__ T* gm = nullptr;
    LocalTensor<T> local;    // where it is in L1 already, as columns of blocks
    bool isLocal = false;
    bool fractal = false;
    bool transposed = false; // stored the other way round
    uint32_t rows = 0;
    uint32_t columns = 0;
    uint32_t stride = 0;
};

/// Where a block of an operand lies in L1: columns of blocks, `stored` rows each; from `start` on along m or n and from
/// `kStart` on along k.
template <typename T>
struct PanelView {
    LocalTensor<T> tensor;
    uint32_t stored = 0;
    uint32_t start = 0;
    uint32_t kStart = 0;
};

/// Everything about one C: where it goes and what the fixpipe does on the way.
template <typename C>
struct ResultView {
    __gm__ C* gm = nullptr;
    bool fractal = false;
    uint32_t rows = 0;       // of C, for fractals
    uint32_t stride = 0;     // elements of a row
    bool atomic = false;
    bool relu = false;
    uint64_t scalar = 0;     // quantisation, one factor for all
    __gm__ uint64_t* factors = nullptr; // or one for each column
    bool quantised = false;
};

/// What functions of the kernel's own are told beside what they move.
struct CallbackWords {
    uint64_t userInfo = 0;
    uint64_t selfData = 0;
};

/// Elements of operands that stay in L1 as a whole; 0 for one that is loaded piece by piece.
struct WholeOperands {
    uint32_t a = 0;
    uint32_t b = 0;
};

template <typename TA, typename TB, typename TC, typename TBias, class MM_CB = MatmulCallBackFunc<>>
class MatmulEngine {
public:
    using Accumulator = std::conditional_t<sizeof(TA) == 1, int32_t, float>;
    static constexpr uint32_t C0 = 32 / sizeof(TA);
    /// Transposed loads move squares of this side.
    static constexpr uint32_t SIDE = C0 > 16 ? C0 : 16;

    ASC_API MatmulEngine() {}
    MatmulEngine(const MatmulEngine&) = delete;
    MatmulEngine& operator=(const MatmulEngine&) = delete;

    /// `stepK` base blocks along k are loaded at once, into one of `sets` buffers.
    ASC_API void Init(
        TPipe* pipe, uint32_t baseM, uint32_t baseN, uint32_t baseK, uint32_t stepK, uint32_t sets, bool bias,
        const WholeOperands& whole)
    {
        baseM_ = baseM;
        baseN_ = baseN;
        l1Sets_ = sets;
        baseK_ = baseK < SIDE ? SIDE : baseK / SIDE * SIDE; // whole squares
        stepK_ = stepK == 0 ? 1 : stepK;
        const uint32_t m = CeilTo(baseM, SIDE), n = CeilTo(baseN, SIDE), k = baseK_;
        a1Bytes_ = m * k * stepK_ * sizeof(TA);
        b1Bytes_ = n * k * stepK_ * sizeof(TB);
        a2Bytes_ = m * k * sizeof(TA);
        b2Bytes_ = n * k * sizeof(TB);
        l0Sets_ = 2 * a2Bytes_ <= TOTAL_L0A_SIZE && 2 * b2Bytes_ <= TOTAL_L0B_SIZE ? 2 : 1;
        pipe->InitBuffer(a1_, whole.a != 0 ? whole.a * sizeof(TA) : l1Sets_ * a1Bytes_);
        pipe->InitBuffer(b1_, whole.b != 0 ? whole.b * sizeof(TB) : l1Sets_ * b1Bytes_);
        if (bias) {
            pipe->InitBuffer(c1_, n * sizeof(Accumulator));
        }
        if constexpr (!std::is_same<TC, Accumulator>::value) {
            pipe->InitBuffer(factors_, CeilTo(n * sizeof(uint64_t), 128));
        }
        pipe->InitBuffer(co1_, m * n * sizeof(Accumulator));
        for (uint32_t i = 0; i < 2; ++i) {
            l1Free_[i] = pipe->AllocEventID<HardEvent::MTE1_MTE2>();
            l1Full_[i] = pipe->AllocEventID<HardEvent::MTE2_MTE1>();
            l0Free_[i] = pipe->AllocEventID<HardEvent::M_MTE1>();
            l0Full_[i] = pipe->AllocEventID<HardEvent::MTE1_M>();
        }
        c0Full_ = pipe->AllocEventID<HardEvent::M_FIX>();
        c0Free_ = pipe->AllocEventID<HardEvent::FIX_M>();
    }

    /// The block of C from (row, column) on: size m x n, summed over all k.
    ASC_API void Compute(
        const MatrixView<TA>& a, const MatrixView<TB>& b, __gm__ TBias* bias, uint32_t row, uint32_t column, uint32_t m,
        uint32_t n, uint32_t k, bool accumulate)
    {
        if (c0Pending_) {
            AscendC::WaitFlag<HardEvent::FIX_M>(c0Free_);
            c0Pending_ = false;
        }
        const uint32_t kL1 = baseK_ * stepK_;
        bool first = !accumulate;
        for (uint32_t outer = 0; outer < k; outer += kL1) {
            const uint32_t kOuter = k - outer < kL1 ? k - outer : kL1;
            const uint32_t set = l1Turn_;
            l1Turn_ = (l1Turn_ + 1) % l1Sets_;
            if (l1Pending_[set]) {
                AscendC::WaitFlag<HardEvent::MTE1_MTE2>(l1Free_[set]);
            }
            // Of an operand that lies in L1 already there may be no piece.
            const LocalTensor<TA> a1 =
                a.isLocal ? a.local : a1_.template GetWithOffset<TA>(a1Bytes_ / sizeof(TA), set * a1Bytes_);
            const LocalTensor<TB> b1 =
                b.isLocal ? b.local : b1_.template GetWithOffset<TB>(b1Bytes_ / sizeof(TB), set * b1Bytes_);
            PanelView<TA> left = Panel(a, a1, row, outer, a.transposed ? kOuter : m);
            PanelView<TB> right = Panel(b, b1, column, outer, b.transposed ? n : kOuter);
            if (!a.isLocal) {
                LoadA1(a1, a, row, m, outer, kOuter);
            }
            if (!b.isLocal) {
                LoadB1(b1, b, column, n, outer, kOuter);
            }
            const bool withBias = bias != nullptr && first && outer == 0;
            if (withBias) {
                LoadBias(bias + column, n);
            }
            AscendC::SetFlag<HardEvent::MTE2_MTE1>(l1Full_[set]);
            AscendC::WaitFlag<HardEvent::MTE2_MTE1>(l1Full_[set]);
            for (uint32_t inner = 0; inner < kOuter; inner += baseK_) {
                const uint32_t kInner = kOuter - inner < baseK_ ? kOuter - inner : baseK_;
                Step(left, right, a.transposed, b.transposed, m, n, kInner, withBias && inner == 0, first);
                left.kStart += kInner;
                right.kStart += kInner;
                first = false;
            }
            AscendC::SetFlag<HardEvent::MTE1_MTE2>(l1Free_[set]);
            l1Pending_[set] = true;
        }
    }

    /// Operands that stay in L1, loaded by functions of the kernel's own: `m` or `n` by `k` elements.
    ASC_API LocalTensor<TA> LoadWholeA(__gm__ TA* gm, uint32_t m, uint32_t k)
    {
        End(); // what is there is still read
        const LocalTensor<TA> whole = a1_.template Get<TA>();
        if constexpr (MM_CB::CopyA1Ptr != nullptr) {
            MM_CB::CopyA1Ptr(
                whole.template ReinterpretCast<int8_t>(), gm, 0, 0, static_cast<int>(m), static_cast<int>(k),
                words.userInfo, words.selfData);
        }
        return whole;
    }
    ASC_API LocalTensor<TB> LoadWholeB(__gm__ TB* gm, uint32_t n, uint32_t k)
    {
        End();
        const LocalTensor<TB> whole = b1_.template Get<TB>();
        if constexpr (MM_CB::CopyB1Ptr != nullptr) {
            MM_CB::CopyB1Ptr(
                whole.template ReinterpretCast<int8_t>(), gm, 0, 0, static_cast<int>(k), static_cast<int>(n),
                words.userInfo, words.selfData);
        }
        return whole;
    }

    /// What functions of the kernel's own are told.
    CallbackWords words;

    /// The block of C that was computed, to `out` of (row, column).
    ASC_API void Drain(const ResultView<TC>& out, uint32_t row, uint32_t column, uint32_t m, uint32_t n)
    {
        const LocalTensor<Accumulator> c = co1_.template Get<Accumulator>();
        AscendC::SetFlag<HardEvent::M_FIX>(c0Full_);
        FixpipeParamsV220 p;
        p.nSize = static_cast<uint16_t>(n);
        p.mSize = static_cast<uint16_t>(m);
        p.srcStride = static_cast<uint16_t>(CeilTo(m, 16));
        p.reluEn = out.relu;
        p.quantPre = Mode(out);
        p.deqScalar = out.scalar;
        if (out.factors != nullptr && out.quantised) {
            LoadFactors(out.factors + column, n);
        }
        AscendC::WaitFlag<HardEvent::M_FIX>(c0Full_);
        if (out.atomic) {
            SetAtomicAdd<TC>();
        }
        if constexpr (MM_CB::DataCopyOutPtr != nullptr) {
            CopyOutByCallback(out, c, row, column, m, n);
        } else {
            CopyOut(out, c, p, row, column);
        }
        if (out.atomic) {
            SetAtomicNone();
        }
        AscendC::SetFlag<HardEvent::FIX_M>(c0Free_);
        c0Pending_ = true;
    }

    /// Waits for everything that still moves.
    ASC_API void End()
    {
        for (uint32_t i = 0; i < 2; ++i) {
            if (l1Pending_[i]) {
                AscendC::WaitFlag<HardEvent::MTE1_MTE2>(l1Free_[i]);
                l1Pending_[i] = false;
            }
            if (l0Pending_[i]) {
                AscendC::WaitFlag<HardEvent::M_MTE1>(l0Free_[i]);
                l0Pending_[i] = false;
            }
        }
        if (c0Pending_) {
            AscendC::WaitFlag<HardEvent::FIX_M>(c0Free_);
            c0Pending_ = false;
        }
    }

private:
    ASC_API static void CopyOut(
        const ResultView<TC>& out, const LocalTensor<Accumulator>& c, FixpipeParamsV220& p, uint32_t row, uint32_t column)
    {
        GlobalTensor<TC> to;
        if (out.fractal) {
            constexpr uint32_t cOut = sizeof(TC) == 1 ? 32 : 16; // columns of a panel
            const uint64_t panel = uint64_t(CeilTo(out.rows, 16)) * cOut;
            to.SetGlobalBuffer(out.gm + column / cOut * panel + uint64_t(row) * cOut);
            p.dstStride = static_cast<uint32_t>(panel * sizeof(TC) / 32);
            Fixpipe<TC, Accumulator, CFG_NZ>(to, c, p);
        } else {
            to.SetGlobalBuffer(out.gm + uint64_t(row) * out.stride + column);
            p.dstStride = out.stride;
            Fixpipe<TC, Accumulator, CFG_ROW_MAJOR>(to, c, p);
        }
    }

    ASC_API void CopyOutByCallback(
        const ResultView<TC>& out, const LocalTensor<Accumulator>& c, uint32_t row, uint32_t column, uint32_t m, uint32_t n)
    {
        DataCopyOutParams p;
        const uint32_t rows = CeilTo(m, 16);
        p.cBurstNum = static_cast<uint16_t>(CeilTo(n, 16) / 16);
        p.burstLen = static_cast<uint16_t>(rows * 16 * sizeof(Accumulator) / 32);
        p.oriNSize = static_cast<uint16_t>(out.fractal ? 0 : n);
        p.dstStride = out.fractal ? static_cast<uint32_t>(out.rows * 16 * sizeof(TC) / 32) : out.stride;
        p.quantScalar = out.scalar;
        p.quantMode = static_cast<uint8_t>(Mode(out));
        p.curM = static_cast<int>(row / baseM_);
        p.curN = static_cast<int>(column / baseN_);
        __gm__ TC* const to =
            out.fractal ? out.gm + uint64_t(column) * out.rows + uint64_t(row) * 16 : out.gm + uint64_t(row) * out.stride + column;
        MM_CB::DataCopyOutPtr(to, c.template ReinterpretCast<int8_t>(), &p, words.userInfo, words.selfData);
    }

    ASC_API void LoadA1(
        const LocalTensor<TA>& dst, const MatrixView<TA>& view, uint32_t row, uint32_t m, uint32_t kStart, uint32_t k)
    {
        if constexpr (MM_CB::CopyA1Ptr != nullptr) {
            MM_CB::CopyA1Ptr(
                dst.template ReinterpretCast<int8_t>(), view.gm, static_cast<int>(row / baseM_),
                static_cast<int>(kStart / baseK_), static_cast<int>(m), static_cast<int>(k), words.userInfo, words.selfData);
        } else {
            LoadL1(dst, view, row, m, kStart, k, !view.transposed);
        }
    }

    ASC_API void LoadB1(
        const LocalTensor<TB>& dst, const MatrixView<TB>& view, uint32_t column, uint32_t n, uint32_t kStart, uint32_t k)
    {
        if constexpr (MM_CB::CopyB1Ptr != nullptr) {
            MM_CB::CopyB1Ptr(
                dst.template ReinterpretCast<int8_t>(), view.gm, static_cast<int>(kStart / baseK_),
                static_cast<int>(column / baseN_), static_cast<int>(k), static_cast<int>(n), words.userInfo, words.selfData);
        } else {
            LoadL1(dst, view, column, n, kStart, k, view.transposed);
        }
    }

    static constexpr QuantMode_t Mode(const ResultView<TC>& out)
    {
        if constexpr (std::is_same<TC, Accumulator>::value) {
            return QuantMode_t::NoQuant;
        } else if constexpr (std::is_same<Accumulator, float>::value) {
            if constexpr (std::is_same<TC, half>::value) {
                return QuantMode_t::F322F16;
            } else if constexpr (std::is_same<TC, bfloat16_t>::value) {
                return QuantMode_t::F322BF16;
            } else {
                return out.factors != nullptr ? QuantMode_t::VQF322B8_PRE : QuantMode_t::QF322B8_PRE;
            }
        } else if constexpr (sizeof(TC) == 2) {
            return out.factors != nullptr ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16;
        } else {
            return out.factors != nullptr ? QuantMode_t::VREQ8 : QuantMode_t::REQ8;
        }
    }

    // ---- global memory to L1: columns of blocks ----
    /// Rows of the L1 copy, rounded so that squares and fractals are whole.
    template <typename T>
    ASC_API static uint32_t L1Rows(uint32_t rows)
    {
        return CeilTo(rows, SIDE);
    }

    template <typename T>
    ASC_API static PanelView<T> Panel(
        const MatrixView<T>& view, const LocalTensor<T>& loaded, uint32_t start, uint32_t kStart, uint32_t rows)
    {
        PanelView<T> panel;
        if (view.isLocal) {
            panel.tensor = view.local;
            panel.stored = L1Rows<T>(view.rows);
            panel.start = start;
            panel.kStart = kStart;
        } else {
            panel.tensor = loaded;
            panel.stored = L1Rows<T>(rows);
        }
        return panel;
    }

    /// `outerFirst`: the operand is stored with m (or n) as its rows and k as its columns.
    template <typename T>
    ASC_API static void LoadL1(
        const LocalTensor<T>& dst, const MatrixView<T>& view, uint32_t start, uint32_t count, uint32_t kStart,
        uint32_t kCount, bool outerFirst)
    {
        const uint32_t row = outerFirst ? start : kStart, rows = outerFirst ? count : kCount;
        const uint32_t column = outerFirst ? kStart : start, columns = outerFirst ? kCount : count;
        GlobalTensor<T> src;
        if (view.fractal) {
            const uint64_t stored = CeilTo(view.rows, 16);
            src.SetGlobalBuffer(view.gm + column / C0 * stored * C0 + uint64_t(row) * C0);
            const uint32_t panels = (columns + C0 - 1) / C0;
            const uint32_t whole = CeilTo(rows, 16);
            if (sizeof(T) == 4 && !outerFirst) {
                for (uint32_t panel = 0; panel < panels; ++panel) {
                    for (uint32_t r = 0; r < whole; r += 16) {
                        DataCopy(
                            dst[r * CeilTo(columns, 16) + panel * 16 * C0], src[panel * stored * C0 + r * C0],
                            DataCopyParams(1, 16, 0, 0));
                    }
                }
                return;
            }
            for (uint32_t panel = 0; panel < panels; ++panel) {
                DataCopy(
                    dst[panel * L1Rows<T>(rows) * C0], src[panel * stored * C0],
                    DataCopyParams(1, static_cast<uint16_t>(whole), 0, 0));
            }
            return;
        }
        src.SetGlobalBuffer(view.gm + uint64_t(row) * view.stride + column);
        if constexpr (sizeof(T) == 4) {
            if (!outerFirst) {
                // Squares of floats are two fractals side by side: sixteen rows at a time.
                for (uint32_t r = 0; r < rows; r += 16) {
                    const uint32_t some = rows - r < 16 ? rows - r : 16;
                    CopyRows(dst[r * CeilTo(columns, 16)], src[uint64_t(r) * view.stride], some, columns, view.stride, 16);
                }
                return;
            }
        }
        CopyRows(dst, src, rows, columns, view.stride, L1Rows<T>(rows));
    }

    template <typename T>
    ASC_API static void CopyRows(
        const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t rows, uint32_t columns, uint32_t stride,
        uint32_t stored)
    {
        if (stride <= 65535) {
            DataCopy(
                dst, src,
                Nd2NzParams(
                    1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0, static_cast<uint16_t>(stride),
                    static_cast<uint16_t>(stored), 1, 0));
            return;
        }
        for (uint32_t r = 0; r < rows; ++r) { // rows too far apart for one instruction
            DataCopy(
                dst[r * C0], src[uint64_t(r) * stride],
                Nd2NzParams(1, 1, static_cast<uint16_t>(columns), 0, 1, static_cast<uint16_t>(stored), 1, 0));
        }
    }

    ASC_API void LoadBias(__gm__ TBias* bias, uint32_t n)
    {
        GlobalTensor<TBias> src;
        src.SetGlobalBuffer(bias);
        // Written again only when the matrix unit is through with the last one.
        PipeBarrier<PIPE_ALL>();
        DataCopy(
            c1_.template Get<TBias>(), src,
            Nd2NzParams(1, 1, static_cast<uint16_t>(n), 0, static_cast<uint16_t>(n), 1, 1, 0));
    }

    ASC_API void LoadFactors(__gm__ uint64_t* factors, uint32_t n)
    {
        GlobalTensor<uint32_t> src;
        src.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(factors));
        const LocalTensor<uint32_t> l1 = factors_.template Get<uint32_t>();
        const uint16_t words = static_cast<uint16_t>(2 * n);
        PipeBarrier<PIPE_ALL>();
        DataCopy(l1, src, Nd2NzParams(1, 1, words, 0, words, 1, 1, 0));
        PipeBarrier<PIPE_ALL>();
        detail::LoadFactors(l1, static_cast<uint16_t>(n));
    }

    // ---- L1 to L0, and the multiplication ----
    ASC_API void Step(
        const PanelView<TA>& left, const PanelView<TB>& right, bool transposedA, bool transposedB, uint32_t m,
        uint32_t n, uint32_t k, bool withBias, bool first)
    {
        const uint32_t set = l0Turn_;
        l0Turn_ = (l0Turn_ + 1) % l0Sets_;
        if (l0Pending_[set]) {
            AscendC::WaitFlag<HardEvent::M_MTE1>(l0Free_[set]);
        }
        const LocalTensor<TA> a2(TPosition::A2, set * a2Bytes_, a2Bytes_ / sizeof(TA));
        const LocalTensor<TB> b2(TPosition::B2, set * b2Bytes_, b2Bytes_ / sizeof(TB));
        const uint32_t mStored = transposedA ? CeilTo(m, SIDE) : CeilTo(m, 16);
        const uint32_t nStored = transposedB ? CeilTo(n, 16) : CeilTo(n, SIDE);
        LoadLeft(a2, left, mStored, k, transposedA);
        LoadRight(b2, right, nStored, k, transposedB);
        const LocalTensor<Accumulator> table(TPosition::C2, 0, 256);
        if (withBias) {
            const uint16_t units = static_cast<uint16_t>((n * sizeof(TBias) + 63) / 64);
            const LocalTensor<TBias> start = c1_.template Get<TBias>();
            copy_cbuf_to_bt(
                table.GetPhyAddr(), detail::Ub(start), static_cast<uint16_t>(sizeof(TBias) == 2), 1, units, 0, 0);
        }
        AscendC::SetFlag<HardEvent::MTE1_M>(l0Full_[set]);
        AscendC::WaitFlag<HardEvent::MTE1_M>(l0Full_[set]);
        MmadParams p;
        p.m = static_cast<uint16_t>(m == 1 ? 16 : m); // one row would be taken as a vector
        p.n = static_cast<uint16_t>(nStored);
        p.k = static_cast<uint16_t>(k);
        p.kDirectionAlign = sizeof(TA) == 4 && transposedA;
        p.cmatrixInitVal = first && !withBias;
        const LocalTensor<Accumulator> c = co1_.template Get<Accumulator>();
        if (withBias) {
            Mmad(c, a2, b2, table, p);
        } else {
            Mmad(c, a2, b2, p);
        }
        AscendC::SetFlag<HardEvent::M_MTE1>(l0Free_[set]);
        l0Pending_[set] = true;
    }

    /// L0A: fractals in row-major order of (m, k).
    ASC_API static void LoadLeft(
        const LocalTensor<TA>& dst, const PanelView<TA>& panel, uint32_t mStored, uint32_t k, bool transposed)
    {
        const LocalTensor<TA>& src = panel.tensor;
        const uint32_t kStart = panel.kStart;
        const uint32_t kBlocks = (k + C0 - 1) / C0;
        if (!transposed) {
            const uint32_t rows = panel.stored / 16; // fractals of a column in L1
            for (uint32_t i = 0; i < mStored / 16; ++i) {
                LoadData(
                    dst[i * kBlocks * 16 * C0], src[kStart / C0 * rows * 16 * C0],
                    LoadData2DParams(
                        static_cast<uint16_t>(panel.start / 16 + i), static_cast<uint8_t>(kBlocks),
                        static_cast<uint16_t>(rows), 0, 0, false, 0));
            }
            return;
        }
        // In L1 k runs down the rows. A square becomes C0-wide fractals below each other.
        const uint32_t squares = panel.stored / SIDE; // of a column of squares in L1
        const uint32_t column = panel.start / SIDE;
        const uint32_t kSquares = (k + SIDE - 1) / SIDE;
        if constexpr (sizeof(TA) == 2) {
            for (uint32_t i = 0; i < mStored / 16; ++i) {
                LoadData(
                    dst[i * kSquares * 256], src,
                    LoadData2DParams(
                        static_cast<uint16_t>((column + i) * squares + kStart / 16), static_cast<uint8_t>(kSquares), 1, 0, 0,
                        true, 0));
            }
        } else if constexpr (sizeof(TA) == 1) {
            for (uint32_t i = 0; i < mStored / 32; ++i) { // two rows of fractals at once
                LoadDataWithTranspose(
                    dst[i * 2 * kSquares * 512], src,
                    LoadData2dTransposeParams(
                        static_cast<uint16_t>((column + i) * squares + kStart / 32), static_cast<uint8_t>(kSquares), 1, 0,
                        static_cast<uint16_t>(kSquares - 1)));
            }
        } else {
            const uint32_t mSquares = mStored / 16;
            for (uint32_t i = 0; i < mSquares; ++i) { // a square is two fractals along k
                LoadDataWithTranspose(
                    dst[i * kSquares * 256], src,
                    LoadData2dTransposeParams(
                        static_cast<uint16_t>(kStart / 16 * mSquares + i), static_cast<uint8_t>(kSquares),
                        static_cast<uint16_t>(mSquares), 1, 0));
            }
        }
    }

    /// L0B: transposed fractals in row-major order of (k, n).
    ASC_API static void LoadRight(
        const LocalTensor<TB>& dst, const PanelView<TB>& panel, uint32_t nStored, uint32_t k, bool transposed)
    {
        const LocalTensor<TB>& src = panel.tensor;
        const uint32_t kStart = panel.kStart;
        if (transposed) {
            // In L1 n runs down the rows: fractals lie as L0B wants them.
            const uint32_t rows = panel.stored / 16;
            for (uint32_t i = 0; i < (k + C0 - 1) / C0; ++i) {
                LoadData(
                    dst[i * nStored * C0], src[(kStart / C0 + i) * rows * 16 * C0],
                    LoadData2DParams(
                        static_cast<uint16_t>(panel.start / 16), static_cast<uint8_t>(nStored / 16), 1, 0, 0, false, 0));
            }
            return;
        }
        const uint32_t squares = panel.stored / SIDE;
        const uint32_t nSquares = nStored / SIDE;
        for (uint32_t i = 0; i < (k + SIDE - 1) / SIDE; ++i) {
            const uint16_t first = static_cast<uint16_t>(panel.start / SIDE * squares + kStart / SIDE + i);
            if constexpr (sizeof(TB) == 2) {
                LoadData(
                    dst[i * nStored * 16], src,
                    LoadData2DParams(
                        first, static_cast<uint8_t>(nSquares), static_cast<uint16_t>(squares), 0, 0, true, 0));
            } else if constexpr (sizeof(TB) == 1) {
                LoadDataWithTranspose(
                    dst[i * nStored * 32], src,
                    LoadData2dTransposeParams(
                        first, static_cast<uint8_t>(nSquares), static_cast<uint16_t>(squares), 1, 0));
            } else {
                // A square gives one fractal to each of two rows.
                LoadDataWithTranspose(
                    dst[i * nStored * 16], src,
                    LoadData2dTransposeParams(
                        static_cast<uint16_t>(first * nSquares), static_cast<uint8_t>(nSquares), 1, 0,
                        static_cast<uint16_t>(nSquares - 1)));
            }
        }
    }

    TBuf<TPosition::A1> a1_;
    TBuf<TPosition::B1> b1_;
    TBuf<TPosition::C1> c1_;
    TBuf<TPosition::C1> factors_;
    TBuf<TPosition::CO1> co1_;
    uint32_t baseM_ = 1;
    uint32_t baseN_ = 1;
    uint32_t baseK_ = 0;
    uint32_t stepK_ = 1;
    uint32_t a1Bytes_ = 0;
    uint32_t b1Bytes_ = 0;
    uint32_t a2Bytes_ = 0;
    uint32_t b2Bytes_ = 0;
    uint32_t l0Sets_ = 1;
    uint32_t l1Sets_ = 2;
    uint32_t l1Turn_ = 0;
    uint32_t l0Turn_ = 0;
    TEventID l1Free_[2] = {};
    TEventID l1Full_[2] = {};
    TEventID l0Free_[2] = {};
    TEventID l0Full_[2] = {};
    TEventID c0Full_ = 0;
    TEventID c0Free_ = 0;
    bool l1Pending_[2] = {};
    bool l0Pending_[2] = {};
    bool c0Pending_ = false;
};

}  // namespace detail
}  // namespace AscendC

#endif
