// Queues: buffers that travel between a producing and a consuming pipe, with the flags that order them.
#ifndef ASCENDC_TQUE_H
#define ASCENDC_TQUE_H

#include "ascendc/tpipe.h"

namespace AscendC {

struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

namespace detail {

constexpr TPosition QueueSource(TPosition pos)
{
    switch (pos) {
        case TPosition::VECIN:
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::TSCM: return TPosition::GM;
        case TPosition::A2: return TPosition::A1;
        case TPosition::B2: return TPosition::B1;
        case TPosition::C2:
        case TPosition::C2PIPE2GM: return TPosition::C1;
        case TPosition::SPM: return TPosition::VECOUT;
        default: return pos;
    }
}
constexpr TPosition QueueDestination(TPosition pos)
{
    return pos == TPosition::VECOUT || pos == TPosition::SPM || pos == TPosition::CO1 ? TPosition::GM : pos;
}

/// The flag that says "filled" (forward) or "emptied" of a buffer between two memories.
constexpr HardEvent QueueEvent(Hardware src, Hardware dst, bool forward)
{
    if (src == Hardware::GM && dst == Hardware::UB) {
        return forward ? HardEvent::MTE2_V : HardEvent::V_MTE2;
    }
    if (src == Hardware::UB && dst == Hardware::GM) {
        return forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V;
    }
    if (src == Hardware::UB && dst == Hardware::UB) {
        return forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2;
    }
    if (src == Hardware::GM && dst == Hardware::L1) {
        return forward ? HardEvent::MTE2_MTE1 : HardEvent::MTE1_MTE2;
    }
    if (src == Hardware::UB && dst == Hardware::L1) {
        return forward ? HardEvent::MTE3_MTE1 : HardEvent::MTE1_MTE3;
    }
    if (src == Hardware::L1 && (dst == Hardware::L0A || dst == Hardware::L0B || dst == Hardware::BIAS)) {
        return forward ? HardEvent::MTE1_M : HardEvent::M_MTE1;
    }
    if (src == Hardware::L1 && dst == Hardware::FIXBUF) {
        return forward ? HardEvent::MTE1_FIX : HardEvent::FIX_MTE1;
    }
    if (src == Hardware::L0C && dst == Hardware::GM) {
        return forward ? HardEvent::M_FIX : HardEvent::FIX_M;
    }
    return HardEvent::MAX;
}

constexpr bool LoopQueue(const TQueConfig* config) { return config->enableLoopQueue; }
constexpr bool LoopQueue(int) { return false; }

}  // namespace detail

template <TPosition src, TPosition dst, int32_t depth, auto mask>
class TQueBind {
public:
    ASC_API TQueBind() {}

    /// Takes a free buffer and waits until its last consumer has let go of it.
    template <typename T>
    ASC_API LocalTensor<T> AllocTensor()
    {
        static_assert(depth != 0, "AllocTensor: a queue of depth 0 hands tensors out by reference");
        return ToTensor<T>(AllocBuffer());
    }
    template <typename T>
    ASC_API void AllocTensor(LocalTensor<T>& tensor)
    {
        static_assert(depth == 0, "AllocTensor: only a queue of depth 0 hands tensors out by reference");
        tensor.SetAddr(AddressOf(AllocBuffer()));
    }

    /// Gives the buffer back: the producing pipe may overwrite it once the consuming pipe gets here.
    template <typename T>
    ASC_API void FreeTensor(LocalTensor<T>& tensor)
    {
        FreeBuffer(tensor.GetBufferHandle());
    }
    ASC_API void FreeBuffer(TBufHandle handle)
    {
        ascendsim::ScalarOps(QUEUE_OPS);
        TBufType* buffer = Find(handle);
        if (buffer == nullptr) {
            ascendsim::Fault("queue_misuse", "FreeTensor: the tensor is not one of this queue's");
            return;
        }
        if (buffer->state == TBufState::FREE) {
            ascendsim::Fault("queue_misuse", "FreeTensor: the tensor is free already");
            return;
        }
        if (buffer->state == TBufState::ENQUE && depth != 0) {
            ascendsim::Fault("queue_misuse", "FreeTensor: the tensor is still in the queue");
            return;
        }
        if constexpr (depth != 0) {
            buffer->freeBufEvtID = GetTPipePtr()->template AllocEventID<freeBufEvt>();
            buffer->freeBufEvt = freeBufEvt;
            --bufUsedCount_;
        }
        SetFlag<freeBufEvt>(buffer->freeBufEvtID);
        buffer->state = TBufState::FREE;
        detail::NoteBuffer(ascendsim::BufferEvent::kFreed, bufferMemory, buffer->address, buffer->dataLen);
    }

