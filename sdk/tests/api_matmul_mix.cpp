// Matrix multiplication that vector cores ask for: one cube core serves one or two of them. Built for both kinds of cores:
// the program holds the vector cores' code and loads api_matmul_mix_cube.so, this same file built for the cube core.
#include <functional>
#include <type_traits>
#include <vector>

#include "kernel_operator.h"
#include "matmul_operands.h"

namespace {
using namespace AscendC;
using namespace matmul_test;

// What a vector core tells a function of the kernel's own reaches it on the cube core: there it takes A from where it was told.
__aicore__ void CopyToldA(
    const LocalTensor<int8_t>& dst, const __gm__ void*, int row, int col, int useM, int useK, const uint64_t told, const uint64_t stride)
{
    GlobalTensor<half> src;
    src.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(told) + static_cast<uint64_t>(row) * 32 * stride + static_cast<uint64_t>(col) * 32);
    DataCopy(
        dst.ReinterpretCast<half>(), src,
        Nd2NzParams(
            1, static_cast<uint16_t>(useM), static_cast<uint16_t>(useK), 0, static_cast<uint16_t>(stride),
            static_cast<uint16_t>((useM + 15) / 16 * 16), 1, 0));
}

template <TPosition positionA, TPosition positionC, class Callbacks = MatmulCallBackFunc<>>
__aicore__ void Multiply(const Arguments& args)
{
    TPipe pipe;
    using A = MatmulType<positionA, CubeFormat::ND, half>;
    using B = MatmulType<TPosition::GM, CubeFormat::ND, half, true>;
    using C = MatmulType<positionC, CubeFormat::ND, float>;
    using Bias = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    matmul::Matmul<A, B, C, Bias, CFG_NORM, Callbacks> first;
    matmul::Matmul<A, B, C, Bias, CFG_NORM, Callbacks> second;
    SetSysWorkspace(args.workspace);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), first, args.tiling, second, args.tiling);

    const TCubeTiling& t = *args.tiling;
    const int32_t rowBlocks = (t.M + t.singleCoreM - 1) / t.singleCoreM;
    const int32_t at = static_cast<int32_t>(GetBlockIdx());
    if (at >= rowBlocks) {
        return;
    }
    const int32_t row = at * t.singleCoreM;
    const int32_t rows = t.M - row < t.singleCoreM ? t.M - row : t.singleCoreM;
    auto [a, b, bias, c] = Operands(args, row * t.Ka, row * t.N);
    auto& mm = args.mode == 1 ? second : first;
    mm.SetTail(rows);
    if (args.mode >= 9) {
        mm.SetUserDefInfo(reinterpret_cast<uint64_t>(a.GetPhyAddr()));
        mm.SetSelfDefineData(static_cast<uint64_t>(t.Ka));
    }
    if constexpr (positionA == TPosition::GM) {
        mm.SetTensorA(args.mode == 9 ? b : a);
    } else {
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, static_cast<uint32_t>(rows * t.Ka) * sizeof(half));
        LocalTensor<half> local = buffer.Get<half>();
        DataCopy(local, a, static_cast<uint32_t>(rows * t.Ka));
        mm.SetTensorA(local);
    }
    mm.SetTensorB(b, true);
    mm.SetBias(bias);
    if constexpr (positionC == TPosition::GM) {
        if (args.mode == 2) {
            // What is said of nothing changes nothing.
            mm.SetTail();
            mm.SetOrgShape(t.M, t.N, t.Ka, t.Kb);
            while (mm.Iterate()) {
                mm.GetTensorC(c);
            }
        } else if (args.mode == 3) {
            mm.template IterateAll<false>(c);
            mm.WaitIterateAll();
        } else {
            mm.IterateAll(c);
        }
    } else {
        // Each block through the Unified Buffer, with one added.
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, static_cast<uint32_t>(t.baseM * t.baseN) * sizeof(float));
        LocalTensor<float> block = buffer.Get<float>();
        const int32_t columns = (t.N + t.baseN - 1) / t.baseN;
        for (int32_t i = 0; mm.Iterate(); ++i) {
            mm.GetTensorC(block);
            if (args.mode == 7) {
                break;
            }
            Adds(block, block, 1.0f, t.baseM * t.baseN);
            PipeBarrier<PIPE_ALL>();
            const int32_t blockRow = i / columns * t.baseM, blockColumn = i % columns * t.baseN;
            const int32_t some = rows - blockRow < t.baseM ? rows - blockRow : t.baseM;
            DataCopy(
                c[blockRow * t.N + blockColumn], block,
                DataCopyParams(
                    static_cast<uint16_t>(some), static_cast<uint16_t>(t.baseN / 8), 0,
                    static_cast<uint16_t>((t.N - t.baseN) / 8)));
            PipeBarrier<PIPE_ALL>();
        }
    }
    mm.End();
}

