// What hands out memory and says what became of it: tensors, queues, the pipe object, allocators, lists of tensors.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;
using A::TPosition;

namespace {

void Run(const char* what, Callee<void()> body)
{
    const auto result = OnCore(body);
    Expect(result.completed && result.faults == 0, std::string(what) + ": " + result.first_fault);
}

void ExpectFault(const char* what, const std::string& begin, Callee<void()> body)
{
    const auto result = OnCore(body);
    Expect(result.faults >= 1 && result.first_fault.compare(0, begin.size(), begin) == 0,
           std::string(what) + ": expected " + begin + ", got " + result.first_fault);
}

/// More buffers than places in the queue, and what a queue says at each step.
void Queues()
{
    A::TPipe pipe;
    A::TQue<TPosition::VECIN, 2> que;
    pipe.InitBuffer(que, 3, 100);
    const auto says = [&que](const char* when, bool idle, int32_t queued) {
        Expect(que.HasIdleBuffer() == idle, std::string("HasIdleBuffer ") + when);
        Expect(que.GetTensorCountInQue() == queued, std::string("GetTensorCountInQue ") + when);
        Expect(que.HasTensorInQue() == (queued > 0), std::string("HasTensorInQue ") + when);
        Expect(que.VacantInQue() == (queued < 2), std::string("VacantInQue ") + when);
    };
    says("at first", true, 0);
    A::LocalTensor<float> tensors[3];
    for (uint32_t i = 0; i < 3; ++i) {
        tensors[i] = que.AllocTensor<float>();
        const A::TBufHandle handle = tensors[i].GetBufferHandle();
        const A::TBuffAddr address = que.GetBufferAddr(handle);
        // A hundred bytes are four blocks.
        Expect(address.bufferAddr == 128 * i && address.dataLen == 128 && address.bufferHandle == handle, "GetBufferAddr");
        Expect(tensors[i].GetPosition() == static_cast<int32_t>(TPosition::VECIN) && tensors[i].GetSize() == 32, "tensor of a queue");
        Expect(que.GetState(tensors[i]) == A::TBufState::OCCUPIED && tensors[i].GetUserTag() == -1, "state of an allocated tensor");
        says("while allocating", i < 2, 0);
        tensors[i].SetUserTag(static_cast<int32_t>(7 * i));
    }
    Expect(que.EnQue(tensors[1]) && que.GetState(tensors[1]) == A::TBufState::ENQUE, "EnQue");
    says("with one", false, 1);
    Expect(que.EnQue(tensors[0].GetBufferHandle()), "EnQue of a handle");
    says("with two", false, 2);
    // First in, first out; tags stay with their buffers.
    A::LocalTensor<float> first = que.DeQue<float>();
    Expect(first.GetBufferHandle() == tensors[1].GetBufferHandle() && first.GetUserTag() == 7, "DeQue");
    Expect(que.GetState(first) == A::TBufState::DEQUE, "state of a tensor taken out");
    says("after the first was taken", false, 1);
    Expect(que.EnQue(tensors[2]), "EnQue into the place that became free");
    const A::TBufHandle second = que.DeQue();
    Expect(second == tensors[0].GetBufferHandle(), "DeQue of a handle");
    que.FreeBuffer(second);
    Expect(que.GetState(tensors[0]) == A::TBufState::FREE && tensors[0].GetUserTag() == 0, "state of a freed tensor");
    says("after one was freed", true, 1);
    que.FreeTensor(first);
    first = que.DeQue<float>();
    Expect(first.GetUserTag() == 14, "tag of the last tensor");
    que.FreeTensor(first);
    says("at the end", true, 0);
    // Events of freed buffers are given back: the next two are the first again.
    Expect(pipe.FetchEventID(A::HardEvent::V_MTE2) == 3, "ids of freed buffers are taken");
    que.FreeAllEvent();
    Expect(pipe.FetchEventID(A::HardEvent::V_MTE2) == 0, "FreeAllEvent");
    Expect(que.GetState(A::LocalTensor<float>(TPosition::VECIN, 0, 8)) == A::TBufState::FREE, "state of a foreign tensor");
}

void LastQueue()
{
    A::TPipe pipe;
    A::TQue<TPosition::VECOUT, 1> que;
    A::TBuf<TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 33);
    pipe.InitBuffer(que, 1, 1);
    Expect(buf.GetBufLen() == 64 && buf.Get<half>().GetSize() == 32 && buf.Get<int8_t>(5).GetSize() == 5, "TBuf");
    const auto part = buf.GetWithOffset<float>(4, 48);
    Expect(part.address_.bufferAddr == 48 && part.GetSize() == 4 && part.GetLength() == 16, "GetWithOffset");
    auto whole = buf.AllocTensor<float>();
    Expect(whole.GetSize() == 16 && whole.GetPosition() == static_cast<int32_t>(TPosition::VECCALC), "AllocTensor of a TBuf");
    buf.FreeTensor(whole);
    auto tensor = que.AllocTensor<int16_t>();
    Expect(tensor.address_.bufferAddr == 64 && tensor.GetSize() == 16, "queue behind a buffer");
    Expect(tensor.GetPosition() == static_cast<int32_t>(TPosition::VECOUT), "GetPosition of a queue's tensor");
    que.FreeTensor(tensor);
    Expect(pipe.UsedBytes() == 96, "UsedBytes");
    const auto at = pipe.GetAbsAddr<TPosition::VECCALC, half>(160, 32);
    Expect(at.address_.bufferAddr == 160 && at.GetSize() == 32, "GetAbsAddr");
    pipe.Reset();
    Expect(pipe.UsedBytes() == 0 && pipe.FetchEventID(A::HardEvent::MTE3_V) == 0, "Reset");
    pipe.Destroy();
}