    /// Passes the tensor on: the consuming pipe may use it once the producing pipe gets here.
    template <typename T>
    ASC_API bool EnQue(const LocalTensor<T>& tensor)
    {
        return Put<enQueEvt>(tensor.GetBufferHandle());
    }
    ASC_API bool EnQue(TBufHandle handle) { return Put<enQueEvt>(handle); }
    /// The same between positions that the caller names, for buffers that change their role.
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    ASC_API bool EnQue(const LocalTensor<T>& tensor)
    {
        return Put<UserEvent<srcUserPos, dstUserPos>()>(tensor.GetBufferHandle());
    }

    template <typename T>
    ASC_API LocalTensor<T> DeQue()
    {
        static_assert(depth != 0, "DeQue: a queue of depth 0 hands tensors out by reference");
        return ToTensor<T>(Take<enQueEvt>());
    }
    ASC_API TBufHandle DeQue() { return reinterpret_cast<TBufHandle>(Take<enQueEvt>()); }
    template <TPosition srcUserPos, TPosition dstUserPos, typename T>
    ASC_API LocalTensor<T> DeQue()
    {
        return ToTensor<T>(Take<UserEvent<srcUserPos, dstUserPos>()>());
    }
    template <typename T>
    ASC_API void DeQue(LocalTensor<T>& tensor)
    {
        static_assert(depth == 0, "DeQue: only a queue of depth 0 hands tensors out by reference");
        ascendsim::ScalarOps(QUEUE_OPS);
        TBufType* buffer = Find(tensor.GetBufferHandle());
        if (buffer == nullptr || buffer->state != TBufState::ENQUE) {
            ascendsim::Fault("queue_misuse", "DeQue: the tensor is not in the queue");
            return;
        }
        WaitFlag<enQueEvt>(buffer->enQueEvtID);
        buffer->state = TBufState::DEQUE;
        buffer->site = ascendsim::Site();
    }

    ASC_API bool VacantInQue() { return usedCount_ < depth; }
    ASC_API bool HasTensorInQue() { return usedCount_ != 0; }
    ASC_API int32_t GetTensorCountInQue() { return usedCount_; }
    ASC_API bool HasIdleBuffer() { return bufUsedCount_ < bufNum_; }
    template <typename T>
    ASC_API TBufState GetState(const LocalTensor<T>& tensor) const
    {
        const TBufType* buffer = Find(tensor.GetBufferHandle());
        return buffer == nullptr ? TBufState::FREE : buffer->state;
    }
    /// Waits for the flags that free buffers still carry and returns their ids.
    ASC_API void FreeAllEvent()
    {
        static_assert(depth != 0, "FreeAllEvent: a queue of depth 0 keeps its events");
        for (uint32_t i = 0; i < bufNum_; ++i) {
            WaitFree(bufStart_[i]);
        }
    }
    ASC_API TBuffAddr GetBufferAddr(TBufHandle handle) { return AddressOf(Find(handle)); }

    static constexpr Hardware srcHardType = GetPhyType(src);
    static constexpr Hardware dstHardType = GetPhyType(dst);
    static constexpr HardEvent enQueEvt = detail::QueueEvent(srcHardType, dstHardType, true);
    static constexpr HardEvent freeBufEvt = detail::QueueEvent(srcHardType, dstHardType, false);
    static_assert(enQueEvt != HardEvent::MAX, "TQueBind: nothing moves between these positions on architecture 2201");
    /// Memory of the buffers.
    static constexpr Hardware bufferMemory = dstHardType == Hardware::GM ? srcHardType : dstHardType;
    static constexpr int32_t queDepth = depth;

private:
    friend class TPipe;

    // Scalar operations of one queue call, as compiled for the core.
    static constexpr uint32_t QUEUE_OPS = 6;
    static constexpr bool loopQueue = detail::LoopQueue(mask);

