// Which pipes flags go between: of events, of queues by their positions, of cores; and what a pipe object and its pools wait for.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;
using A::HardEvent;
using A::TPosition;

namespace {

/// What a kernel of `blocks` blocks has recorded of flags and barriers, in words: "set MTE2>V 3", "barrier V", "cross MTE3 14 0".
std::string Flags(Callee<void()> body, uint32_t blocks = 1)
{
    const char* path = "api_flags.trace";
    Expect(ascendsim::OpenTrace(path), "trace file");
    const auto result = OnCore(body, blocks);
    ascendsim::CloseTrace();
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    const Trace trace = ReadTrace(path);
    std::remove(path);
    const auto pipe = [](uint32_t number) -> std::string {
        const char* const names[] = {"S", "V", "MTE2", "MTE3", "MTE1", "M", "FIX"};
        return number < 7 ? names[number] : "all";
    };
    std::string seen;
    for (const Record& record : trace.records) {
        const ascendsim::RecordHead& head = record.head;
        if (record.core != trace.records.front().core) {
            continue;
        }
        if (record.name == "set_flag" || record.name == "wait_flag") {
            seen += (record.name == "set_flag" ? "set " : "wait ") + pipe(head.aux1) + ">" + pipe(head.aux2) + " " + std::to_string(head.aux0) + "; ";
        } else if (record.name == "pipe_barrier") {
            seen += "barrier " + pipe(head.pipe) + "; ";
        } else if (record.name == "set_cross_flag") {
            seen += "cross " + pipe(head.pipe) + " " + std::to_string(head.aux0) + " " + std::to_string(head.aux1) + "; ";
        } else if (record.name == "dcci" || record.name == "dsb") {
            seen += record.name + (record.name == "dcci" ? (head.aux0 != 0 ? " all of " : " ") + std::to_string(head.aux1) : "") + "; ";
        }
    }
    return seen;
}

void Same(const char* what, const std::string& got, const std::string& want)
{
    Expect(got == want, std::string(what) + ": " + got + ", expected " + want);
}

template <HardEvent event>
void Event(const std::string& pipes)
{
    const std::string want = pipes.empty() ? "" : "set " + pipes + " 6; wait " + pipes + " 6; ";
    Same("event", Flags([] {
             A::SetFlag<event>(6);
             A::WaitFlag<event>(6);
         }),
         want);
}

void Events()
{
    Event<HardEvent::MTE2_V>("MTE2>V");
    Event<HardEvent::V_MTE2>("V>MTE2");
    Event<HardEvent::MTE3_V>("MTE3>V");
    Event<HardEvent::V_MTE3>("V>MTE3");
    Event<HardEvent::MTE2_MTE3>("MTE2>MTE3");
    Event<HardEvent::MTE3_MTE2>("MTE3>MTE2");
    Event<HardEvent::S_V>("S>V");
    Event<HardEvent::V_S>("V>S");
    Event<HardEvent::S_MTE2>("S>MTE2");
    Event<HardEvent::MTE2_S>("MTE2>S");
    Event<HardEvent::S_MTE3>("S>MTE3");
    Event<HardEvent::MTE3_S>("MTE3>S");
    // A vector core has no pipes of the cube core.
    Event<HardEvent::MTE2_MTE1>("");
    Event<HardEvent::M_FIX>("");
    Event<HardEvent::MTE3_MTE1>("");
    Event<HardEvent::FIX_S>("");
    Event<HardEvent::FIX_FIX>("");
    Event<HardEvent::M_V>("");
    Same("a pipe after itself", Flags([] {
             A::SetFlag<HardEvent::V_V>(0);
             A::WaitFlag<HardEvent::V_V>(0);
         }),
         "barrier V; ");
    Same("barriers", Flags([] {
             A::PipeBarrier<PIPE_MTE2>();
             A::PipeBarrier<PIPE_MTE3>();
             A::PipeBarrier<PIPE_M>();
             A::PipeBarrier<PIPE_ALL>();
             A::DataSyncBarrier<A::MemDsbT::DDR>();
             A::Barrier();
         }),
         "barrier MTE2; barrier MTE3; barrier all; dsb; ");
    Same("a function of a kernel without a pipe object", Flags([] {
             A::CreateVecIndex(A::LocalTensor<float>(TPosition::VECCALC, 0, 8), 0.0f, 3);
         }),
         "set S>V 0; wait S>V 0; ");
    A::TQueSync<PIPE_MTE3, PIPE_S> sync;
    Same("TQueSync", Flags([&] {
             sync.SetFlag(7);
             sync.WaitFlag(7);
         }),
         "set MTE3>S 7; wait MTE3>S 7; ");
}

/// The events of a queue are those between the memories of its positions.
template <TPosition pos, HardEvent filled, HardEvent emptied>
constexpr bool Between()
{
    return A::TQue<pos, 1>::enQueEvt == filled && A::TQue<pos, 1>::freeBufEvt == emptied;
}
static_assert(Between<TPosition::VECIN, HardEvent::MTE2_V, HardEvent::V_MTE2>(), "VECIN");
static_assert(Between<TPosition::VECOUT, HardEvent::V_MTE3, HardEvent::MTE3_V>(), "VECOUT");
static_assert(Between<TPosition::A1, HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2>(), "A1");
static_assert(Between<TPosition::B1, HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2>(), "B1");
static_assert(Between<TPosition::C1, HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2>(), "C1");
static_assert(Between<TPosition::A2, HardEvent::MTE1_M, HardEvent::M_MTE1>(), "A2");
static_assert(Between<TPosition::B2, HardEvent::MTE1_M, HardEvent::M_MTE1>(), "B2");
static_assert(Between<TPosition::C2, HardEvent::MTE1_M, HardEvent::M_MTE1>(), "C2");
static_assert(Between<TPosition::C2PIPE2GM, HardEvent::MTE1_FIX, HardEvent::FIX_MTE1>(), "C2PIPE2GM");
static_assert(Between<TPosition::CO1, HardEvent::M_FIX, HardEvent::FIX_M>(), "CO1");
static_assert(A::TQueBind<TPosition::VECOUT, TPosition::A1, 1>::enQueEvt == HardEvent::MTE3_MTE1, "to a cube core's memory");
static_assert(A::TQueBind<TPosition::VECIN, TPosition::VECOUT, 1>::freeBufEvt == HardEvent::MTE3_MTE2, "copies through a core");

/// Traces number memories as queues' buffers do.
constexpr bool Numbered(A::Hardware memory, uint32_t space) { return A::detail::SpaceOf(memory) == space; }
static_assert(Numbered(A::Hardware::UB, ascendsim::kSpaceUb) && Numbered(A::Hardware::L1, ascendsim::kSpaceL1), "UB and L1");
static_assert(Numbered(A::Hardware::L0A, ascendsim::kSpaceL0a) && Numbered(A::Hardware::L0B, ascendsim::kSpaceL0b), "L0A and L0B");
static_assert(Numbered(A::Hardware::L0C, ascendsim::kSpaceL0c) && Numbered(A::Hardware::BIAS, ascendsim::kSpaceBt), "L0C and the bias table");
static_assert(Numbered(A::Hardware::FIXBUF, ascendsim::kSpaceFb), "the fixpipe buffer");

constexpr A::TQueConfig MakeLoop()
{
    A::TQueConfig config;
    config.enableLoopQueue = true;
    return config;
}
constexpr A::TQueConfig kLoop = MakeLoop();
static_assert(A::detail::LoopQueue(&kLoop) && !A::detail::LoopQueue(1), "a number of formats makes no loop");

/// A buffer that is freed and taken again waits for the flag that was set.
template <TPosition pos>
std::string TakenAgain()
{
    return Flags([] {
        A::TPipe pipe;
        A::TQue<pos, 1, &kLoop> que;
        pipe.InitBuffer(que, 1, 64);
        for (int i = 0; i < 2; ++i) {
            auto tensor = que.template AllocTensor<float>();
            que.FreeTensor(tensor);
        }
    });
}

void Queues()
{
    Same("a queue of inputs in a loop", TakenAgain<TPosition::VECIN>(), "set V>MTE2 0; wait V>MTE2 0; set V>MTE2 0; wait V>MTE2 0; barrier all; ");
    Same("a queue of results in a loop", TakenAgain<TPosition::VECOUT>(), "set MTE3>V 0; wait MTE3>V 0; set MTE3>V 0; wait MTE3>V 0; barrier all; ");
    const std::string seen = Flags([] {
        A::TPipe pipe;
        A::TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> que;
        pipe.InitBuffer(que, 1, 64);
        auto tensor = que.AllocTensor<float>();
        que.EnQue<TPosition::GM, TPosition::VECIN, float>(tensor);
        tensor = que.DeQue<TPosition::GM, TPosition::VECIN, float>();
        que.EnQue<TPosition::VECOUT, TPosition::GM, float>(tensor);
        tensor = que.DeQue<TPosition::VECOUT, TPosition::GM, float>();
        que.EnQue(tensor);
        tensor = que.DeQue<float>();
        que.FreeTensor(tensor);
        // The same buffer again: first what was copied out of it must have left.
        tensor = que.AllocTensor<float>();
        que.FreeTensor(tensor);
        pipe.Destroy();
    });
    Same("a queue whose buffers change their role", seen,
         "set MTE2>V 0; wait MTE2>V 0; set V>MTE3 0; wait V>MTE3 0; set MTE2>MTE3 0; wait MTE2>MTE3 0; "
         "set MTE3>MTE2 0; wait MTE3>MTE2 0; set MTE3>MTE2 0; wait MTE3>MTE2 0; barrier all; ");
    Same("a pipe object without a barrier at its end", Flags([] {
             A::TPipe pipe;
             A::TQue<TPosition::VECOUT, 1> que;
             pipe.InitBuffer(que, 1, 64);
             auto tensor = que.AllocTensor<float>();
             que.FreeTensor(tensor);
             pipe.DestroyWithoutPipeAll();
         }),
         "set MTE3>V 0; wait MTE3>V 0; ");
    Same("events of freed buffers", Flags([] {
             A::TPipe pipe;
             A::TQue<TPosition::VECIN, 1> que;
             pipe.InitBuffer(que, 2, 64);
             for (int i = 0; i < 2; ++i) {
                 auto tensor = que.AllocTensor<float>();
                 que.FreeTensor(tensor);
             }
             que.FreeAllEvent();
         }),
         "set V>MTE2 0; set V>MTE2 1; wait V>MTE2 0; wait V>MTE2 1; barrier all; ");
}

void Pools()
{
    const std::string seen = Flags([] {
        A::TPipe pipe;
        A::TBuf<TPosition::VECCALC> before;
        pipe.InitBuffer(before, 100);
        A::TBufPool<TPosition::VECCALC, 3> pool;
        pipe.InitBufPool(pool, 1000);
        A::TQue<TPosition::VECIN, 1> que;
        A::TBuf<TPosition::VECCALC> buf;
        A::TBufPool<TPosition::VECCALC> part;
        A::TBufPool<TPosition::VECCALC> over;
        Expect(pool.InitBuffer(que, 2, 40) && pool.InitBuffer(buf, 1), "buffers of a pool");
        Expect(pool.InitBufPool(part, 64) && pool.InitBufPool(over, 32, part), "pools of a pool");
        Expect(pipe.UsedBytes() == 128 + 1024 && buf.Get<int8_t>().address_.bufferAddr == 128 + 128, "places in a pool");
        A::TBuf<TPosition::VECCALC> inner[2];
        part.InitBuffer(inner[0], 32);
        over.InitBuffer(inner[1], 32);
        Expect(inner[0].Get<int8_t>().address_.bufferAddr == 288 && inner[1].Get<int8_t>().address_.bufferAddr == 288, "a pool over another");
        auto tensor = que.AllocTensor<float>();
        que.FreeTensor(tensor);
        pool.Reset();
        pool.InitBuffer(buf, 992);
        Expect(buf.Get<int8_t>().address_.bufferAddr == 128 && buf.GetBufLen() == 992, "a pool anew");
    });
    Same("a pool", seen, "set V>MTE2 0; wait V>MTE2 0; barrier all; ");
    const auto fault = [](const char* what, const std::string& begin, Callee<void()> body) {
        const std::string got = OnCore(body).first_fault;
        Expect(got.rfind(begin, 0) == 0, std::string(what) + ": expected " + begin + ", got " + got);
    };
    fault("more than a pool has", "ub_overflow: InitBuffer: asked for 64 bytes, available are 32 bytes", [] {
        A::TPipe pipe;
        A::TBufPool<TPosition::VECCALC> pool;
        A::TBuf<TPosition::VECCALC> buf;
        pipe.InitBufPool(pool, 32);
        pool.InitBuffer(buf, 33);
    });
    fault("more buffers than a pool counts", "bad_argument: InitBuffer: number of buffers is 4, allowed are 1 to 3", [] {
        A::TPipe pipe;
        A::TBufPool<TPosition::VECCALC, 3> pool;
        A::TQue<TPosition::VECIN, 1> que;
        pipe.InitBufPool(pool, 1024);
        pool.InitBuffer(que, 4, 32);
    });
    fault("a pool over a smaller one", "ub_overflow: InitBufPool: asked for 96 bytes, the shared pool has 64", [] {
        A::TPipe pipe;
        A::TBufPool<TPosition::VECCALC> first;
        A::TBufPool<TPosition::VECCALC> second;
        A::TBufPool<TPosition::VECCALC> third;
        A::TBuf<TPosition::VECCALC> before;
        pipe.InitBuffer(before, 128);
        pipe.InitBufPool(first, 64);
        pipe.InitBufPool(second, 64, first);
        pipe.InitBufPool(third, 65, first);
    });
    fault("a queue without buffers", "queue_misuse: AllocTensor: the queue has no buffers", [] {
        A::TPipe pipe;
        A::TQue<TPosition::VECIN, 1> que;
        que.AllocTensor<float>();
    });
}

// The mode from bit 4, the flag from bit 8, and a one.
static_assert(A::detail::CrossCoreMessage(2, 5) == 0x521 && A::detail::CrossCoreMessage(1, 15) == 0xF11, "messages of flags between cores");

void Cores()
{
    Same("a flag of all vector cores", Flags(
                                           [] {
                                               A::CrossCoreSetFlag<0, PIPE_MTE3>(5);
                                               A::CrossCoreWaitFlag(5);
                                           },
                                           3),
         "cross MTE3 5 0; ");
    Same("SyncAll", Flags([] { A::SyncAll(); }, 2), "barrier all; cross MTE3 14 0; ");
    auto* words = static_cast<int32_t*>(ascendsim::AllocateRegion(256, ascendsim::RegionRole::kWorkspace, 0));
    std::memset(words, 0, 256);
    A::GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(words, 64);
    Same("SyncAll by counters", Flags([&] { A::SyncAll(global, A::LocalTensor<int32_t>(TPosition::VECCALC, 0, 64), 2); }, 2), "barrier all; ");
    Same("SyncAll by counters of all cores", Flags([&] { A::SyncAll(global, A::LocalTensor<int32_t>(TPosition::VECCALC, 0, 64)); }, 2), "barrier all; ");
    const auto some = OnCore([&] { A::SyncAll(global, A::LocalTensor<int32_t>(TPosition::VECCALC, 0, 64), 1); }, 2);
    Expect(some.first_fault.rfind("unsupported: SyncAll: usedCores", 0) == 0, "SyncAll of some cores: " + some.first_fault);
    Same("the data cache", Flags([&] {
             A::DataCacheCleanAndInvalid<int32_t, A::CacheLine::SINGLE_CACHE_LINE>(global[16]);
             A::DataCacheCleanAndInvalid<int32_t, A::CacheLine::ENTIRE_DATA_CACHE, A::DcciDst::CACHELINE_OUT>(global);
             A::DataCachePreload(global.ReinterpretCast<uint64_t>(), 64);
         }),
         "dcci 64; dcci all of 0; ");
    ascendsim::OpenTrace("api_flags.trace");
    OnCore([&] { A::DataCachePreload(global.ReinterpretCast<uint64_t>()[1], 64); });
    Expect(ascendsim::CloseTrace(), "closing the trace");
    const Trace early = ReadTrace("api_flags.trace");
    std::remove("api_flags.trace");
    const Record* line = early.First("scalar");
    Expect(line != nullptr && line->ops.size() == 1 && (line->ops[0].addr & 0xFFFFFFFF) == 72, "a line that is loaded early");
    Same("the data cache by registers", Flags([&] {
             for (const uint64_t entire : {0, 1, 2}) {
                 dcci(static_cast<void*>(words + 1), entire);
                 dcci(static_cast<void*>(words + 2), entire, uint64_t{0});
             }
         }),
         "dcci 4; dcci 8; dcci all of 4; dcci all of 8; dcci all of 4; dcci all of 8; ");
    ascendsim::ClearRegions();
}

}  // namespace

int main()
{
    Events();
    Queues();
    Pools();
    Cores();
    return Report("api_flags");
}
