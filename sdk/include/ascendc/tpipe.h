// The pipe object: hands out on-chip memory and event ids.
#ifndef ASCENDC_TPIPE_H
#define ASCENDC_TPIPE_H

#include "ascendc/sync.h"

namespace AscendC {

constexpr TEventID INVALID_TEVENTID = -1;

enum class TBufState : uint8_t { FREE = 0, OCCUPIED, ENQUE, DEQUE };

/// One buffer of a queue.
struct TBufType {
    TBufState state = TBufState::FREE;
    HardEvent freeBufEvt = HardEvent::MAX;
    TEventID enQueEvtID = INVALID_TEVENTID;
    TEventID freeBufEvtID = INVALID_TEVENTID;
    uint32_t address = 0;
    uint32_t dataLen = 0;
    TTagType usertag = -1;
    uint64_t site = 0; // where a queue last handed it on
};

namespace detail {
ASC_API TTagType& TagOf(TBufHandle handle) { return reinterpret_cast<TBufType*>(handle)->usertag; }
}  // namespace detail

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind;
template <TPosition pos = TPosition::LCM>
class TBuf;
template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool;

ASC_API void InitSocState()
{
    set_atomic_none();
    set_vector_mask(FULL_MASK, FULL_MASK);
    set_mask_norm();
}

namespace detail {

/// A stretch of a memory from which buffers are cut one after another.
struct UbRange {
    uint32_t begin = 0;
    uint32_t next = 0;
    uint32_t end = 0;
};

ASC_API uint32_t RoundToBlock(uint32_t bytes) { return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE; }

/// Cuts `count` buffers of `len` bytes each (a multiple of a block); a lack of room is a fault, and the addresses then
/// lie outside, so that the first access shows where it hurts.
ASC_API uint32_t Cut(UbRange& range, uint32_t count, uint32_t len)
{
    const uint64_t bytes = uint64_t(count) * len;
    if (range.next + bytes > range.end) {
        ascendsim::Fault(
            "ub_overflow",
            Describe("InitBuffer: asked for ", bytes, " bytes, available are ",
                     range.end > range.next ? range.end - range.next : 0, " bytes").Text());
    }
    const uint32_t at = range.next;
    range.next += static_cast<uint32_t>(bytes);
    return at;
}

/// Notes what happens to bytes of a memory.
ASC_API void NoteBuffer(ascendsim::BufferEvent what, Hardware memory, uint32_t address, uint32_t bytes)
{
    ascendsim::NoteBuffer(what, SpaceOf(memory), address, bytes);
}

/// Buffers left in a state that the end of a pipe object does not allow. With `last` nothing asks the pipe for a buffer any
/// more: a tensor that nobody frees then blocks nobody, and its flag is set by nobody and waited for by nobody.
ASC_API void CheckReturned(const TBufType* buffers, uint32_t count, bool last)
{
    uint32_t inQueue = 0;
    uint32_t notFreed = 0;
    uint64_t inQueueSite = 0;
    uint64_t notFreedSite = 0;
    for (uint32_t i = count; i-- > 0;) { // the first of them gives the place
        if (buffers[i].state == TBufState::ENQUE) {
            ++inQueue;
            inQueueSite = buffers[i].site;
        } else if (buffers[i].state != TBufState::FREE) {
            ++notFreed;
            notFreedSite = buffers[i].site;
        }
    }
    if (inQueue != 0) {
        ascendsim::FaultAt(
            inQueueSite, "queue_misuse",
            Describe("end of TPipe: tensors enqueued but never dequeued: ", inQueue).Text());
    }
    if (notFreed != 0) {
        ascendsim::FaultAt(
            notFreedSite, last ? "never_freed" : "queue_misuse",
            Describe("end of TPipe: tensors never freed: ", notFreed).Text());
    }
}

/// Waits for the flags that freed buffers still carry.
ASC_API void WaitFreed(TBufType* buffers, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (buffers[i].freeBufEvtID != INVALID_TEVENTID && buffers[i].state == TBufState::FREE) {
            WaitFlag(buffers[i].freeBufEvt, buffers[i].freeBufEvtID);
            buffers[i].freeBufEvtID = INVALID_TEVENTID;
        }
    }
}

}  // namespace detail

