// Queues and transfers: a double-buffered pipeline, the flags it emits, and the faults of misuse.
#define TILING_KEY_VAR 7UL
#include "kernel_operator.h"

#include "isa_support.h"

// A library for one key leaves out the code of all others.
static_assert(TILING_KEY_IS(7) && !TILING_KEY_IS(8), "the key is known when the kernel is compiled");

using namespace isa_test;
namespace A = AscendC;

namespace {

struct Tiling {
    uint64_t total = 0;
    uint32_t tile = 0;
    uint32_t pad = 0;
};

/// z = x + y in tiles, the last one of any length.
template <typename T, bool hinted = false>
void AddKernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(Tiling, data, tiling);
    A::TPipe pipe;
    A::TQue<A::QuePosition::VECIN, 2> inX;
    A::TQue<A::QuePosition::VECIN, 2> inY;
    A::TQue<A::QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(inX, 2, data.tile * sizeof(T));
    pipe.InitBuffer(inY, 2, data.tile * sizeof(T));
    pipe.InitBuffer(out, 2, data.tile * sizeof(T));
    const uint64_t share = (data.total + static_cast<uint64_t>(A::GetBlockNum()) - 1) / static_cast<uint64_t>(A::GetBlockNum());
    const uint64_t begin = share * static_cast<uint64_t>(A::GetBlockIdx());
    const uint64_t end = begin + share < data.total ? begin + share : data.total;
    A::GlobalTensor<T> gx;
    A::GlobalTensor<T> gy;
    A::GlobalTensor<T> gz;
    gx.SetGlobalBuffer(reinterpret_cast<T*>(x), data.total);
    gy.SetGlobalBuffer(reinterpret_cast<T*>(y), data.total);
    gz.SetGlobalBuffer(reinterpret_cast<T*>(z));
    if (hinted) {
        gx.SetL2CacheHint(A::CacheMode::CACHE_MODE_DISABLE);
    }
    for (uint64_t at = begin; at < end; at += data.tile) {
        const uint32_t count = static_cast<uint32_t>(end - at < data.tile ? end - at : data.tile);
        const A::DataCopyExtParams copy(1, count * static_cast<uint32_t>(sizeof(T)), 0, 0, 0);
        A::LocalTensor<T> a = inX.template AllocTensor<T>();
        A::LocalTensor<T> b = inY.template AllocTensor<T>();
        A::DataCopyPad(a, gx[at], copy, A::DataCopyPadExtParams<T>(false, 0, 0, 0));
        A::DataCopyPad(b, gy[at], copy, A::DataCopyPadExtParams<T>(false, 0, 0, 0));
        inX.EnQue(a);
        inY.EnQue(b);
        a = inX.template DeQue<T>();
        b = inY.template DeQue<T>();
        A::LocalTensor<T> c = out.template AllocTensor<T>();
        A::Add(c, a, b, static_cast<int32_t>(count));
        out.template EnQue<T>(c);
        inX.FreeTensor(a);
        inY.FreeTensor(b);
        c = out.template DeQue<T>();
        A::DataCopyPad(gz[at], c, copy);
        out.FreeTensor(c);
    }
}

