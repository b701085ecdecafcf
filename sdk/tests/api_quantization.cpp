// Quantisation and running sums against plain arithmetic.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

constexpr A::CumSumConfig kDown = {false, false, true};

namespace {

constexpr uint32_t kBytes = 16384;

template <typename T>
A::LocalTensor<T> At(uint32_t slot, uint32_t count = 0)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kBytes, count == 0 ? kBytes / sizeof(T) : count);
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kBytes);
}
A::LocalTensor<uint8_t> Temporary(uint32_t bytes) { return A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 6 * kBytes, bytes); }
template <typename T>
double Value(T value)
{
    return static_cast<double>(static_cast<float>(value));
}
template <typename T>
void Fill(uint32_t slot, uint64_t seed, double low, double high)
{
    Random random(seed);
    for (uint32_t i = 0; i < kBytes / sizeof(T); ++i) {
        Raw<T>(slot)[i] = static_cast<T>(static_cast<float>(random.Real(low, high)));
    }
}

/// The hardware rounds in half on the way, so that a result may be the next whole number.
void Quantized(const char* what, int8_t got, double exact)
{
    const double want = std::max(-128.0, std::min(127.0, std::nearbyint(exact)));
    Expect(std::fabs(got - want) <= (std::fabs(exact - std::floor(exact) - 0.5) < 0.1 ? 1 : 0),
           std::string(what) + ": " + std::to_string(got) + " for " + std::to_string(exact));
}

template <typename T>
void Quant()
{
    const uint32_t columns = 96;
    const uint32_t count = 5 * columns;
    Fill<T>(1, 1, -3, 3);
    Fill<T>(2, 2, 5, 30);
    Fill<T>(3, 3, -20, 20);
    for (const uint32_t bytes : {256u, 8192u}) {
        A::AscendQuant(At<int8_t>(0), At<T>(1), Temporary(bytes), 60.0f, 3.0f, count);
        for (uint32_t i = 0; i < count; ++i) {
            Quantized("AscendQuant", Raw<int8_t>(0)[i], Value(Raw<T>(1)[i]) * 60 + 3);
        }
        A::AscendQuant(At<int8_t>(0), At<T>(1), Temporary(bytes), At<T>(2), At<T>(3), columns, columns, count);
        for (uint32_t i = 0; i < count; ++i) {
            Quantized("AscendQuant by column", Raw<int8_t>(0)[i], Value(Raw<T>(1)[i]) * Value(Raw<T>(2)[i % columns]) + Value(Raw<T>(3)[i % columns]));
        }
        A::AscendQuant<T>(At<int8_t>(0), At<T>(1), At<T>(2), static_cast<T>(-7.0f), columns, count);
        for (uint32_t i = 0; i < count; ++i) {
            Quantized("AscendQuant by column, one offset", Raw<int8_t>(0)[i], Value(Raw<T>(1)[i]) * Value(Raw<T>(2)[i % columns]) - 7);
        }
    }
}

template <typename D, typename S>
void Dequant()
{
    const A::DequantParams params = {3, 72, 70};
    const uint32_t stride = (72 + 32 / sizeof(D) - 1) / (32 / sizeof(D)) * (32 / sizeof(D));
    const double precision = sizeof(D) == 4 ? 2e-7 : std::is_same<D, half>::value ? 5e-4 : 4e-3;
    Random random(8);
    for (uint32_t i = 0; i < 1024; ++i) {
        Raw<int32_t>(1)[i] = static_cast<int32_t>(random.Below(20000)) - 10000;
        const float scale = static_cast<float>(random.Real(0.001, 0.1));
        if constexpr (std::is_same<S, uint64_t>::value) {
            Raw<uint64_t>(2)[i] = 0x5500000000ull << 8;
            std::memcpy(&Raw<uint64_t>(2)[i], &scale, 4);
        } else {
            Raw<S>(2)[i] = static_cast<S>(scale);
        }
    }
    const auto scaleOf = [](uint32_t i) {
        if constexpr (std::is_same<S, uint64_t>::value) {
            float scale;
            std::memcpy(&scale, &Raw<uint64_t>(2)[i], 4);
            return static_cast<double>(scale);
        } else {
            return Value(Raw<S>(2)[i]);
        }
    };
    const auto near = [&](const char* what, double got, double want) {
        Expect(std::fabs(got - want) <= precision * std::fabs(want), std::string(what) + ": " + std::to_string(got) + ", expected " + std::to_string(want));
    };
    for (const uint32_t bytes : {800u, 16384u}) {
        Fill<D>(0, 9, 1, 2);
        const D kept = Raw<D>(0)[71];
        A::AscendDequant(At<D>(0), At<int32_t>(1), At<S>(2), Temporary(bytes), params);
        for (uint32_t row = 0; row < params.m; ++row) {
            for (uint32_t c = 0; c < params.calCount; ++c) {
                near("AscendDequant", Value(Raw<D>(0)[row * stride + c]), Raw<int32_t>(1)[row * 72 + c] * scaleOf(c));
            }
        }
        Expect(Value(Raw<D>(0)[71]) == Value(kept), "AscendDequant leaves what lies behind its count");
        // A single row that is several times as long as the scales.
        A::AscendDequant(At<D>(0), At<int32_t>(1, 256), At<S>(2, 64), Temporary(bytes), 64);
        for (uint32_t i = 0; i < 256; ++i) {
            near("AscendDequant of one long row", Value(Raw<D>(0)[i]), Raw<int32_t>(1)[i] * scaleOf(i % 64));
        }
    }
    A::AscendDequant(At<D>(0), At<int32_t>(1), 0.5f, Temporary(1024), A::DequantParams{1, 80, 80});
    for (uint32_t i = 0; i < 80; ++i) {
        near("AscendDequant by one scale", Value(Raw<D>(0)[i]), Raw<int32_t>(1)[i] * 0.5);
    }
}