    template <TPosition srcUserPos, TPosition dstUserPos>
    static constexpr HardEvent UserEvent()
    {
        constexpr Hardware from = GetPhyType(srcUserPos);
        constexpr Hardware to = GetPhyType(dstUserPos);
        constexpr HardEvent event = detail::QueueEvent(from, to, true);
        static_assert(event != HardEvent::MAX, "EnQue/DeQue: nothing moves between these positions");
        return event;
    }

    ASC_API void SetBuffers(TBufType* first, uint8_t num)
    {
        bufStart_ = first;
        bufNum_ = num;
        usedCount_ = 0;
        bufUsedCount_ = 0;
        bufCursor_ = 0;
        head_ = 0;
        tail_ = 0;
    }
    /// A queue of depth 0 owns its event ids and starts with every buffer flagged empty.
    ASC_API void PrepareBuffer(TBufType& buffer)
    {
        if constexpr (depth == 0) {
            buffer.enQueEvtID = GetTPipePtr()->template AllocEventID<enQueEvt>();
            buffer.freeBufEvtID = GetTPipePtr()->template AllocEventID<freeBufEvt>();
            SetFlag<freeBufEvt>(buffer.freeBufEvtID);
        }
    }

    ASC_API TBufType* Find(TBufHandle handle) const
    {
        TBufType* buffer = reinterpret_cast<TBufType*>(handle);
        return buffer != nullptr && buffer >= bufStart_ && buffer < bufStart_ + bufNum_ ? buffer : nullptr;
    }
    ASC_API TBuffAddr AddressOf(TBufType* buffer) const
    {
        TBuffAddr address;
        address.logicPos = static_cast<uint8_t>(dst == TPosition::GM ? src : dst);
        if (buffer != nullptr) {
            address.bufferHandle = reinterpret_cast<TBufHandle>(buffer);
            address.bufferAddr = buffer->address;
            address.dataLen = buffer->dataLen;
        }
        return address;
    }
    template <typename T>
    ASC_API LocalTensor<T> ToTensor(TBufType* buffer) const
    {
        LocalTensor<T> tensor;
        tensor.SetAddr(AddressOf(buffer));
        return tensor;
    }

    ASC_API void WaitFree(TBufType& buffer)
    {
        if (buffer.freeBufEvtID == INVALID_TEVENTID) {
            return;
        }
        if constexpr (loopQueue) {
            // The other queue of the loop freed it: its flag has another pipe pair.
            if (buffer.freeBufEvt == HardEvent::MTE3_V && freeBufEvt == HardEvent::V_MTE2) {
                WaitFlag<HardEvent::MTE3_V>(buffer.freeBufEvtID);
                GetTPipePtr()->template ReleaseEventID<HardEvent::MTE3_V>(buffer.freeBufEvtID);
                buffer.freeBufEvtID = INVALID_TEVENTID;
                detail::Order(HardEvent::MTE3_MTE2);
                return;
            }
            if (buffer.freeBufEvt == HardEvent::V_MTE2 && freeBufEvt == HardEvent::MTE3_V) {
                WaitFlag<HardEvent::V_MTE2>(buffer.freeBufEvtID);
                GetTPipePtr()->template ReleaseEventID<HardEvent::V_MTE2>(buffer.freeBufEvtID);
                buffer.freeBufEvtID = INVALID_TEVENTID;
                return;
            }
        }
        WaitFlag<freeBufEvt>(buffer.freeBufEvtID);
        if constexpr (depth != 0) {
            GetTPipePtr()->template ReleaseEventID<freeBufEvt>(buffer.freeBufEvtID);
            buffer.freeBufEvtID = INVALID_TEVENTID;
        }
    }

    ASC_API TBufType* AllocBuffer()
    {
        ascendsim::ScalarOps(QUEUE_OPS);
        for (uint32_t tried = 0; tried < bufNum_; ++tried) {
            TBufType* buffer = bufStart_ + bufCursor_;
            bufCursor_ = static_cast<uint8_t>(bufCursor_ + 1 == bufNum_ ? 0 : bufCursor_ + 1);
            if (buffer->state == TBufState::FREE) {
                buffer->state = TBufState::OCCUPIED;
                buffer->site = ascendsim::Site();
                detail::NoteBuffer(ascendsim::BufferEvent::kTaken, bufferMemory, buffer->address, buffer->dataLen);
                WaitFree(*buffer);
                ++bufUsedCount_;
                return buffer;
            }
        }
        if (bufNum_ == 0) {
            ascendsim::Fault("queue_misuse", "AllocTensor: the queue has no buffers (InitBuffer was not called)");
            return nullptr;
        }
        ascendsim::Fault(
            "queue_misuse",
            detail::Describe("AllocTensor: all buffers of the queue are in use: ", bufNum_, "").Text());
        return nullptr;
    }