void Events()
{
    A::TPipe pipe;
    using A::HardEvent;
    for (int8_t id = 0; id < 8; ++id) {
        Expect(pipe.FetchEventID<HardEvent::V_S>() == id && pipe.AllocEventID<HardEvent::V_S>() == id, "AllocEventID");
    }
    Expect(pipe.AllocEventID<HardEvent::S_V>() == 0, "ids of another pair of pipes");
    pipe.ReleaseEventID<HardEvent::V_S>(5);
    Expect(pipe.FetchEventID(HardEvent::V_S) == 5, "ReleaseEventID");
    A::TQueSync<PIPE_V, PIPE_S> sync;
    sync.SetFlag(2);
    sync.WaitFlag(2);
    A::SetFlag<HardEvent::MTE2_V>(3);
    A::WaitFlag<HardEvent::MTE2_V>(3);
    A::DataSyncBarrier<A::MemDsbT::ALL>();
    A::Barrier();
    A::PipeBarrier<PIPE_V>();
    A::PipeBarrier<PIPE_ALL>();
}

/// A kernel's functions find its pipe object as long as there is one, and no copy of it.
void Pipes()
{
    Expect(A::GetTPipePtr() == nullptr, "no pipe object yet");
    {
        A::TPipe pipe;
        Expect(A::GetTPipePtr() == &pipe, "GetTPipePtr");
        {
            A::TPipe copy = pipe;
            copy.Destroy();
        }
        Expect(A::GetTPipePtr() == &pipe, "GetTPipePtr after a copy is gone");
    }
    Expect(A::GetTPipePtr() == nullptr, "no pipe object any more");
}

