// Several matrix multiplications by one call, and operands and results in the Unified Buffer: on a cube core alone, and asked for by a
// vector core. Built for both kinds of cores: the program loads api_matmul_batch_cube.so, this same file built for the cube core.
#include <functional>
#include <vector>

#include "kernel_operator.h"
#include "matmul_operands.h"

namespace {
using namespace AscendC;
using namespace matmul_test;

constexpr MatmulConfig OneBias()
{
    MatmulConfig config = CFG_NORM;
    config.isBiasBatch = false;
    return config;
}
constexpr MatmulConfig kOneBias = OneBias();

using Left = MatmulType<TPosition::GM, CubeFormat::ND, half>;
using Right = MatmulType<TPosition::GM, CubeFormat::ND, half, true>;
using Result = MatmulType<TPosition::GM, CubeFormat::ND, float>;
using Bias = MatmulType<TPosition::GM, CubeFormat::ND, float>;
using Client = MatmulClient<Left, Right, Result, Bias>;
using OtherClient = MatmulClient<Left, Right, Result, Bias, kOneBias>;

/// The batches of both interfaces: a vector core names them with the call, a cube core before it.
template <class Multiplication>
__aicore__ void Iterate(
    Multiplication& mm, const GlobalTensor<float>& c, uint32_t batchA, uint32_t batchB, bool sequential, uint32_t strideA = 0,
    uint32_t strideB = 0, uint32_t strideC = 0, uint8_t atomic = 0)
{
    if constexpr (std::is_base_of<Client, Multiplication>::value || std::is_base_of<OtherClient, Multiplication>::value) {
        mm.IterateBatch(c, batchA, batchB, sequential, strideA, strideB, strideC, false, atomic);
    } else {
        mm.SetBatchNum(static_cast<int32_t>(batchA), static_cast<int32_t>(batchB));
        mm.IterateBatch(c, false, atomic, sequential, strideA, strideB, strideC);
    }
}

/// What both interfaces have.
template <class Multiplication>
__aicore__ void Batches(const Arguments& args, Multiplication& mm)
{
    auto [a, b, bias, c] = Operands(args);
    // Either of them begins with the first block again.
    if (args.mode == 8) {
        mm.SetTensorA(a);
        mm.SetTensorB(b, true);
    } else {
        mm.SetTensorB(b, true);
        mm.SetTensorA(a);
    }
    mm.SetBias(bias);
    switch (args.mode) {
        case 0:
        case 1: Iterate(mm, c, 3, 1, false); break;
        case 2: Iterate(mm, c, 1, 2, false, 0, 2000, 1200); break;
        case 3: Iterate(mm, c, 4, 2, false, 1500, 2500, 1000, 1); break;
        case 4: Iterate(mm, c, 2, 2, true, 0, 0, 1500); break;
        case 5:
            mm.DisableBias();
            Iterate(mm, c, 2, 2, false);
            break;
        case 6:
            mm.ClearBias();
            mm.SetTail(19, 23);
            mm.IterateAll(c);
            break;
        case 7:  // other sizes in memory, and less of k
            mm.SetOrgShape(20, 24, 48, 40, 30);
            mm.SetTail(-1, -1, 33);
            mm.IterateAll(c, 1);
            break;
        case 8:
        case 9:
            mm.SetOrgShape(20, 24, 40);
            mm.SetSingleShape(18, 22, 39);
            mm.Iterate();
            mm.GetTensorC(c);
            break;
        default: break;
    }
}

__aicore__ void Asked(const Arguments& args)
{
    TPipe pipe;
    matmul::Matmul<Left, Right, Result, Bias> mm;
    matmul::Matmul<Left, Right, Result, Bias, kOneBias> other;
    SetSysWorkspace(args.workspace);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, args.tiling, other, const_cast<void*>(static_cast<const void*>(args.tiling)));
    if (args.mode == 1) {
        Batches(args, other);
    } else {
        Batches(args, mm);
    }
    mm.End();
    other.End();
}

__aicore__ void Alone(const Arguments& args)
{
    TPipe pipe;
    MatmulImpl<Left, Right, Result, Bias> mm;
    MatmulImpl<Left, Right, Result, Bias, kOneBias> other;
    if (args.mode == 1) {
        other.Init(args.tiling, &pipe);
        Batches(args, other);
    } else {
        mm.Init(args.tiling, &pipe);
        Batches(args, mm);
    }
}