    template <HardEvent event>
    ASC_API bool Put(TBufHandle handle)
    {
        ascendsim::ScalarOps(QUEUE_OPS);
        TBufType* buffer = Find(handle);
        if (buffer == nullptr) {
            ascendsim::Fault("queue_misuse", "EnQue: the tensor is not one of this queue's");
            return false;
        }
        if (buffer->state != TBufState::OCCUPIED && buffer->state != TBufState::DEQUE) {
            ascendsim::Fault(
                "queue_misuse", buffer->state == TBufState::FREE ? "EnQue: the tensor is not allocated"
                                                                 : "EnQue: the tensor is in the queue already");
            return false;
        }
        if constexpr (depth != 0) {
            if (usedCount_ >= depth) {
                ascendsim::Fault(
                    "queue_misuse", detail::Describe("EnQue: more tensors than the queue's depth of ", depth).Text());
                return false;
            }
            if constexpr (event == HardEvent::V_V) {
                buffer->enQueEvtID = 0;
            } else {
                buffer->enQueEvtID = GetTPipePtr()->template AllocEventID<event>();
            }
            que_[tail_] = buffer;
            tail_ = static_cast<uint16_t>(tail_ + 1 >= depth ? 0 : tail_ + 1);
            ++usedCount_;
        }
        SetFlag<event>(buffer->enQueEvtID);
        buffer->state = TBufState::ENQUE;
        buffer->site = ascendsim::Site();
        return true;
    }

    template <HardEvent event>
    ASC_API TBufType* Take()
    {
        ascendsim::ScalarOps(QUEUE_OPS);
        if (usedCount_ == 0) {
            ascendsim::Fault("queue_misuse", "DeQue: the queue is empty");
            return nullptr;
        }
        TBufType* buffer = que_[head_];
        head_ = static_cast<uint16_t>(head_ + 1 >= depth ? 0 : head_ + 1);
        --usedCount_;
        buffer->state = TBufState::DEQUE;
        buffer->site = ascendsim::Site();
        WaitFlag<event>(buffer->enQueEvtID);
        if constexpr (event != HardEvent::V_V) {
            GetTPipePtr()->template ReleaseEventID<event>(buffer->enQueEvtID);
        }
        buffer->enQueEvtID = INVALID_TEVENTID;
        return buffer;
    }

    TBufType* bufStart_ = nullptr;
    TBufType* que_[depth > 0 ? depth : 1] = {};
    int32_t usedCount_ = 0;
    uint16_t head_ = 0;
    uint16_t tail_ = 0;
    uint8_t bufNum_ = 0;
    uint8_t bufUsedCount_ = 0;
    uint8_t bufCursor_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<detail::QueueSource(pos), detail::QueueDestination(pos), depth, mask> {
public:
    ASC_API TQue() {}
};

/// Memory without a queue's synchronisation.
template <TPosition pos>
class TBuf {
public:
    ASC_API TBuf() {}

    template <typename T>
    ASC_API LocalTensor<T> Get()
    {
        return Tensor<T>(0, bufLen_);
    }
    template <typename T>
    ASC_API LocalTensor<T> Get(uint32_t len)
    {
        return Tensor<T>(0, detail::BytesOf<T>(len));
    }
    /// `size` elements from byte offset `bufOffset`.
    template <typename T>
    ASC_API LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset)
    {
        return Tensor<T>(bufOffset, detail::BytesOf<T>(size));
    }
    template <typename T>
    ASC_API LocalTensor<T> AllocTensor()
    {
        return Get<T>();
    }
    template <typename T>
    ASC_API void FreeTensor(LocalTensor<T>& tensor)
    {
        (void)tensor;
    }
    ASC_API uint32_t GetBufLen() const { return bufLen_; }

private:
    friend class TPipe;
    template <TPosition poolPos, uint32_t bufIDSize>
    friend class TBufPool;