void Tensors()
{
    A::LocalTensor<float> whole(TPosition::VECIN, 256, 64);
    A::LocalTensor<half> halves;
    halves.SetAddrWithOffset(whole, 24);
    Expect(halves.address_.bufferAddr == 256 + 24 * 4, "SetAddrWithOffset counts elements of the other tensor");
    Expect(halves.GetPosition() == static_cast<int32_t>(TPosition::VECIN) && halves.GetPhyAddr() == whole.GetPhyAddr(24), "its place");
    halves.CreateTensor(TPosition::VECOUT, 64, 48);
    Expect(halves.address_.bufferAddr == 64 && halves.GetLength() == 96 && halves.GetPosition() == static_cast<int32_t>(TPosition::VECOUT), "CreateTensor");
    halves.SetSize(20);
    Expect(halves.GetSize() == 20 && halves.GetLength() == 40, "SetSize");
    halves.SetBufferLen(20);
    Expect(halves.GetSize() == 10 && halves.GetLength() == 20, "SetBufferLen");
    Expect(whole[16].GetSize() == 48 && whole[16].address_.bufferAddr == 320, "part of a tensor");
    Expect(whole.ReinterpretCast<int8_t>().GetSize() == 256, "ReinterpretCast");
    Expect(A::LocalTensor<A::int4b_t>(TPosition::VECIN, 0, 64).GetLength() == 32, "tensor of four-bit elements");
    halves.SetUserTag(11);
    Expect(halves.GetUserTag() == 11 && whole.GetUserTag() == -1, "tag of a tensor without a buffer");
    whole.SetValue(63, 5);
    whole(62) = 6.0f;
    Expect(whole.GetValue(63) == 5.0f && whole[60].GetValue(2) == 6.0f, "GetValue, SetValue and operator()");
    const uint32_t sizes[] = {2, 3, 5};
    const uint32_t original[] = {4, 7};
    whole.SetShapeInfo(A::ShapeInfo(3, sizes, 2, original, A::DataFormat::NZ));
    const A::ShapeInfo shape = whole.GetShapeInfo();
    Expect(shape.shapeDim == 3 && shape.shape[0] == 2 && shape.shape[2] == 5 && shape.originalShapeDim == 2 && shape.originalShape[1] == 7
               && shape.dataFormat == A::DataFormat::NZ && A::GetShapeSize(shape) == 30,
           "ShapeInfo of two shapes");
    A::GlobalTensor<float> global;
    global.SetShapeInfo(A::ShapeInfo(2, original));
    Expect(global.GetShapeInfo().originalShape[0] == 4 && global.GetShapeInfo().dataFormat == A::DataFormat::ND, "ShapeInfo of one");
    Expect(A::GetShapeSize(global.GetShapeInfo()) == 28, "GetShapeSize");
}

void GlobalTensors(float* words)
{
    A::GlobalTensor<float> whole;
    Expect(whole.GetPhyAddr() == nullptr && whole.GetSize() == 0, "GlobalTensor at first");
    whole.SetGlobalBuffer(words);
    Expect(whole.GetPhyAddr() == words && whole.GetSize() == 0, "SetGlobalBuffer without a size");
    whole.SetGlobalBuffer(words, 64);
    Expect(whole.GetSize() == 64 && whole.GetPhyAddr(3) == words + 3 && whole[5].GetPhyAddr() == words + 5, "SetGlobalBuffer");
    whole.SetValue(7, -1.5f);
    words[8] = 4.0f;
    Expect(words[7] == -1.5f && whole.GetValue(7) == -1.5f && whole(8) == 4.0f && whole[4].GetValue(4) == 4.0f, "values of a GlobalTensor");
    const A::GlobalTensor<half> halves = whole.ReinterpretCast<half>();
    Expect(halves.GetSize() == 128 && static_cast<const void*>(halves.GetPhyAddr(2)) == words + 1, "ReinterpretCast of a GlobalTensor");
    A::GlobalTensor<float> part = whole;
    part.SetAddr(16);
    Expect(part.GetPhyAddr() == words + 16 && whole.GetPhyAddr() == words, "SetAddr");
    using A::CacheRwMode;
    const auto bypasses = [](const A::GlobalTensor<float>& tensor, bool read, bool write) {
        return tensor.BypassesL2(CacheRwMode::READ) == read && tensor.BypassesL2(CacheRwMode::WRITE) == write;
    };
    Expect(bypasses(whole, false, false), "transfers through L2");
    whole.SetL2CacheHint<CacheRwMode::READ>(A::CacheMode::CACHE_MODE_DISABLE);
    Expect(bypasses(whole, true, false) && bypasses(whole[3], true, false) && bypasses(part, false, false), "reads past L2");
    whole.SetL2CacheHint<CacheRwMode::WRITE>(A::CacheMode::CACHE_MODE_DISABLE);
    Expect(bypasses(whole, false, true), "writes past L2");
    whole.SetL2CacheHint(A::CacheMode::CACHE_MODE_DISABLE);
    Expect(bypasses(whole, true, true), "both past L2");
    whole.SetL2CacheHint(A::CacheMode::CACHE_MODE_LAST);
    Expect(bypasses(whole, false, false), "both through L2 again");
}

