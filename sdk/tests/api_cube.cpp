// Basic functions of the cube core: a multiplication by hand, from row-major matrices in global memory through L1, L0A, L0B
// and L0C back, against plain C++ in double precision.
#ifndef __DAV_C220_CUBE__
#define __DAV_C220_CUBE__ 1
#endif
#include <cmath>
#include <vector>

#include "global_memory.h"
#include "kernel_operator.h"
#include "machine/machine.h"

using namespace AscendC;
using namespace isa_test;

namespace {
void OnCube(Callee<void()> body)
{
    ascendsim::LaunchInfo info;
    info.kernel = "cube";
    info.type = ascendsim::KernelType::kAic;
    info.block_dim = 1;
    Callee<void()> copy = body;
    const auto result =
        ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<Callee<void()>*>(arg))(); }, &copy);
    Expect(result.faults == 0, "faults: " + result.first_fault);
}

constexpr uint32_t Up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

struct Shape {
    uint32_t m, n, k;
};

/// C = A B + bias, optionally with ReLU, all row-major, one block.
template <typename T, typename C, bool relu>
void Multiply(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, Shape s)
{
    TPipe pipe;
    constexpr uint32_t c0 = 32 / sizeof(T);
    const uint32_t m = Up(s.m, 16), n = Up(s.n, c0 > 16 ? c0 : 16), k = Up(s.k, c0 > 16 ? c0 : 16);
    TQue<TPosition::A1, 1> a1;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::C1, 1> c1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::C2, 1> c2;
    TQue<TPosition::CO1, 1> co1;
    pipe.InitBuffer(a1, 1, m * k * sizeof(T));
    pipe.InitBuffer(b1, 1, n * k * sizeof(T));
    pipe.InitBuffer(c1, 1, n * 4);
    pipe.InitBuffer(a2, 1, m * k * sizeof(T));
    pipe.InitBuffer(b2, 1, n * k * sizeof(T));
    pipe.InitBuffer(c2, 1, n * 4);
    pipe.InitBuffer(co1, 1, m * n * 4);
    GlobalTensor<T> aGm, bGm;
    GlobalTensor<float> biasGm;
    GlobalTensor<C> cGm;
    aGm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(a));
    bGm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(b));
    biasGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(bias));
    cGm.SetGlobalBuffer(reinterpret_cast<__gm__ C*>(c));

    LocalTensor<T> left = a1.AllocTensor<T>();
    DataCopy(left, aGm, Nd2NzParams(1, s.m, s.k, 0, s.k, m, 1, 0));
    a1.EnQue(left);
    LocalTensor<T> right = b1.AllocTensor<T>();
    DataCopy(right, bGm, Nd2NzParams(1, s.k, s.n, 0, s.n, k, 1, 0));
    b1.EnQue(right);
    LocalTensor<float> start = c1.AllocTensor<float>();
    DataCopy(start, biasGm, Nd2NzParams(1, 1, s.n, 0, s.n, 1, 1, 0));
    c1.EnQue(start);

    left = a1.DeQue<T>();
    LocalTensor<T> leftFractals = a2.AllocTensor<T>();
    for (uint32_t row = 0; row < m / 16; ++row) {
        LoadData(leftFractals[row * 16 * k], left, LoadData2DParams(row, k / c0, m / 16, 0, 0, false, 0));
    }
    a2.EnQue(leftFractals);
    a1.FreeTensor(left);
    right = b1.DeQue<T>();
    LocalTensor<T> rightFractals = b2.AllocTensor<T>();
    if constexpr (sizeof(T) == 2) {
        for (uint32_t row = 0; row < k / 16; ++row) {
            LoadData(rightFractals[row * 16 * n], right, LoadData2DParams(row, n / 16, k / 16, 0, 0, true, 0));
        }
    } else {
        // Squares of 32 x 32 bytes: two fractals one below the other become two side by side.
        for (uint32_t row = 0; row < k / 32; ++row) {
            LoadDataWithTranspose(
                rightFractals[row * 32 * n], right, LoadData2dTransposeParams(row, n / 32, k / 32, 1, 0));
        }
    }
    b2.EnQue(rightFractals);
    b1.FreeTensor(right);
    start = c1.DeQue<float>();
    LocalTensor<float> table = c2.AllocTensor<float>();
    DataCopy(table, start, DataCopyParams(1, static_cast<uint16_t>(n * 4 / 64), 0, 0));
    c2.EnQue(table);
    c1.FreeTensor(start);

    leftFractals = a2.DeQue<T>();
    rightFractals = b2.DeQue<T>();
    table = c2.DeQue<float>();
    using Accumulator = std::conditional_t<sizeof(T) == 1, int32_t, float>;
    LocalTensor<Accumulator> result = co1.AllocTensor<Accumulator>();
    MmadParams params;
    params.m = s.m;
    params.n = n; // squares fill whole rows of fractals
    params.k = s.k;
    if constexpr (sizeof(T) == 2) {
        params.cmatrixInitVal = false;
        Mmad(result, leftFractals, rightFractals, table, params);
    } else {
        Mmad(result, leftFractals, rightFractals, params);
    }
    co1.EnQue(result);
    a2.FreeTensor(leftFractals);
    b2.FreeTensor(rightFractals);
    c2.FreeTensor(table);
    result = co1.DeQue<Accumulator>();
    FixpipeParamsV220 fixpipe(s.n, s.m, m, s.n, relu);
    if (sizeof(C) == 2) {
        fixpipe.quantPre = QuantMode_t::F322F16;
    }
    Fixpipe<C, Accumulator, CFG_ROW_MAJOR>(cGm, result, fixpipe);
    co1.FreeTensor(result);
}