class TPipe {
public:
    /// `maker` is the function that the object is made in, a constructor where it is a member.
    ASC_API TPipe(ascendsim::Maker maker = ascendsim::Maker(__builtin_FUNCTION()))
    {
        ascendsim::NotePipe(maker.function);
        Init();
    }
    ASC_API ~TPipe()
    {
        if (!destroyed_) {
            Destroy();
        }
        if (ascendsim::CorePipeSlot() == this) {
            ascendsim::CorePipeSlot() = nullptr;
        }
    }
    // Kernels copy a pipe object before they cut it, and go on with the copy.
    TPipe(const TPipe&) = default;
    TPipe& operator=(const TPipe&) = default;

    ASC_API void Init()
    {
        InitSocState();
        ResetPool();
        ascendsim::CorePipeSlot() = this;
        destroyed_ = false;
    }

    /// `num` buffers of `len` bytes (rounded up to 32) for a queue.
    template <class T>
    ASC_API bool InitBuffer(T& que, uint8_t num, uint32_t len)
    {
        return InitQueue(que, num, len, RangeOf(T::bufferMemory), buffers_, used_, QBUF_MAX_LEN);
    }
    template <TPosition pos>
    ASC_API bool InitBuffer(TBuf<pos>& buf, uint32_t len)
    {
        len = detail::RoundToBlock(len);
        const uint32_t at = detail::Cut(RangeOf(GetPhyType(pos)), 1, len);
        detail::NoteBuffer(ascendsim::BufferEvent::kCut, GetPhyType(pos), at, len);
        buf.SetRange(at, len);
        return true;
    }
    template <class T>
    ASC_API bool InitBufPool(T& bufPool, uint32_t len)
    {
        len = detail::RoundToBlock(len);
        const uint32_t at = detail::Cut(RangeOf(GetPhyType(T::poolPos)), 1, len);
        bufPool.SetRange(at, at + len);
        return true;
    }
    /// The new pool lies over `shareBuf`.
    template <class T, class U>
    ASC_API bool InitBufPool(T& bufPool, uint32_t len, U& shareBuf)
    {
        return ShareRange(bufPool, len, shareBuf);
    }

    template <HardEvent evt>
    ASC_API TEventID AllocEventID()
    {
        const TEventID id = FetchEventID(evt);
        eventOccupy_[static_cast<uint8_t>(evt)] |= static_cast<uint8_t>(1u << id);
        return id;
    }
    template <HardEvent evt>
    ASC_API void ReleaseEventID(TEventID id)
    {
        eventOccupy_[static_cast<uint8_t>(evt)] &= static_cast<uint8_t>(~(1u << (id & 7)));
    }
    /// First byte of the Unified Buffer that no InitBuffer has taken.
    ASC_API uint32_t UsedBytes() const { return ranges_[static_cast<uint8_t>(Hardware::UB)].next; }
    /// The lowest free id, which stays free.
    template <HardEvent evt>
    ASC_API TEventID FetchEventID()
    {
        return FetchEventID(evt);
    }
    ASC_API TEventID FetchEventID(HardEvent evt)
    {
        ascendsim::ScalarOps(2);
        const uint32_t occupied = eventOccupy_[static_cast<uint8_t>(evt)];
        if (occupied == 0xFFu) {
            const detail::PipePair pipes = detail::PipesOf(evt);
            ascendsim::Fault(
                "event_exhausted",
                detail::Describe("all 8 event ids are taken from pipe ", pipes.src, " to pipe ", pipes.dst).Text());
            return QUE_MAX_EVENT - 1;
        }
        return static_cast<TEventID>(__builtin_ctz(~occupied));
    }

    template <TPosition pos, typename T>
    ASC_API LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const
    {
        return LocalTensor<T>(pos, static_cast<uint32_t>(offset), static_cast<uint32_t>(size));
    }