void Allocators()
{
    A::LocalMemAllocator<> unified;
    Expect(unified.GetCurAddr() == 0, "GetCurAddr");
    const auto a = unified.Alloc<float, 9>();
    const auto b = unified.Alloc<TPosition::VECIN, half, 16>();
    const auto c = unified.Alloc<TPosition::VECOUT, int8_t>(1);
    const auto d = unified.Alloc<int32_t>(8);
    Expect(a.address_.bufferAddr == 0 && a.GetSize() == 9 && a.GetPosition() == static_cast<int32_t>(TPosition::VECCALC), "Alloc of a fixed size");
    Expect(b.address_.bufferAddr == 64 && b.GetSize() == 16 && b.GetPosition() == static_cast<int32_t>(TPosition::VECIN), "Alloc at a position");
    Expect(c.address_.bufferAddr == 96 && c.GetSize() == 1 && c.GetPosition() == static_cast<int32_t>(TPosition::VECOUT), "Alloc of a size");
    Expect(d.address_.bufferAddr == 128 && unified.GetCurAddr() == 160, "Alloc without a position");
    A::LocalMemAllocator<A::Hardware::L0A> other;
    other.Alloc<TPosition::A2, half, 256>();
    Expect(other.GetCurAddr() == 512, "another memory");
    A::LocalMemAllocator<> full;
    full.Alloc<uint8_t>(192 * 1024 - 32);
    Expect(full.Alloc<uint8_t>(32).address_.bufferAddr == 192 * 1024 - 32, "the last block");
}

void Lists()
{
    auto* words = static_cast<uint64_t*>(ascendsim::AllocateRegion(16 * 8, ascendsim::RegionRole::kInput, 0));
    auto* data = static_cast<int32_t*>(ascendsim::AllocateRegion(256, ascendsim::RegionRole::kInput, 1));
    data[0] = 41;
    data[32] = -42;
    const auto pointer = [data](int at) { return reinterpret_cast<uint64_t>(data + at); };
    // Two tensors with three dimensions; high halves are the number of tensors, then indices.
    const uint64_t described[] = {72, (uint64_t{2} << 32) | 3, 1, 2, 3, (uint64_t{1} << 32) | 3, 4, 5, 6, pointer(0), pointer(32)};
    std::memcpy(words, described, sizeof(described));
    Run("list of tensors", [&] {
        A::ListTensorDesc list(words);
        Expect(list.GetSize() == 2 && list.GetDataPtr<int32_t>(0) == data && list.GetDataPtr<int32_t>(1) == data + 32, "ListTensorDesc");
        for (uint32_t index = 0; index < 2; ++index) {
            uint64_t dimensions[8] = {0, 0, 0, 77};
            A::TensorDesc<int32_t> desc;
            Expect(desc.GetDim() == 0 && desc.GetDataPtr() == nullptr, "TensorDesc at first");
            desc.SetShapeAddr(dimensions);
            list.GetDesc(desc, index);
            Expect(desc.GetDim() == 3 && desc.GetIndex() == index && desc.GetDataPtr() == data + 32 * index, "TensorDesc");
            Expect(desc.GetShape(0) == 1 + 3 * index && desc.GetShape(2) == 3 + 3 * index && dimensions[3] == 77, "GetShape");
            Expect(desc.GetDataObj().GetValue(0) == data[32 * index], "GetDataObj");
        }
    });
    ExpectFault("third of two", "bad_argument: ListTensorDesc: tensor 2 of a list of 2", [&] {
        A::ListTensorDesc list;
        list.Init(words);
        A::TensorDesc<int32_t> desc;
        list.GetDesc(desc, 2);
    });
    // Tensors of three, one and no dimensions: each begins behind the one before.
    const uint64_t mixed[] = {72, (uint64_t{4} << 32) | 3, 1, 2, 3, (uint64_t{1} << 32) | 1, 9, uint64_t{2} << 32, uint64_t{3} << 32, pointer(0), pointer(8), pointer(16), pointer(32)};
    std::memcpy(words, mixed, sizeof(mixed));
    Run("list of mixed tensors", [&] {
        Expect(A::ListTensorDesc().GetSize() == 0 && A::TensorDesc<int32_t>().GetIndex() == 0 && A::TensorDesc<int32_t>().GetShape(0) == 0, "lists of nothing");
        A::ListTensorDesc list(words);
        Expect(list.GetSize() == 4, "a list of four");
        const uint64_t ranks[] = {3, 1, 0, 0}, firsts[] = {1, 9, 55, 55};
        for (uint32_t index = 0; index < 4; ++index) {
            uint64_t dimensions[8] = {55, 55, 55, 55};
            A::TensorDesc<int32_t> desc;
            desc.SetShapeAddr(dimensions);
            list.GetDesc(desc, index);
            Expect(desc.GetDim() == ranks[index] && dimensions[0] == firsts[index] && desc.GetShape(static_cast<uint32_t>(ranks[index])) == 0,
                   "tensor " + std::to_string(index) + " of four");
        }
    });
    // Pointers alone.
    const uint64_t bare[] = {24, uint64_t{3} << 32, 0xFFFFFFFFu, pointer(32), pointer(0), pointer(16)};
    std::memcpy(words, bare, sizeof(bare));
    Run("list of pointers", [&] {
        A::ListTensorDesc list(words);
        Expect(list.GetSize() == 3 && list.GetDataPtr<int32_t>(0) == data + 32 && list.GetDataPtr<int32_t>(2) == data + 16, "list of pointers");
        words[1] = 0;
        list.Init(words);
        Expect(list.GetSize() == 1, "list of one pointer");
    });
    ascendsim::ClearRegions();
}