template <typename T>
void Pipeline(uint64_t total, uint32_t blocks)
{
    using ascendsim::AllocateRegion;
    using ascendsim::RegionRole;
    T* x = static_cast<T*>(AllocateRegion(total * sizeof(T), RegionRole::kInput, 0));
    T* y = static_cast<T*>(AllocateRegion(total * sizeof(T), RegionRole::kInput, 1));
    T* z = static_cast<T*>(AllocateRegion(total * sizeof(T), RegionRole::kOutput, 0));
    Tiling* tiling = static_cast<Tiling*>(AllocateRegion(sizeof(Tiling), RegionRole::kTiling, 0));
    tiling->total = total;
    tiling->tile = 256;
    for (uint64_t i = 0; i < total; ++i) {
        x[i] = static_cast<T>(static_cast<int>(i % 97));
        y[i] = static_cast<T>(static_cast<int>(i % 31) - 15);
    }
    const auto result = OnCore(
        [&] {
            AddKernel<T, true>(reinterpret_cast<GM_ADDR>(x), reinterpret_cast<GM_ADDR>(y), reinterpret_cast<GM_ADDR>(z),
                               reinterpret_cast<GM_ADDR>(tiling));
        },
        blocks);
    Expect(result.completed && result.faults == 0, "pipeline: " + result.first_fault);
    for (uint64_t i = 0; i < total; ++i) {
        const float want = static_cast<float>(static_cast<int>(i % 97) + static_cast<int>(i % 31) - 15);
        if (static_cast<float>(z[i]) != want) {
            Fail("pipeline: wrong sum at " + std::to_string(i));
            break;
        }
    }
    Expect(ascendsim::GuardsIntact(), "pipeline: wrote outside its output");
    ascendsim::ClearRegions();
}

void ExpectFault(const char* what, const std::string& begin, Callee<void()> body)
{
    const auto result = OnCore(body);
    Expect(result.faults >= 1 && result.first_fault.compare(0, begin.size(), begin) == 0,
           std::string(what) + ": expected " + begin + ", got " + result.first_fault);
}

using VecIn = A::TQue<A::QuePosition::VECIN, 2>;