/// Operands, bias and all blocks of the result in the Unified Buffer. A tensor without a size has what this core multiplies.
__aicore__ void Near(const Arguments& args)
{
    using NearLeft = MatmulType<TPosition::VECCALC, CubeFormat::ND, half>;
    using NearRight = MatmulType<TPosition::VECCALC, CubeFormat::ND, half, true>;
    using NearResult = MatmulType<TPosition::VECCALC, CubeFormat::ND, float>;
    using NearBias = MatmulType<TPosition::VECCALC, CubeFormat::ND, float>;
    TPipe pipe;
    matmul::Matmul<NearLeft, NearRight, NearResult, NearBias> mm;
    SetSysWorkspace(args.workspace);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, args.tiling);
    auto [a, b, bias, c] = Operands(args);
    LocalTensor<half> left(TPosition::VECCALC, 0, 800);
    LocalTensor<half> right(TPosition::VECCALC, 8192, 960);
    LocalTensor<float> some(TPosition::VECCALC, 16384, 24);
    LocalTensor<float> blocks(TPosition::VECCALC, 32768, 4096);
    DataCopy(left, a, 800);
    DataCopy(right, b, 960);
    DataCopy(some, bias, 24);
    Duplicate(blocks, 1000.0f, 4096);
    PipeBarrier<PIPE_ALL>();
    if (args.mode == 11) {
        left.SetSize(0);
        right.SetSize(0);
        some.SetSize(0);
    }
    mm.SetTensorA(left);
    mm.SetTensorB(right, true);
    mm.SetBias(some);
    if (args.mode == 12) {
        mm.Iterate();
        mm.GetTensorC(c, blocks);  // all begins with the first block again
    }
    mm.IterateAll(blocks);
    PipeBarrier<PIPE_ALL>();
    DataCopy(c, blocks, 4096);
    mm.End();
}
}  // namespace

extern "C" void MatmulBatchKernel(const void* raw)
{
    const Arguments& args = *static_cast<const Arguments*>(raw);
    if (args.mode >= 100) {
        Arguments alone = args;
        alone.mode -= 100;
        return Alone(alone);
    }
    if (args.mode >= 10) {
        return Near(args);
    }
    Asked(args);
}

#ifndef __DAV_C220_CUBE__
#include <dlfcn.h>

#include "global_memory.h"
#include "machine/machine.h"

