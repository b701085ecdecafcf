// Matrix multiplication by the library on a cube core, with tilings of the host library, against plain C++ in double
// precision: dtypes, formats, transposed operands, bias, odd shapes, several cores.
#include <cmath>
#include <type_traits>
#include <vector>

#include "matmul_plan.h"

#include "global_memory.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
#include "machine/machine.h"

using namespace isa_test;

namespace {
using AscendC::MatmulType;
using AscendC::TPosition;

struct Case {
    int32_t m, n, k;
    bool transposedA, transposedB, bias;
    int32_t cores;
};

template <typename T>
plan::DataType Dtype()
{
    if constexpr (std::is_same<T, half>::value) {
        return plan::kHalf;
    } else if constexpr (std::is_same<T, bfloat16_t>::value) {
        return plan::kBfloat16;
    } else if constexpr (std::is_same<T, int8_t>::value) {
        return plan::kInt8;
    } else if constexpr (std::is_same<T, int32_t>::value) {
        return plan::kInt32;
    } else {
        return plan::kFloat;
    }
}

size_t Up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/// Place of element (row, column) of a matrix of `rows` x `columns`.
template <typename T>
size_t Place(CubeFormat format, size_t rows, size_t columns, size_t row, size_t column)
{
    if (format == CubeFormat::ND) {
        return row * columns + column;
    }
    const size_t c0 = sizeof(T) == 4 ? (std::is_same<T, float>::value ? 8 : 16) : 32 / sizeof(T);
    return column / c0 * Up(rows, 16) * c0 + row * c0 + column % c0;
}

template <typename T>
void FillMatrix(Random& random, Gm& gm, std::vector<double>& values, CubeFormat format, size_t rows, size_t columns)
{
    values.resize(rows * columns);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
            const float value = static_cast<float>(static_cast<int>(random.Below(17)) - 8);
            gm.As<T>()[Place<T>(format, rows, columns, r, c)] = static_cast<T>(value);
            values[r * columns + c] = value;
        }
    }
}

template <typename T, typename C, CubeFormat formatA, CubeFormat formatB, const auto& config = AscendC::CFG_NORM>
void Check(const Case& c, double tolerance, bool blockwise = false, bool keepB = false)
{
    using Bias = std::conditional_t<sizeof(T) == 1, int32_t, float>;
    Random random(static_cast<uint64_t>(c.m * 131 + c.n * 17 + c.k));
    const size_t m = static_cast<size_t>(c.m), n = static_cast<size_t>(c.n), k = static_cast<size_t>(c.k);
    const size_t padded = Up(m, 32) * Up(k, 32) + Up(n, 32) * Up(k, 32);
    // Results lie as both operands do; their fractals have sixteen columns, or 32 of bytes, and are whole ones.
    constexpr CubeFormat formatC = formatA == CubeFormat::NZ && formatB == CubeFormat::NZ ? CubeFormat::NZ : CubeFormat::ND;
    const auto placeC = [&](size_t row, size_t column) {
        return formatC == CubeFormat::NZ ? column / 16 * Up(m, 16) * 16 + row * 16 + column % 16 : row * n + column;
    };
    Gm a(padded * sizeof(T)), b(padded * sizeof(T)), bias(n * 4), out(Up(m, 16) * Up(n, 16) * sizeof(C));
    std::vector<double> left, right;
    FillMatrix<T>(random, a, left, formatA, c.transposedA ? k : m, c.transposedA ? m : k);
    FillMatrix<T>(random, b, right, formatB, c.transposedB ? n : k, c.transposedB ? k : n);
    for (size_t i = 0; i < n; ++i) {
        bias.As<Bias>()[i] = static_cast<Bias>(static_cast<int>(i % 29) - 11);
    }

    matmul_tiling::MultiCoreMatmulTiling tiling;
    tiling.SetDim(c.cores);
    const auto format = [](CubeFormat f) { return static_cast<matmul_tiling::CubeFormat>(f); };
    tiling.SetAType(matmul_tiling::TPosition::GM, format(formatA), Dtype<T>(), c.transposedA);
    tiling.SetBType(matmul_tiling::TPosition::GM, format(formatB), Dtype<T>(), c.transposedB);
    tiling.SetCType(matmul_tiling::TPosition::GM, format(formatC), Dtype<C>());
    tiling.SetBiasType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, Dtype<Bias>());
    tiling.SetShape(c.m, c.n, c.k);
    tiling.EnableBias(c.bias);
    if (keepB) {
        tiling.SetFixSplit(32, 32, 32);
        tiling.SetBufferSpace(128 * 1024);
    }
    AscendC::tiling::TCubeTiling planned;
    Expect(tiling.GetTiling(planned) == 0, "no tiling");

    std::function<void()> kernel = [&] {
        using namespace AscendC;
        TPipe pipe;
        MatmulImpl<MatmulType<TPosition::GM, formatA, T, true>, MatmulType<TPosition::GM, formatB, T, true>,
                   MatmulType<TPosition::GM, formatC, C>, MatmulType<TPosition::GM, CubeFormat::ND, Bias>, config>
            mm;
        mm.Init(&planned, &pipe);
        const int32_t mCores = (planned.M + planned.singleCoreM - 1) / planned.singleCoreM;
        const int32_t mAt = static_cast<int32_t>(GetBlockIdx()) % mCores * planned.singleCoreM;
        const int32_t nAt = static_cast<int32_t>(GetBlockIdx()) / mCores * planned.singleCoreN;
        GlobalTensor<T> aGm, bGm;
        GlobalTensor<C> cGm;
        GlobalTensor<Bias> biasGm;
        aGm.SetGlobalBuffer(a.As<T>());
        bGm.SetGlobalBuffer(b.As<T>());
        cGm.SetGlobalBuffer(out.As<C>());
        biasGm.SetGlobalBuffer(bias.As<Bias>());
        const size_t rowA = static_cast<size_t>(mAt), columnB = static_cast<size_t>(nAt);
        mm.SetTensorA(aGm[c.transposedA ? Place<T>(formatA, k, m, 0, rowA) : Place<T>(formatA, m, k, rowA, 0)],
                      c.transposedA);
        if (keepB) { // all of B in L1, put there by the kernel
            TQue<TPosition::B1, 1> queue;
            constexpr uint32_t side = sizeof(T) == 1 ? 32 : 16;
            const uint32_t rows = static_cast<uint32_t>(c.transposedB ? n : k), wide = static_cast<uint32_t>(c.transposedB ? k : n);
            const uint32_t stored = static_cast<uint32_t>(Up(rows, side));
            pipe.InitBuffer(queue, 1, stored * static_cast<uint32_t>(Up(wide, 32)) * sizeof(T));
            LocalTensor<T> kept = queue.template AllocTensor<T>();
            DataCopy(kept, bGm, Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(wide), 0,
                                            static_cast<uint16_t>(wide), static_cast<uint16_t>(stored), 1, 0));
            queue.EnQue(kept);
            kept = queue.template DeQue<T>();
            if (c.transposedB) {
                mm.SetTensorB(kept, true);
            } else {
                mm.SetTensorB(kept);
            }
            mm.SetTail(c.m, c.n);
            mm.IterateAll(cGm);
            mm.End();
            queue.FreeTensor(kept);
            return;
        }
        mm.SetTensorB(bGm[c.transposedB ? Place<T>(formatB, n, k, columnB, 0) : Place<T>(formatB, k, n, 0, columnB)],
                      c.transposedB);
        if (c.bias) {
            mm.SetBias(biasGm[columnB]);
        }
        mm.SetTail(c.m - mAt < planned.singleCoreM ? c.m - mAt : planned.singleCoreM,
                   c.n - nAt < planned.singleCoreN ? c.n - nAt : planned.singleCoreN);
        if (blockwise) {
            while (mm.Iterate()) {
                mm.GetTensorC(cGm[rowA * n + columnB]);
            }
        } else {
            mm.IterateAll(cGm[rowA * n + columnB]);
        }
        mm.End();
    };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul";
    info.type = ascendsim::KernelType::kAic;
    info.block_dim = static_cast<uint32_t>(planned.usedCoreNum);
    const auto result =
        ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &kernel);
    const std::string name = std::to_string(sizeof(T)) + " bytes, " + std::to_string(c.m) + "x" + std::to_string(c.n) +
                             "x" + std::to_string(c.k) + (c.transposedA ? ", A'" : "") + (c.transposedB ? ", B'" : "") +
                             (c.bias ? ", bias" : "") + (formatA == CubeFormat::NZ ? ", A NZ" : "") +
                             (formatB == CubeFormat::NZ ? ", B NZ" : "") + (formatC == CubeFormat::NZ ? ", C NZ" : "");
    Expect(result.faults == 0, name + ": faults: " + result.first_fault);
    for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
            double sum = c.bias ? static_cast<double>(static_cast<int>(j % 29) - 11) : 0;
            for (size_t l = 0; l < k; ++l) {
                sum += left[c.transposedA ? l * m + i : i * k + l] * right[c.transposedB ? j * k + l : l * n + j];
            }
            const double got = static_cast<double>(static_cast<float>(out.As<C>()[placeC(i, j)]));
            if (!(std::fabs(got - sum) <= tolerance * (1 + std::fabs(sum)))) {
                Fail(name + ": element " + std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(got) +
                     " instead of " + std::to_string(sum));
                return;
            }
        }
    }
}