void Misuse()
{
    ExpectFault("EnQue twice", "queue_misuse", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 2, 64);
        auto t = que.AllocTensor<float>();
        que.EnQue(t);
        que.EnQue(t);
    });
    ExpectFault("EnQue of a foreign tensor", "queue_misuse", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 2, 64);
        que.EnQue(A::LocalTensor<float>(A::TPosition::VECIN, 0, 16));
    });
    ExpectFault("DeQue of nothing", "queue_misuse", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 2, 64);
        que.DeQue<float>();
    });
    ExpectFault("free twice", "queue_misuse", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        auto t = que.AllocTensor<float>();
        que.FreeTensor(t);
        que.FreeTensor(t);
    });
    ExpectFault("too many tensors", "queue_misuse: AllocTensor", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        que.AllocTensor<float>();
        que.AllocTensor<float>();
    });
    ExpectFault("never freed", "never_freed: end of TPipe: tensors never freed: 1", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        que.AllocTensor<float>();
    });
    ExpectFault("not freed before Reset", "queue_misuse: end of TPipe: tensors never freed: 1", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        que.AllocTensor<float>();
        pipe.Reset();
    });
    ExpectFault("never dequeued", "queue_misuse: end of TPipe: tensors enqueued but never dequeued: 1", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        que.EnQue(que.AllocTensor<float>());
    });
    ExpectFault("UB overflow", "ub_overflow: InitBuffer: asked for 400000 bytes, available are ", [] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 2, 200000);
    });
    ExpectFault("event ids", "event_exhausted", [] {
        A::TPipe pipe;
        for (int i = 0; i < 9; ++i) {
            pipe.AllocEventID<A::HardEvent::MTE2_V>();
        }
    });
    ExpectFault("TBuf bounds", "out_of_bounds_ub", [] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 64);
        buf.Get<float>(17);
    });
    float* gm = static_cast<float*>(ascendsim::AllocateRegion(256, ascendsim::RegionRole::kInput, 0));
    ExpectFault("misaligned DataCopy", "misaligned: DataCopy: 36 bytes", [gm] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 64);
        A::GlobalTensor<float> src;
        src.SetGlobalBuffer(gm);
        A::DataCopy(buf.Get<float>(), src, 9);
    });
    // Behind 256 bytes an allocation has 32 more: reading them is another thing than reading or writing elsewhere.
    const auto copy = [&gm](int from, int count, bool out) {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 256);
        A::GlobalTensor<float> tensor;
        tensor.SetGlobalBuffer(gm + from);
        if (out) {
            A::DataCopy(tensor, buf.Get<float>(), count);
        } else {
            A::DataCopy(buf.Get<float>(), tensor, count);
        }
    };
    ExpectFault("read of padding", "read_behind_tensor: copy_gm_to_ubuf: 64 bytes at offset 224 of input 0", [&] { copy(56, 16, false); });
    ExpectFault("read behind padding", "out_of_bounds_gm: copy_gm_to_ubuf: 96 bytes", [&] { copy(56, 24, false); });
    ExpectFault("write behind the last block", "out_of_bounds_gm: copy_ubuf_to_gm: 64 bytes", [&] { copy(56, 16, true); });
    // What lies in the tensor arrives all the same, from there and there.
    for (int at = 0; at < 64; ++at) {
        gm[at] = static_cast<float>(at);
    }
    float read[24] = {};
    ExpectFault("as much as there is", "out_of_bounds_gm: copy_gm_to_ubuf: 96 bytes", [&] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 256);
        A::GlobalTensor<float> tensor;
        tensor.SetGlobalBuffer(gm + 56);
        A::LocalTensor<float> local = buf.Get<float>();
        A::Duplicate(local, -1.0f, 64);
        A::DataCopy(local, tensor, 24);
        for (int at = 0; at < 24; ++at) {
            read[at] = local.GetValue(at);
        }
        A::Duplicate(local, 7.0f, 64);
        A::DataCopy(tensor, local, 16);
    });
    Expect(read[0] == 56.0f && read[7] == 63.0f && read[8] == -1.0f && gm[55] == 55.0f && gm[56] == 7.0f && gm[63] == 7.0f,
           "what lies in the tensor is moved, and nothing else");
    // Of several bursts the one that the end cuts arrives as far as it lies in the tensor, too.
    ExpectFault("the last of several bursts", "out_of_bounds_gm: copy_ubuf_to_gm: 128 bytes", [&] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 256);
        A::GlobalTensor<float> tensor;
        tensor.SetGlobalBuffer(gm + 40);
        A::LocalTensor<float> local = buf.Get<float>();
        A::Duplicate(local, 9.0f, 64);
        A::DataCopy(tensor, local, A::DataCopyParams(2, 2, 0, 0));
    });
    Expect(gm[39] == 39.0f && gm[40] == 9.0f && gm[56] == 9.0f && gm[63] == 9.0f, "the burst that is cut is moved up to there");
    // The last block of a tensor of 250 bytes has six more.
    gm = static_cast<float*>(ascendsim::AllocateRegion(250, ascendsim::RegionRole::kOutput, 0));
    ExpectFault("write to the last block", "write_in_padding: copy_ubuf_to_gm: 64 bytes at offset 192 of output 0",
                [&] { copy(48, 16, true); });
    ascendsim::ClearRegions();
}

/// A queue emits one flag per hand-over in each direction, and the pipe object waits for what is left.
void Flags()
{
    const char* path = "api_queue.trace";
    Expect(ascendsim::OpenTrace(path), "trace file");
    OnCore([] {
        A::TPipe pipe;
        VecIn que;
        pipe.InitBuffer(que, 1, 64);
        for (int i = 0; i < 2; ++i) {
            auto t = que.AllocTensor<float>();
            que.EnQue(t);
            t = que.DeQue<float>();
            que.FreeTensor(t);
        }
    });
    ascendsim::CloseTrace();
    const Trace trace = ReadTrace(path);
    std::remove(path);
    std::string seen;
    for (const Record& record : trace.records) {
        if (record.name == "set_flag" || record.name == "wait_flag") {
            seen += record.name == "set_flag" ? 's' : 'w';
            seen += record.head.aux1 == 2 ? "f " : "b ";  // from MTE2: filled; from V: emptied
        } else if (record.name == "pipe_barrier") {
            seen += "barrier ";
        }
    }
    Expect(seen == "sf wf sb wb sf wf sb wb barrier ", "flags of a queue: " + seen);
}

