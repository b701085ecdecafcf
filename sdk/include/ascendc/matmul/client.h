// matmul::Matmul on a vector core of a mixed kernel: the interface of MatmulImpl, whose work the block's cube core does.
// Tensors of the Unified Buffer go through global memory.
#ifndef ASCENDC_MATMUL_CLIENT_H
#define ASCENDC_MATMUL_CLIENT_H

#include "ascendc/matmul/ignored_settings.h"
#include "ascendc/matmul/session.h"

namespace AscendC {
template <
    class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
    class MM_CB = MatmulCallBackFunc<>,
    template <const auto&, typename, typename, typename, typename, typename> class POLICY = Impl::Detail::MatmulPolicy>
class MatmulClient : public detail::IgnoredMatmulSettings {
public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using TA = typename A_TYPE::T;
    using TB = typename B_TYPE::T;
    using TC = typename C_TYPE::T;
    using TBias = typename BIAS_TYPE::T;

    ASC_API MatmulClient() {}
    MatmulClient(const MatmulClient&) = delete;
    MatmulClient& operator=(const MatmulClient&) = delete;

    ASC_API void Attach(detail::MatmulSession* session, uint32_t number)
    {
        session_ = session;
        message_.object = number;
    }
    ASC_API void Init(const TCubeTiling* tiling, TPipe* pipe = nullptr)
    {
        (void)pipe;
        TCubeTiling given = tiling == nullptr ? TCubeTiling() : *tiling;
        detail::OverrideTiling(given, MM_CFG);
        State().Start(given);
    }
    ASC_API void SetSubBlockIdx(uint8_t index) { (void)index; }
    ASC_API uint8_t GetSubBlockIdx() { return static_cast<uint8_t>(AscendC::GetSubBlockIdx()); }

    ASC_API void SetOrgShape(int m, int n, int k) { State().SetOrgShape(m, n, k, k, n); }
    ASC_API void SetOrgShape(int m, int n, int ka, int kb, int kc = 0) { State().SetOrgShape(m, n, ka, kb, kc); }
    ASC_API void SetSingleShape(int m, int n, int k) { State().SetSingleShape(m, n, k); }
    ASC_API void SetTail(int m = -1, int n = -1, int k = -1) { State().SetTail(m, n, k); }

    ASC_API void SetTensorA(const GlobalTensor<TA>& gm, bool transposed = false)
    {
        State().a = reinterpret_cast<uint64_t>(gm.GetPhyAddr());
        ++State().givenA;
        State().transposedA = transposed;
        walk_.next = 0;
    }
    ASC_API void SetTensorB(const GlobalTensor<TB>& gm, bool transposed = false)
    {
        State().b = reinterpret_cast<uint64_t>(gm.GetPhyAddr());
        ++State().givenB;
        State().transposedB = transposed;
        walk_.next = 0;
    }
    ASC_API void SetTensorA(const LocalTensor<TA>& tensor, bool transposed = false)
    {
        State().a = StageIn(tensor, 0, State().m, State().k);
        State().transposedA = transposed;
        walk_.next = 0;
    }
    ASC_API void SetTensorB(const LocalTensor<TB>& tensor, bool transposed = false)
    {
        State().b = StageIn(tensor, 1, State().n, State().k);
        State().transposedB = transposed;
        walk_.next = 0;
    }
    ASC_API void SetBias(const GlobalTensor<TBias>& bias) { State().bias = reinterpret_cast<uint64_t>(bias.GetPhyAddr()); }
    ASC_API void SetBias(const LocalTensor<TBias>& bias) { State().bias = StageIn(bias, 2, 1, State().n); }
    ASC_API void DisableBias() { State().bias = 0; }
    ASC_API void ClearBias() { State().bias = 0; }
    ASC_API void SetQuantScalar(const uint64_t scalar)
    {
        State().scalar = scalar;
        State().factors = 0;
        State().quantised = 1;
    }
    ASC_API void SetQuantVector(const GlobalTensor<uint64_t>& factors)
    {
        State().factors = reinterpret_cast<uint64_t>(factors.GetPhyAddr());
        State().quantised = 1;
    }
    ASC_API void SetUserDefInfo(const uint64_t tiling) { State().userInfo = tiling; }
    template <class T>
    ASC_API void SetSelfDefineData(T data)
    {
        State().selfData = detail::WordOf(data);
    }
    ASC_API void SetHF32(bool enable = false, int32_t mode = 0)
    {
        State().hf32 = enable;
        State().hf32TowardsZero = mode == 1;
    }
    ASC_API void SetBatchNum(int32_t batchA, int32_t batchB)
    {
        (void)batchA;
        (void)batchB;
    }