// Floats that have more bits than HF32: what a vector core asks for holds for its products, and no longer than it asks for it.
__aicore__ void MultiplyFloats(const Arguments& args)
{
    TPipe pipe;
    using Operand = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    matmul::Matmul<Operand, Operand, Operand, Operand> mm;
    SetSysWorkspace(args.workspace);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, args.tiling);
    if (GetBlockIdx() != 0) {
        return;
    }
    GlobalTensor<float> a, b, c;
    a.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args.a));
    b.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args.b));
    c.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args.c));
    for (int32_t kind = 0; kind < 5; ++kind) {
        if (kind > 0) {
            mm.SetHF32(kind < 4, kind == 2 ? 1 : 0);
        }
        mm.SetTensorA(a);
        mm.SetTensorB(b);
        mm.IterateAll(c[kind * 256]);
    }
    mm.End();
}

// To and fro by the older names of flags between the two kinds of cores: each waits for the other, three times.
__aicore__ void Meet()
{
    for (int round = 0; round < 3; ++round) {
        if ASCEND_IS_AIC {
            NotifyEvent<PIPE_FIX>(3);
            WaitEvent(4);
        } else {
            WaitEvent(3);
            NotifyEvent<PIPE_MTE3>(4);
        }
    }
}
}  // namespace

extern "C" void MatmulMixKernel(const void* raw)
{
    const Arguments& args = *static_cast<const Arguments*>(raw);
    switch (args.mode) {
        case 4: return Multiply<TPosition::VECCALC, TPosition::GM>(args);
        case 5:
        case 7: return Multiply<TPosition::GM, TPosition::VECCALC>(args);
        case 8: return MultiplyFloats(args);
        case 9: return Multiply<TPosition::GM, TPosition::GM, MatmulCallBackFunc<nullptr, CopyToldA>>(args);
        case 10: return Multiply<TPosition::GM, TPosition::GM, MatmulCallBackFunc<nullptr, CopyToldA>>(args);
        case 6: Meet(); return Multiply<TPosition::GM, TPosition::GM>(args);
        default: return Multiply<TPosition::GM, TPosition::GM>(args);
    }
}

#ifndef __DAV_C220_CUBE__
#include <dlfcn.h>

#include "global_memory.h"
#include "machine/machine.h"