template <typename T, typename C, bool relu>
void Check(Shape s, double tolerance)
{
    Random random(s.m * 131 + s.n * 17 + s.k);
    Gm a(s.m * s.k * sizeof(T)), b(s.k * s.n * sizeof(T)), bias(s.n * 4), c(s.m * s.n * sizeof(C));
    T* const left = a.As<T>();
    T* const right = b.As<T>();
    for (uint32_t i = 0; i < s.m * s.k; ++i) {
        left[i] = static_cast<T>(static_cast<float>(static_cast<int>(random.Next() % 17) - 8));
    }
    for (uint32_t i = 0; i < s.k * s.n; ++i) {
        right[i] = static_cast<T>(static_cast<float>(static_cast<int>(random.Next() % 17) - 8));
    }
    for (uint32_t i = 0; i < s.n; ++i) {
        bias.As<float>()[i] = static_cast<float>(i % 23) * 0.5f;
    }
    OnCube([&] { Multiply<T, C, relu>(a.Bytes(), b.Bytes(), bias.Bytes(), c.Bytes(), s); });
    for (uint32_t i = 0; i < s.m; ++i) {
        for (uint32_t j = 0; j < s.n; ++j) {
            double sum = sizeof(T) == 2 ? bias.As<float>()[j] : 0;
            for (uint32_t l = 0; l < s.k; ++l) {
                sum += static_cast<double>(static_cast<float>(left[i * s.k + l])) *
                       static_cast<double>(static_cast<float>(right[l * s.n + j]));
            }
            sum = relu && sum < 0 ? 0 : sum;
            const double got = static_cast<double>(static_cast<float>(c.As<C>()[i * s.n + j]));
            if (!(std::fabs(got - sum) <= tolerance * (1 + std::fabs(sum)))) {
                Fail(std::to_string(sizeof(T)) + " bytes, " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + ": element " + std::to_string(i) + "," + std::to_string(j) + ": " + std::to_string(got) +
                     " instead of " + std::to_string(sum));
                return;
            }
        }
    }
}
}  // namespace

/// What is no finite half comes out as it is, or saturated where a kernel asks for that.
void CheckSpecial(bool saturates)
{
    constexpr uint32_t side = 16;
    Gm a(side * side * 2), b(side * side * 2), bias(side * 4), c(side * side * 2);
    for (uint32_t i = 0; i < side; ++i) {
        b.As<half>()[i * side + i] = static_cast<half>(2.0f);
    }
    a.As<half>()[0] = half::FromBits(0x7C00);         // an infinity
    a.As<half>()[side + 1] = half::FromBits(0x7E00);  // no number
    a.As<half>()[2 * side + 2] = static_cast<half>(-40000.0f);
    OnCube([&] {
        AscendCUtils::SetOverflow(saturates ? 0 : 1);
        Multiply<half, half, false>(a.data.data(), b.data.data(), bias.data.data(), c.data.data(), Shape{side, side, side});
    });
    const uint16_t want[] = {static_cast<uint16_t>(saturates ? 0x7BFF : 0x7C00), static_cast<uint16_t>(saturates ? 0 : 0x7E00),
                             static_cast<uint16_t>(saturates ? 0xFBFF : 0xFC00)};
    for (uint32_t i = 0; i < 3; ++i) {
        const uint16_t got = c.As<half>()[i * side + i].Bits();
        const bool is_number = i != 1 || saturates;
        Expect(is_number ? got == want[i] : (got & 0x7C00) == 0x7C00 && (got & 0x3FF) != 0,
               "special value " + std::to_string(i) + (saturates ? " saturates" : " stays") + ": " + std::to_string(got));
    }
}

int main()
{
    CheckSpecial(false);
    CheckSpecial(true);
    for (const Shape& s : {Shape{16, 16, 16}, Shape{33, 47, 61}, Shape{128, 64, 32}, Shape{5, 100, 17}}) {
        Check<half, float, false>(s, 1e-6);
        Check<half, half, true>(s, 1e-3);
        Check<bfloat16_t, float, false>(s, 1e-6);
        Check<int8_t, int32_t, false>(s, 0);
    }
    return Report("api_cube");
}