    /// Moves on to the next base block; it is computed when GetTensorC asks for it.
    template <bool sync = true>
    ASC_API bool Iterate(bool partialSum = false)
    {
        message_.partialSum = partialSum;
        return walk_.Step(State(), detail::RunsAlongN(ToMatmulConfig(MM_CFG), State().tiling));
    }
    template <bool sync = true>
    ASC_API void GetTensorC(const GlobalTensor<TC>& gm, uint8_t atomic = 0, bool sequential = false)
    {
        State().c = reinterpret_cast<uint64_t>(gm.GetPhyAddr());
        AskForBlock(atomic, sequential, walk_.next);
        session_->Wait();
    }
    /// A block of baseM rows of baseN elements.
    template <bool sync = true>
    ASC_API void GetTensorC(const LocalTensor<TC>& tensor, uint8_t atomic = 0, bool sequential = false)
    {
        (void)atomic;
        (void)sequential;
        const uint64_t elements = uint64_t(State().tiling.baseM) * static_cast<uint32_t>(State().tiling.baseN);
        if (elements * sizeof(TC) > detail::MatmulSlot::StageBytes(3)) {
            ascendsim::Fault("unsupported", "GetTensorC: a base block for the Unified Buffer is limited to 72 KiB");
        }
        State().c = reinterpret_cast<uint64_t>(session_->Slot().Stage(3));
        AskForBlock(0, true, 1);
        session_->Wait();
        GlobalTensor<TC> from;
        from.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(State().c));
        PipeBarrier<PIPE_ALL>();
        DataCopy(tensor, from, static_cast<uint32_t>(elements));
        PipeBarrier<PIPE_ALL>();
    }
    template <bool sync = true>
    ASC_API void GetTensorC(
        const GlobalTensor<TC>& gm, const LocalTensor<TC>& tensor, uint8_t atomic = 0, bool sequential = false)
    {
        GetTensorC<sync>(gm, atomic, sequential);
        GetTensorC<sync>(tensor);
    }
    ASC_API void AsyncGetTensorC(const LocalTensor<TC>& tensor) { GetTensorC<false>(tensor); }

    template <bool sync = true>
    ASC_API void IterateAll(
        const GlobalTensor<TC>& gm, uint8_t atomic = 0, bool sequential = false, bool waitIterateAll = false,
        bool fakeMsg = false)
    {
        (void)waitIterateAll;
        (void)fakeMsg;
        State().c = reinterpret_cast<uint64_t>(gm.GetPhyAddr());
        message_.work = detail::MatmulWork::ALL;
        message_.atomic = atomic;
        message_.sequential = sequential;
        session_->Ask(message_);
        if constexpr (sync) {
            session_->Wait();
        }
        walk_.next = 0;
    }
    /// All blocks, one after another in the Unified Buffer.
    template <bool sync = true>
    ASC_API void IterateAll(const LocalTensor<TC>& tensor, uint8_t atomic = 0)
    {
        (void)atomic;
        const uint32_t block = static_cast<uint32_t>(State().tiling.baseM * State().tiling.baseN);
        uint32_t at = 0;
        walk_.next = 0;
        while (Iterate()) {
            GetTensorC(tensor[at]);
            at += block;
        }
    }
    ASC_API void WaitIterateAll() { session_->Wait(); }
    ASC_API void WaitIterateBatch() { session_->Wait(); }
    ASC_API void WaitGetTensorC() { session_->Wait(); }
    template <bool sync = true, bool waitIterateBatch = false>
    ASC_API void IterateBatch(
        const GlobalTensor<TC>& gm, uint32_t batchA, uint32_t batchB, bool sequential, const uint32_t strideA = 0,
        const uint32_t strideB = 0, const uint32_t strideC = 0, const bool partialSum = false,
        const uint8_t atomic = 0)
    {
        (void)partialSum;
        State().c = reinterpret_cast<uint64_t>(gm.GetPhyAddr());
        message_.work = detail::MatmulWork::BATCH;
        message_.atomic = atomic;
        message_.sequential = sequential;
        message_.batchA = batchA;
        message_.batchB = batchB;
        message_.strideA = strideA;
        message_.strideB = strideB;
        message_.strideC = strideC;
        session_->Ask(message_);
        if constexpr (sync) {
            session_->Wait();
        }
    }
    ASC_API void End()
    {
        if (session_ != nullptr) {
            session_->Wait();
        }
    }

private:
    ASC_API detail::MatmulState& State() { return message_.state; }
    ASC_API void AskForBlock(uint8_t atomic, bool sequential, uint32_t index)
    {
        message_.work = detail::MatmulWork::BLOCK;
        message_.row = walk_.row;
        message_.column = walk_.column;
        message_.index = index;
        message_.atomic = atomic;
        message_.sequential = sequential;
        session_->Ask(message_);
    }
    /// A tensor of the Unified Buffer in global memory: `rows` x `columns` elements, or all that it has.
    template <typename T>
    ASC_API uint64_t StageIn(const LocalTensor<T>& tensor, uint32_t which, int32_t rows, int32_t columns)
    {
        session_->Wait();
        const uint64_t wanted = uint64_t(static_cast<uint32_t>(rows)) * static_cast<uint32_t>(columns);
        const uint64_t has = tensor.GetSize();
        constexpr uint64_t unit = 32 / sizeof(T);
        const uint64_t elements = ((has != 0 ? has : wanted) + unit - 1) / unit * unit;
        if (elements * sizeof(T) > detail::MatmulSlot::StageBytes(which)) {
            ascendsim::Fault("unsupported", "Matmul: an operand in the Unified Buffer is too large to be passed on");
        }
        GlobalTensor<T> to;
        to.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(session_->Slot().Stage(which)));
        PipeBarrier<PIPE_ALL>();
        DataCopy(to, tensor, static_cast<uint32_t>(elements));
        PipeBarrier<PIPE_ALL>();
        return reinterpret_cast<uint64_t>(to.GetPhyAddr());
    }

    detail::MatmulSession* session_ = nullptr;
    detail::MatmulMessage message_;
    detail::BlockWalk walk_;
};

namespace detail {
ASC_API void AttachObjects(MatmulSession*, TPipe*, uint32_t) {}
template <typename T, typename... Rest>
ASC_API void AttachObjects(MatmulSession* session, TPipe* pipe, uint32_t number, T&& object, Rest&&... rest)
{
    if constexpr (IsMatmulObject<T>) {
        object.Attach(session, number);
        AttachObjects(session, pipe, number + 1, rest...);
    } else {
        AttachObjects(session, pipe, number, rest...);
    }
}
}  // namespace detail
}  // namespace AscendC

#endif