struct WithPipe {
    A::TPipe pipe;
};

/// A kernel of the name that OnCore gives to what it launches.
void test() { A::TPipe pipe; }
/// As the translation unit around an entry file calls it.
void test_key_31() { A::TPipe pipe; }
void test_all_keys() { A::TPipe pipe; }
void tests() { A::TPipe pipe; }

template <class T>
uint64_t PipesInObjects(T kernel)
{
    const char* path = "api_pipe.trace";
    Expect(ascendsim::OpenTrace(path), "trace file");
    OnCore(kernel);
    ascendsim::CloseTrace();
    const Trace trace = ReadTrace(path);
    std::remove(path);
    uint64_t found = 0;
    for (const Record& record : trace.records) {
        const auto what = static_cast<ascendsim::BufferEvent>(record.head.aux0);
        found += record.name == "buffer" && what == ascendsim::BufferEvent::kPipeInObject ? 1 : 0;
    }
    return found;
}

/// A pipe is told apart by whether the entry makes it as a variable of its own.
void PlaceOfThePipe()
{
    Expect(PipesInObjects([] { test(); }) == 0, "pipe as a variable of the kernel's entry");
    Expect(PipesInObjects([] { test_key_31(); }) == 0, "the same for one tiling key");
    Expect(PipesInObjects([] { test_all_keys(); }) == 0, "the same for all");
    Expect(PipesInObjects([] { tests(); }) == 1, "pipe of a function of another name");
    Expect(PipesInObjects([] { WithPipe(); }) == 1, "pipe as a member");
}

void InPlaceQueue()
{
    const auto result = OnCore([] {
        A::TPipe pipe;
        A::TQue<A::QuePosition::VECIN, 0> que;
        pipe.InitBuffer(que, 1, 64);
        A::LocalTensor<float> tensor;
        for (int i = 0; i < 3; ++i) {
            que.AllocTensor(tensor);
            que.EnQue(tensor);
            que.DeQue(tensor);
            que.FreeTensor(tensor);
        }
        A::TBufPool<A::TPosition::VECCALC> pool;
        VecIn inner;
        pipe.InitBufPool(pool, 1024);
        pool.InitBuffer(inner, 2, 64);
        auto t = inner.AllocTensor<float>();
        Expect(t.GetSize() == 16 && t.address_.bufferAddr == 64, "pool buffer address");
        inner.FreeTensor(t);
    });
    Expect(result.faults == 0, "queue of depth 0: " + result.first_fault);
}

}  // namespace

/// Kernels may cut up all of the Unified Buffer, and functions without a temporary buffer find what is left of it.
void WholeBuffer()
{
    const uint32_t whole = 192 * 1024;
    uint32_t left[2] = {};
    const auto result = OnCore([&] {
        {
            A::TPipe pipe;
            A::TBuf<A::TPosition::VECCALC> buf;
            pipe.InitBuffer(buf, whole);
        }
        for (const uint32_t used : {150u * 1024, 191u * 1024}) {
            A::TPipe pipe;
            A::TBuf<A::TPosition::VECCALC> buf;
            pipe.InitBuffer(buf, used);
            A::LocalTensor<uint8_t> rest;
            A::PopStackBuffer<uint8_t, A::TPosition::LCM>(rest);
            left[used > 184 * 1024] = rest.GetSize();
        }
    });
    Expect(result.completed && result.faults == 0, "whole buffer: " + result.first_fault);
    Expect(left[0] == whole - 150 * 1024 - 64, "rest behind queues: " + std::to_string(left[0]));
    Expect(left[1] == 1024 - 64, "rest near the end: " + std::to_string(left[1]));
}

int main()
{
    Flags();
    Pipeline<float>(10007, 3);
    Pipeline<half>(4999, 1);
    Pipeline<int32_t>(512, 2);
    Misuse();
    PlaceOfThePipe();
    InPlaceQueue();
    WholeBuffer();
    return Report("api_queue");
}