template <typename D>
void AntiQuant()
{
    const uint32_t k = 6;
    const uint32_t n = 64;
    const double precision = std::is_same<D, half>::value ? 2e-3 : 1.0 / 256;
    Random random(4);
    for (uint32_t i = 0; i < k * n; ++i) {
        Raw<int8_t>(1)[i] = static_cast<int8_t>(random.Below(256));
    }
    Fill<D>(2, 5, -4, 4);
    Fill<D>(3, 6, 0.1, 2);
    const auto near = [&](const char* what, uint32_t at, double offset, double scale) {
        const double sum = Value(Raw<int8_t>(1)[at]) + offset;
        const double got = Value(Raw<D>(0)[at]);
        Expect(std::fabs(got - scale * sum) <= precision * scale * (std::fabs(sum) + 4), std::string(what) + ": " + std::to_string(got) + ", expected " + std::to_string(scale * sum));
    };
    const A::LocalTensor<int8_t> weights = At<int8_t>(1, k * n);
    A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(2), At<D>(3), Temporary(2048), k, {2, n, 2, n});
    for (uint32_t i = 0; i < k * n; ++i) {
        const uint32_t parameter = i / n / 3 * n + i % n;
        near("AscendAntiQuant", i, Value(Raw<D>(2)[parameter]), Value(Raw<D>(3)[parameter]));
    }
    A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(3), Temporary(256), k, {1, n, 1, n});
    for (uint32_t i = 0; i < k * n; ++i) {
        near("AscendAntiQuant without offsets", i, 0, Value(Raw<D>(3)[i % n]));
    }
    // Without sizes of the scales their tensor says how many groups there are, and one that does not say so has one.
    const uint32_t sizes[] = {2, n};
    A::LocalTensor<D> scales = At<D>(3);
    scales.SetShapeInfo(A::ShapeInfo(2, sizes));
    A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, scales, Temporary(256), k);
    for (uint32_t i = 0; i < k * n; ++i) {
        near("AscendAntiQuant by the tensor's shape", i, 0, Value(Raw<D>(3)[i / n / 3 * n + i % n]));
    }
    A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(3), Temporary(256), k);
    for (uint32_t i = 0; i < k * n; ++i) {
        near("AscendAntiQuant of one group", i, 0, Value(Raw<D>(3)[i % n]));
    }
    A::AscendAntiQuant<int8_t, D, true>(At<D>(0), weights, At<D>(2), At<D>(3), Temporary(256), 64, {6, 2, 6, 2});
    for (uint32_t i = 0; i < k * n; ++i) {
        near("AscendAntiQuant transposed", i, Value(Raw<D>(2)[i / 32]), Value(Raw<D>(3)[i / 32]));
    }
    A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, static_cast<D>(2.0f), static_cast<D>(0.25f), k);
    for (uint32_t i = 0; i < k * n; ++i) {
        near("AscendAntiQuant by one scale", i, 2, 0.25);
    }
}

template <typename T>
void RunningSums(uint32_t outter, uint32_t inner)
{
    Fill<T>(1, outter, -1, 1);
    std::vector<double> x(outter * inner);
    for (uint32_t i = 0; i < outter * inner; ++i) {
        x[i] = Value(Raw<T>(1)[i]);
    }
    const double precision = sizeof(T) == 2 ? 1e-3 : 4e-6;
    const auto check = [&](const char* what, uint32_t step, uint32_t length, uint32_t runs, uint32_t between) {
        for (uint32_t run = 0; run < runs; ++run) {
            double sum = 0;
            for (uint32_t i = 0; i < length; ++i) {
                const uint32_t at = run * between + i * step;
                sum += x[at];
                Expect(std::fabs(Value(Raw<T>(0)[at]) - sum) <= precision * (std::fabs(sum) + 1), std::string(what) + " of " + std::to_string(sizeof(T)) + " bytes");
            }
        }
        Expect(std::memcmp(Raw<T>(3), Raw<T>(0) + (outter - 1) * inner, inner * sizeof(T)) == 0, std::string(what) + " gives the last row");
    };
    const uint32_t bytes = 16 * inner * (sizeof(T) == 2 ? 6 : 8);
    A::LocalTensor<T> last = At<T>(3);
    A::CumSum<T>(At<T>(0), last, At<T>(1), Temporary(bytes), {outter, inner});
    check("CumSum along rows", 1, inner, outter, inner);
    A::CumSum<T, kDown>(At<T>(0), last, At<T>(1), Temporary(outter * inner * 4), {outter, inner});
    check("CumSum along columns", inner, outter, inner, 1);
}

}  // namespace

int main()
{
    OnCore([] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> operands;
        pipe.InitBuffer(operands, 6 * kBytes);
        Quant<half>();
        Quant<float>();
        Dequant<half, float>();
        Dequant<float, float>();
        Dequant<bfloat16_t, bfloat16_t>();
        Dequant<half, uint64_t>();
        AntiQuant<half>();
        AntiQuant<bfloat16_t>();
        for (const uint32_t outter : {1u, 3u, 16u, 37u}) {
            RunningSums<float>(outter, 8);
            RunningSums<float>(outter, 88);
            RunningSums<half>(outter, 16);
            RunningSums<half>(outter, 112);
        }
    });
    return Report("api_quantization");
}