    ASC_API void SetRange(uint32_t address, uint32_t len)
    {
        address_ = address;
        bufLen_ = len;
    }
    template <typename T>
    ASC_API LocalTensor<T> Tensor(uint32_t offset, uint32_t bytes)
    {
        if (uint64_t(offset) + bytes > bufLen_) {
            ascendsim::Fault(
                "out_of_bounds_ub",
                detail::Describe("TBuf: a tensor that ends at byte ", uint64_t(offset) + bytes, " of a buffer of ",
                                 bufLen_, " bytes").Text());
        }
        LocalTensor<T> tensor;
        tensor.address_.logicPos = static_cast<uint8_t>(pos);
        tensor.address_.bufferAddr = address_ + offset;
        tensor.address_.dataLen = bytes;
        return tensor;
    }

    uint32_t address_ = 0;
    uint32_t bufLen_ = 0;
};

/// A part of the Unified Buffer that is cut into queues and buffers of its own, and can be cut again.
template <TPosition pos, uint32_t bufIDSize>
class TBufPool {

public:
    static constexpr TPosition poolPos = pos;

    ASC_API TBufPool() {}
    ASC_API ~TBufPool() { Reset(); }
    TBufPool(const TBufPool&) = delete;
    TBufPool& operator=(const TBufPool&) = delete;

    template <class T>
    ASC_API bool InitBuffer(T& que, uint8_t num, uint32_t len)
    {
        return TPipe::InitQueue(que, num, len, range_, buffers_, used_, bufIDSize);
    }
    template <TPosition bufPos>
    ASC_API bool InitBuffer(TBuf<bufPos>& buf, uint32_t len)
    {
        len = detail::RoundToBlock(len);
        const uint32_t at = detail::Cut(range_, 1, len);
        detail::NoteBuffer(ascendsim::BufferEvent::kCut, GetPhyType(bufPos), at, len);
        buf.SetRange(at, len);
        return true;
    }
    template <class T>
    ASC_API bool InitBufPool(T& bufPool, uint32_t len)
    {
        len = detail::RoundToBlock(len);
        const uint32_t at = detail::Cut(range_, 1, len);
        bufPool.SetRange(at, at + len);
        return true;
    }
    template <class T, class U>
    ASC_API bool InitBufPool(T& bufPool, uint32_t len, U& shareBuf)
    {
        return TPipe::ShareRange(bufPool, len, shareBuf);
    }
    /// Waits for the buffers' flags and forgets them; the memory can be cut again. As in the toolkit, the event ids of
    /// those flags stay taken.
    ASC_API void Reset()
    {
        detail::CheckReturned(buffers_, used_, false);
        for (uint32_t i = 0; i < used_; ++i) {
            TBufType& buffer = buffers_[i];
            if (buffer.freeBufEvtID != INVALID_TEVENTID) {
                detail::WaitFlag(buffer.freeBufEvt, buffer.freeBufEvtID);
                buffer.freeBufEvtID = INVALID_TEVENTID;
            }
        }
        used_ = 0;
        range_.next = range_.begin;
    }

    ASC_API void SetRange(uint32_t begin, uint32_t end)
    {
        range_.begin = begin;
        range_.next = begin;
        range_.end = end;
    }
    ASC_API detail::UbRange Range() const { return range_; }

private:
    detail::UbRange range_;
    TBufType buffers_[bufIDSize];
    uint32_t used_ = 0;
};

/// The rest of the Unified Buffer behind all queues, for functions that need room of their own. It ends before the
/// message that a vector core of a mixed kernel hands over.
template <typename T, TPosition pos>
ASC_API bool PopStackBuffer(LocalTensor<T>& popBuffer)
{
    TPipe* pipe = GetTPipePtr();
    const uint32_t begin = pipe == nullptr ? 0 : pipe->UsedBytes();
    constexpr uint32_t messageBytes = 64;
    const uint32_t end = detail::MemorySize(Hardware::UB) - messageBytes;
    popBuffer = LocalTensor<T>(pos, begin, begin < end ? detail::ElementsIn<T>(end - begin) : 0);
    return begin < end;
}

}  // namespace AscendC

#endif
