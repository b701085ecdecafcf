// Copies of a matrix multiplication by functions of the kernel's own: operands piece by piece or as a whole, and blocks of C.
#ifndef __DAV_C220_CUBE__
#define __DAV_C220_CUBE__ 1
#endif
#include <functional>
#include <vector>

#include "global_memory.h"
#include "isa_support.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;
using namespace isa_test;

namespace {

constexpr int32_t kM = 80, kN = 96, kK = 128, kBase = 32;
constexpr int32_t kFar = 2 * kK; // elements from row to row of an A that lies far apart
constexpr uint64_t kSelf = 0x1234;

int g_copies = 0;     // of the function that is tested
bool g_words = true;  // it was told what the object was told

/// Rows and columns of a row-major matrix in memory to L1, as columns of blocks.
void ToL1(const LocalTensor<int8_t>& dst, const __gm__ void* gm, int32_t row, int32_t column, int rows, int columns, int32_t stride)
{
    GlobalTensor<half> src;
    src.SetGlobalBuffer(static_cast<__gm__ half*>(const_cast<void*>(gm)) + row * stride + column);
    Nd2NzParams p(
        1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0, static_cast<uint16_t>(stride),
        static_cast<uint16_t>((rows + 15) / 16 * 16), 1, 0);
    DataCopy(dst.ReinterpretCast<half>(), src, p);
}

void Note(const uint64_t tiling, const uint64_t self)
{
    ++g_copies;
    g_words = g_words && self == kSelf && reinterpret_cast<const TCubeTiling*>(tiling)->baseM == kBase;
}

void CopyFarA(const LocalTensor<int8_t>& dst, const __gm__ void* gm, int row, int col, int useM, int useK, const uint64_t tiling, const uint64_t self)
{
    Note(tiling, self);
    ToL1(dst, gm, row * kBase, col * kBase, useM, useK, kFar);
}

void CopyB(const LocalTensor<int8_t>& dst, const __gm__ void* gm, int row, int col, int useK, int useN, const uint64_t tiling, const uint64_t self)
{
    Note(tiling, self);
    ToL1(dst, gm, row * kBase, col * kBase, useK, useN, kN);
}

/// B is brought once, at the first call, by whoever relies on it that it stays.
void CopyWholeB(const LocalTensor<int8_t>& dst, const __gm__ void* gm, int row, int col, int useK, int useN, const uint64_t tiling, const uint64_t self)
{
    if (g_copies == 0) {
        Expect(row == 0 && col == 0 && useK == kK && useN == kN, "a whole operand is asked for at once");
        CopyB(dst, gm, row, col, useK, useN, tiling, self);
    }
}

/// Rows of C twice as far apart, by what the function is told of the block.
void CopyFarC(const __gm__ void* gm, const LocalTensor<int8_t>& co1, const void* params, const uint64_t tiling, const uint64_t self)
{
    Note(tiling, self);
    const DataCopyOutParams& told = *static_cast<const DataCopyOutParams*>(params);
    const int rows = told.curM == kM / kBase ? kM % kBase : kBase;
    Expect(told.cBurstNum * 16 == kBase && told.oriNSize == kBase && told.dstStride == kN, "the block is described");
    Expect(told.burstLen * 32 == rows * 16 * 4 && told.srcStride == 0, "panels follow each other");
    FixpipeParamsV220 p;
    p.nSize = told.oriNSize;
    p.mSize = static_cast<uint16_t>(rows);
    p.srcStride = static_cast<uint16_t>(told.burstLen * 32 / 64);
    p.dstStride = 2 * told.dstStride;
    GlobalTensor<float> to;
    to.SetGlobalBuffer(static_cast<__gm__ float*>(const_cast<void*>(gm)) + told.curM * kBase * kN);
    Fixpipe<float, float, CFG_ROW_MAJOR>(to, co1.ReinterpretCast<float>(), p);
}

template <class Callbacks, template <const auto&, typename, typename, typename, typename, typename> class Policy = Impl::Detail::MatmulPolicy>
int Check(const std::string& name, int32_t strideA, int32_t strideC, bool isWholeB, int32_t baseN = kBase)
{
    TCubeTiling t;
    t.M = t.singleCoreM = kM;
    t.N = t.singleCoreN = kN;
    t.Ka = t.Kb = t.singleCoreK = kK;
    t.baseM = t.baseK = kBase;
    t.baseN = baseN;
    t.stepM = t.stepKa = t.dbL0C = 1;
    t.stepN = isWholeB ? (kN + baseN - 1) / baseN : 1;
    t.stepKb = isWholeB ? kK / kBase : 1;
    t.depthA1 = t.dbL0A = t.dbL0B = 2;
    t.depthB1 = 2 * t.stepKb;
    t.iterateOrder = 1;
    Gm a(static_cast<size_t>(kM * strideA) * 2), b(kN * kK * 2), c(static_cast<size_t>(kM * strideC) * 4);
    Random random(11);
    for (int32_t i = 0; i < kM * strideA; ++i) a.As<half>()[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
    for (int32_t i = 0; i < kN * kK; ++i) b.As<half>()[i] = static_cast<half>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
    g_copies = 0;
    g_words = true;
    std::function<void()> kernel = [&] {
        TPipe pipe;
        using Operand = MatmulType<TPosition::GM, CubeFormat::ND, half>;
        using Result = MatmulType<TPosition::GM, CubeFormat::ND, float>;
        MatmulImpl<Operand, Operand, Result, Result, CFG_MDL, Callbacks, Policy> mm;
        mm.Init(&t, &pipe);
        mm.SetUserDefInfo(reinterpret_cast<uint64_t>(&t));
        mm.SetSelfDefineData(kSelf);
        GlobalTensor<half> left, right;
        GlobalTensor<float> out;
        left.SetGlobalBuffer(a.As<half>());
        right.SetGlobalBuffer(b.As<half>());
        out.SetGlobalBuffer(c.As<float>());
        mm.SetTensorA(left);
        mm.SetTensorB(right);
        mm.IterateAll(out); // and no End(): what still moves is waited for when the object goes
    };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul";
    info.type = ascendsim::KernelType::kAic;
    info.block_dim = 1;
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &kernel);
    Expect(result.completed && result.faults == 0, name + ": faults: " + result.first_fault);
    Expect(g_words, name + ": the function is told other words");
    for (int32_t i = 0; i < kM; ++i) {
        for (int32_t j = 0; j < kN; ++j) {
            float sum = 0;
            for (int32_t l = 0; l < kK; ++l) sum += static_cast<float>(a.As<half>()[i * strideA + l]) * static_cast<float>(b.As<half>()[l * kN + j]);
            if (c.As<float>()[i * strideC + j] != sum) {
                Fail(name + ": element " + std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(c.As<float>()[i * strideC + j]) +
                     " instead of " + std::to_string(sum));
                return g_copies;
            }
        }
    }
    return g_copies;
}

}  // namespace