namespace {
using namespace isa_test;

using Kernel = void (*)(const void*);

void Check(Kernel cube, ascendsim::KernelType type, int mode)
{
    TCubeTiling t;
    t.M = 170;
    t.N = 64;
    t.Ka = t.Kb = 96;
    t.singleCoreM = type == ascendsim::KernelType::kMix12 ? 48 : 64; // the last part is a tail
    t.singleCoreN = 64;
    t.singleCoreK = 96;
    t.baseM = t.baseN = t.baseK = 32;
    if (mode == 7) { // a block of 80 KiB, for which the library has no room
        t.baseM = 160;
        t.baseN = 128;
    }
    t.depthA1 = t.depthB1 = 4;
    t.stepM = t.stepN = 1;
    t.stepKa = t.stepKb = 2;
    if (mode == 10) { // A is in L1 as a whole, and each vector core has another one
        t.stepM = 2;
        t.stepKa = 3;
    }
    t.isBias = 1;
    t.iterateOrder = 1;
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 1;
    const int32_t cores = type == ascendsim::KernelType::kMix12 ? 4 : 3;
    const size_t m = static_cast<size_t>(t.M), n = static_cast<size_t>(t.N), k = static_cast<size_t>(t.Ka);
    Gm a(m * k * 2), b(n * k * 2), bias(n * 4), c(m * n * 4), workspace(RESERVED_WORKSPACE);
    Random random(static_cast<uint64_t>(mode) + 7);
    half* const left = reinterpret_cast<half*>(a.data.data());
    half* const right = reinterpret_cast<half*>(b.data.data());
    for (size_t i = 0; i < m * k; ++i) {
        left[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
    }
    for (size_t i = 0; i < n * k; ++i) {
        right[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
    }
    for (size_t i = 0; i < n; ++i) {
        reinterpret_cast<float*>(bias.data.data())[i] = static_cast<float>(i);
    }
    const Arguments args = {a.data.data(), b.data.data(), bias.data.data(), c.data.data(), workspace.data.data(), &t, mode};
    std::function<void()> body = [&] { (ascendsim::OnCubeCore() ? cube : &MatmulMixKernel)(&args); };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul_mix";
    info.type = type;
    info.block_dim = static_cast<uint32_t>(type == ascendsim::KernelType::kMix12 ? (cores + 1) / 2 : cores);
    const auto result =
        ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &body);
    const std::string name = std::string(ascendsim::KernelTypeName(type)) + ", mode " + std::to_string(mode);
    if (mode == 7) {
        return Expect(result.first_fault.rfind("unsupported: GetTensorC: a base block", 0) == 0, name + ": " + result.first_fault);
    }
    Expect(result.completed && result.faults == 0, name + ": faults: " + result.first_fault);
    for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
            double sum = static_cast<double>(j) + (mode == 5 ? 1 : 0);
            for (size_t l = 0; l < k; ++l) {
                sum += static_cast<double>(static_cast<float>(left[i * k + l])) *
                       static_cast<double>(static_cast<float>(right[j * k + l]));
            }
            const double got = static_cast<double>(reinterpret_cast<float*>(c.data.data())[i * n + j]);
            if (got != sum) {
                Fail(name + ": element " + std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(got) +
                     " instead of " + std::to_string(sum));
                return;
            }
        }
    }
}

void CheckFloats(Kernel cube)
{
    TCubeTiling t;
    t.M = t.N = t.singleCoreM = t.singleCoreN = t.baseM = t.baseN = 16;
    t.Ka = t.Kb = t.singleCoreK = 20; // of a base block of 32, and nothing lies behind it
    t.baseK = 32;
    t.depthA1 = t.depthB1 = t.stepM = t.stepN = t.stepKa = t.stepKb = t.dbL0A = t.dbL0B = t.dbL0C = 1;
    Gm a(16 * 20 * 4), b(20 * 16 * 4), c(5 * 1024), workspace(RESERVED_WORKSPACE);
    for (size_t i = 0; i < 16; ++i) { // a tie between numbers of twelve bits, which is what HF32 keeps
        a.As<float>()[i * 21] = 1.0f + 3.0f / 4096;
        b.As<float>()[i * 17] = 1.0f;
    }
    const Arguments args = {a.data.data(), b.data.data(), nullptr, c.data.data(), workspace.data.data(), &t, 8};
    std::function<void()> body = [&] { (ascendsim::OnCubeCore() ? cube : &MatmulMixKernel)(&args); };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul_mix";
    info.type = ascendsim::KernelType::kMix11;
    info.block_dim = 1;
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &body);
    Expect(result.completed && result.faults == 0, "floats: " + result.first_fault);
    const float want[] = {1.0f + 3.0f / 4096, 1.0f + 4.0f / 4096, 1.0f + 2.0f / 4096, 1.0f + 4.0f / 4096, 1.0f + 3.0f / 4096};
    for (size_t kind = 0; kind < 5; ++kind) {
        Expect(c.As<float>()[kind * 256 + 17] == want[kind] && c.As<float>()[kind * 256 + 1] == 0, "HF32, kind " + std::to_string(kind));
    }
}
}  // namespace

int main()
{
    void* const library = dlopen("./api_matmul_mix_cube.so", RTLD_NOW);
    if (library == nullptr) {
        Fail(dlerror());
        return Report("api_matmul_mix");
    }
    const auto cube = reinterpret_cast<Kernel>(dlsym(library, "MatmulMixKernel"));
    for (int mode = 0; mode <= 6; ++mode) {
        Check(cube, ascendsim::KernelType::kMix11, mode);
        Check(cube, ascendsim::KernelType::kMix12, mode);
    }
    Check(cube, ascendsim::KernelType::kMix12, 7);
    Check(cube, ascendsim::KernelType::kMix12, 9);
    Check(cube, ascendsim::KernelType::kMix12, 10);
    CheckFloats(cube);
    return Report("api_matmul_mix");
}
#endif