void Misuse()
{
    ExpectFault("ninth event", "event_exhausted", [] {
        A::TPipe pipe;
        for (int i = 0; i < 8; ++i) {
            pipe.AllocEventID<A::HardEvent::V_S>();
        }
        Expect(pipe.FetchEventID(A::HardEvent::V_S) == 7, "the kernel goes on with the last id");
    });
    ExpectFault("allocator", "ub_overflow: LocalMemAllocator: asked for 64 bytes, free are 32", [] {
        A::LocalMemAllocator<> full;
        full.Alloc<uint8_t>(192 * 1024 - 32);
        full.Alloc<uint8_t>(33);
    });
    ExpectFault("no buffers", "bad_argument: InitBuffer: number of buffers is 0", [] {
        A::TPipe pipe;
        A::TQue<TPosition::VECIN, 1> que;
        pipe.InitBuffer(que, 0, 32);
    });
    ExpectFault("third in a queue of two", "queue_misuse: EnQue: more tensors than the queue's depth of 2", [] {
        A::TPipe pipe;
        A::TQue<TPosition::VECIN, 2> que;
        pipe.InitBuffer(que, 3, 32);
        for (int i = 0; i < 3; ++i) {
            que.EnQue(que.AllocTensor<float>());
        }
    });
    ExpectFault("behind a buffer", "out_of_bounds_ub: TBuf: a tensor that ends at byte 68 of a buffer of 64", [] {
        A::TPipe pipe;
        A::TBuf<TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 64);
        buf.GetWithOffset<float>(1, 64);
    });
}

}  // namespace

int main()
{
    Run("queues", Queues);
    Run("queue of results", LastQueue);
    Run("events", Events);
    Run("pipe objects", Pipes);
    Run("tensors", Tensors);
    auto* words = static_cast<float*>(ascendsim::AllocateRegion(256, ascendsim::RegionRole::kOutput, 0));
    Run("tensors of global memory", [words] { GlobalTensors(words); });
    ascendsim::ClearRegions();
    Run("allocators", Allocators);
    Lists();
    Misuse();
    return Report("api_resources");
}