int main()
{
    constexpr int kBlocks = (kM + kBase - 1) / kBase * (kN / kBase), kPieces = kK / kBase;
    Expect(Check<MatmulCallBackFunc<nullptr, CopyFarA>>("A", kFar, kN, false) == kBlocks * kPieces, "A comes piece by piece");
    Expect(Check<MatmulCallBackFunc<nullptr, nullptr, CopyB>>("B", kK, kN, false) == kBlocks * kPieces, "B comes piece by piece");
    Expect(Check<MatmulCallBackFunc<nullptr, CopyFarA, CopyB>>("both", kFar, kN, false) == 2 * kBlocks * kPieces, "both come piece by piece");
    Expect(Check<MatmulCallBackFunc<nullptr, nullptr, CopyWholeB>>("a whole B", kK, kN, true) == 1, "a whole B comes once and stays");
    Expect(Check<MatmulCallBackFunc<nullptr, nullptr, CopyWholeB>>("a whole B that is smaller than a piece would be", kK, kN, true, 1024) == 1, "it comes once and stays");
    Expect(Check<MatmulCallBackFunc<CopyFarC>>("C", kK, 2 * kN, false) == kBlocks, "C goes block by block");
    Expect(Check<MatmulCallBackFunc<>, Impl::Detail::NBuffer33MatmulPolicy>("a policy", kK, kN, false) == 0, "a policy changes no result");
    static_assert(ToMatmulConfig(CFG_MDL).doMultiDataLoad, "the configuration of a template argument");
    return Report("api_matmul_callbacks");
}