    /// Forgets all buffers: memory and event ids start anew.
    ASC_API void Reset()
    {
        detail::CheckReturned(buffers_, used_, false);
        detail::WaitFreed(buffers_, used_);
        ResetPool();
    }
    ASC_API void DestroyWithoutPipeAll()
    {
        destroyed_ = true;
        detail::CheckReturned(buffers_, used_, true);
        detail::WaitFreed(buffers_, used_);
    }
    ASC_API void Destroy()
    {
        DestroyWithoutPipeAll();
        pipe_barrier(PIPE_ALL);
    }

private:
    template <TPosition pos, uint32_t bufIDSize>
    friend class TBufPool;

    template <class T>
    ASC_API static bool InitQueue(
        T& que, uint32_t num, uint32_t len, detail::UbRange& range, TBufType* buffers, uint32_t& used,
        uint32_t capacity)
    {
        ascendsim::ScalarOps(4);
        if (num == 0 || used + num > capacity) {
            ascendsim::Fault(
                "bad_argument",
                detail::Describe("InitBuffer: number of buffers is ", num, ", allowed are 1 to ", capacity - used).Text());
            return false;
        }
        len = detail::RoundToBlock(len);
        const uint32_t at = detail::Cut(range, num, len);
        TBufType* first = buffers + used;
        for (uint32_t i = 0; i < num; ++i) {
            TBufType& buffer = first[i];
            buffer = TBufType();
            buffer.freeBufEvt = T::freeBufEvt;
            buffer.address = at + i * len;
            buffer.dataLen = len;
            detail::NoteBuffer(ascendsim::BufferEvent::kCut, T::bufferMemory, buffer.address, len);
            que.PrepareBuffer(buffer);
        }
        que.SetBuffers(first, static_cast<uint8_t>(num));
        used += num;
        return true;
    }

    template <class T, class U>
    ASC_API static bool ShareRange(T& bufPool, uint32_t len, U& shareBuf)
    {
        const detail::UbRange shared = shareBuf.Range();
        len = detail::RoundToBlock(len);
        if (len > shared.end - shared.begin) {
            ascendsim::Fault(
                "ub_overflow",
                detail::Describe("InitBufPool: asked for ", len, " bytes, the shared pool has ",
                                 shared.end - shared.begin).Text());
        }
        bufPool.SetRange(shared.begin, shared.begin + len);
        return true;
    }

    ASC_API void ResetPool()
    {
        for (uint8_t memory = static_cast<uint8_t>(Hardware::UB); memory < MEMORIES; ++memory) {
            ranges_[memory] = detail::UbRange();
            ranges_[memory].end = detail::MemorySize(static_cast<Hardware>(memory));
        }
        used_ = 0;
        ascendsim::NoteBuffer(ascendsim::BufferEvent::kForgotten, 0, 0, 0);
        for (uint8_t& occupied : eventOccupy_) {
            occupied = 0;
        }
    }

    static constexpr uint8_t MEMORIES = static_cast<uint8_t>(Hardware::MAX);
    ASC_API detail::UbRange& RangeOf(Hardware memory) { return ranges_[static_cast<uint8_t>(memory)]; }

    detail::UbRange ranges_[MEMORIES]; // by Hardware
    TBufType buffers_[QBUF_MAX_LEN];
    uint32_t used_ = 0;
    uint8_t eventOccupy_[EVENT_NUM] = {};
    bool destroyed_ = false;
};

}  // namespace AscendC

/// The pipe object of the running block; null before one is constructed.
ASC_API AscendC::TPipe* GetTPipePtr() { return static_cast<AscendC::TPipe*>(ascendsim::CorePipeSlot()); }

namespace AscendC {
using ::GetTPipePtr;

namespace detail {

/// An event id for a flag that is waited for at once; 0 where the kernel works without a pipe object.
ASC_API TEventID MomentaryEvent(HardEvent event)
{
    TPipe* pipe = GetTPipePtr();
    return pipe == nullptr ? TEventID(0) : pipe->FetchEventID(event);
}
/// Orders what `event`'s second pipe does next after what its first pipe has done.
ASC_API void Order(HardEvent event)
{
    const TEventID id = MomentaryEvent(event);
    SetFlag(event, id);
    WaitFlag(event, id);
}

}  // namespace detail
}  // namespace AscendC

#endif