template <typename T, typename C>
void CheckAll(double tolerance)
{
    constexpr CubeFormat nd = CubeFormat::ND, nz = CubeFormat::NZ;
    const int32_t shapes[][3] = {{16, 16, 16}, {1, 40, 24}, {33, 47, 61}, {130, 300, 200}, {64, 32, 700}};
    for (const auto& s : shapes) {
        for (int bits = 0; bits < 8; ++bits) {
            const Case c = {s[0], s[1], s[2], (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, 1 + bits % 3};
            Check<T, C, nd, nd>(c, tolerance, bits == 5);
        }
    }
    Check<T, C, nz, nd>({48, 64, 96, false, false, true, 1}, tolerance);
    Check<T, C, nz, nd>({33, 70, 100, false, false, false, 1}, tolerance);
    Check<T, C, nz, nz>({48, 80, 100, false, false, false, 1}, tolerance);
    Check<T, C, nz, nz>({64, 96, 64, true, true, false, 1}, tolerance);
    Check<T, C, nd, nd>({100, 96, 128, false, true, false, 1}, tolerance, false, true);
    if (sizeof(T) != 4) {
        Check<T, C, nd, nd>({70, 64, 96, true, false, false, 1}, tolerance, false, true);
    }
    Check<T, C, nd, nz, AscendC::CFG_MDL>({100, 90, 120, true, true, true, 2}, tolerance);
}
}  // namespace

int main()
{
    // Arguments of any width are taken in 16 bits.
    volatile uint32_t wide = 65536 + 4;
    const uint32_t value = wide;
    Expect(matmul::CeilDiv(5, 2) == 3 && matmul::CeilDiv(value, 2) == 2 && matmul::CeilAlign(17, 16) == 32, "CeilDiv");
    CheckAll<half, float>(1e-6);
    CheckAll<half, half>(1e-3);
    CheckAll<bfloat16_t, float>(1e-6);
    CheckAll<float, float>(1e-6);
    CheckAll<int8_t, int32_t>(0);
    return Report("api_matmul");
}