namespace {
using namespace isa_test;

using Kernel = void (*)(const void*);

constexpr size_t kM = 20, kN = 24, kK = 40;

/// A multiplication of `Want`: where its matrices begin, how large it is and how long their rows are.
struct Part {
    size_t a, b, bias, c;
    size_t m = kM, n = kN, k = kK;
    size_t rowA = kK, rowB = kK, rowC = kN;
    bool biased = true;
};

void Check(Kernel cube, int mode, bool alone, int32_t baseM, const std::vector<Part>& parts, bool added = false, size_t kept = 0)
{
    TCubeTiling t;
    t.M = t.singleCoreM = kM;
    t.N = t.singleCoreN = kN;
    t.Ka = t.Kb = t.singleCoreK = kK;
    t.baseM = baseM;
    t.baseN = 32;
    t.baseK = 32;
    t.depthA1 = t.depthB1 = 4;
    t.stepM = t.stepN = 1;
    t.stepKa = t.stepKb = 2;
    t.isBias = 1;
    t.iterateOrder = 0;
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 1;
    constexpr size_t kElements = 8192;
    Gm a(kElements * sizeof(half)), b(kElements * sizeof(half)), bias(128 * sizeof(float)), c(kElements * sizeof(float));
    Gm workspace(RESERVED_WORKSPACE);
    half* const left = a.As<half>();
    half* const right = b.As<half>();
    float* const some = bias.As<float>();
    float* const got = c.As<float>();
    Random random(static_cast<uint64_t>(mode) + 7);
    for (size_t i = 0; i < kElements; ++i) {
        left[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
        right[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
        got[i] = 1000.0f;
    }
    for (size_t i = 0; i < 128; ++i) {
        some[i] = static_cast<float>(i) * 64.0f;
    }
    std::vector<float> want(got, got + kElements);
    for (const Part& part : parts) {
        for (size_t i = 0; i < part.m; ++i) {
            for (size_t j = 0; j < part.n; ++j) {
                float sum = (part.biased ? some[part.bias + j] : 0.0f) + (added ? 1000.0f : 0.0f);
                for (size_t l = 0; l < part.k; ++l) {
                    sum += static_cast<float>(left[part.a + i * part.rowA + l]) * static_cast<float>(right[part.b + j * part.rowB + l]);
                }
                want[part.c + i * part.rowC + j] = sum;
            }
        }
    }
    const Arguments args = {a.Bytes(), b.Bytes(), bias.Bytes(), c.Bytes(), workspace.Bytes(), &t, mode + (alone ? 100 : 0)};
    std::function<void()> body = [&] { (alone || ascendsim::OnCubeCore() ? cube : &MatmulBatchKernel)(&args); };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul_batch";
    info.type = alone ? ascendsim::KernelType::kAic : ascendsim::KernelType::kMix11;
    info.block_dim = 1;
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &body);
    const std::string name = std::string(alone ? "alone" : "asked for") + ", mode " + std::to_string(mode) + ", blocks of " + std::to_string(baseM);
    Expect(result.completed && result.faults == 0, name + ": faults: " + result.first_fault);
    for (size_t i = 0; i < kElements; ++i) {
        // Behind the rows and columns of a block that is no whole one there may be anything.
        const bool open = i < kept && (i % 32 >= kN || i / 32 >= kM);
        if (!open && got[i] != want[i]) {
            return Fail(name + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " + std::to_string(want[i]));
        }
    }
}
}  // namespace

int main()
{
    void* const library = dlopen("./api_matmul_batch_cube.so", RTLD_NOW);
    if (library == nullptr) {
        Fail(dlerror());
        return Report("api_matmul_batch");
    }
    const auto cube = reinterpret_cast<Kernel>(dlsym(library, "MatmulBatchKernel"));
    constexpr size_t sizeA = kM * kK, sizeB = kN * kK, sizeC = kM * kN;
    for (const bool alone : {true, false}) {
        for (const int32_t base : {16, 32}) {
            Check(cube, 0, alone, base, {{0, 0, 0, 0}, {sizeA, 0, kN, sizeC}, {2 * sizeA, 0, 2 * kN, 2 * sizeC}});
            Check(cube, 1, alone, base, {{0, 0, 0, 0}, {sizeA, 0, 0, sizeC}, {2 * sizeA, 0, 0, 2 * sizeC}});
            Check(cube, 2, alone, base, {{0, 0, 0, 0}, {0, 2000, kN, 1200}});
            Check(cube, 3, alone, base, {{0, 0, 0, 0}, {1500, 0, kN, 1000}, {3000, 2500, 2 * kN, 2000}, {4500, 2500, 3 * kN, 3000}}, true);
            Part first = {0, 0, 0, 0}, second = {sizeA, sizeB, kN, 1500};
            first.rowC = second.rowC = 32;
            Check(cube, 4, alone, 32, {first, second});
            first = {0, 0, 0, 0};
            second = {sizeA, sizeB, 0, sizeC};
            first.biased = second.biased = false;
            Check(cube, 5, alone, base, {first, second});
            first.m = 19;
            first.n = 23;
            Check(cube, 6, alone, base, {first});
            Part other = {0, 0, 0, 0};
            other.k = 33;
            other.rowA = 48;
            other.rowC = 30;
            Check(cube, 7, alone, base, {other}, true);
            other = {0, 0, 0, 0};
            other.m = base == 16 ? 16 : 18;
            other.n = 22;
            other.k = 39;
            Check(cube, 8, alone, base, {other});
            Check(cube, 9, alone, base, {other});
        }
    }
    // Blocks one after another; what lies behind the rows of the last one is not looked at.
    for (const int mode : {10, 11, 12}) {
        Part whole = {0, 0, 0, 0};
        whole.rowC = 32;
        Check(cube, mode, false, 32, {whole}, false, 32 * 32);
        Check(cube, mode, false, 16, {whole}, false, 32 * 32);
    }
    return Report("api_matmul_batch");
}
#endif
