// Quantisation and running sums against plain arithmetic.
#include <algorithm>

#include "kernel_operator.h"

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;

constexpr A::CumSumConfig kDown = {false, false, true};
constexpr A::CumSumConfig kDownOnly = {false, false, false};

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

/// Runs `call`, which writes `count` elements of slot 0, and says whether all others stay as they were, but for temporary memory.
template <typename D>
void Within(const char* what, uint32_t count, Callee<void()> call)
{
    std::memset(Raw<uint8_t>(0), 0x3C, kBytes);
    const Kept<kBytes> kept;
    call();
    kept.But(what, {{0, count * sizeof(D)}, {6, 4 * kBytes}});
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
        Within<int8_t>("AscendQuant", count, [&] { A::AscendQuant(At<int8_t>(0), At<T>(1), Temporary(bytes), 60.0f, 3.0f, count); });
        for (uint32_t i = 0; i < count; ++i) {
            Quantized("AscendQuant", Raw<int8_t>(0)[i], Value(Raw<T>(1)[i]) * 60 + 3);
        }
        Within<int8_t>("AscendQuant by column", count, [&] {
            A::AscendQuant(At<int8_t>(0), At<T>(1), Temporary(bytes), At<T>(2), At<T>(3), columns, columns, count);
        });
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
        const Kept<kBytes> others;
        A::AscendDequant(At<D>(0), At<int32_t>(1), At<S>(2), Temporary(bytes), params);
        others.But("AscendDequant", {{0, (2 * stride + 70) * sizeof(D)}, {6, bytes}});
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
    // Six rows of weights, or nine of 64, or three of 192; pieces of 64 weights (and of 160) fill none of them, nor all of them together.
    const uint32_t k = 6;
    const uint32_t n = 96;
    const auto pieces = [](uint32_t weights) { return Temporary(weights * (std::is_same<D, half>::value ? 2 : 8)); };
    const double precision = std::is_same<D, half>::value ? 2e-3 : 1.0 / 256;
    Random random(4);
    for (uint32_t i = 0; i < k * n; ++i) {
        Raw<int8_t>(1)[i] = static_cast<int8_t>(random.Below(256));
    }
    Fill<D>(2, 5, -4, 4);
    Fill<D>(3, 6, 0.1, 2);
    const auto run = [&](const char* what, Callee<void()> call, const std::function<std::pair<double, double>(uint32_t)>& of) {
        Within<D>(what, k * n, call);
        for (uint32_t i = 0; i < k * n; ++i) {
            const auto [offset, scale] = of(i);
            const double sum = Value(Raw<int8_t>(1)[i]) + offset;
            const double got = Value(Raw<D>(0)[i]);
            Expect(std::fabs(got - scale * sum) <= precision * scale * (std::fabs(sum) + 4), std::string(what) + ": " + std::to_string(got) + ", expected " + std::to_string(scale * sum));
        }
    };
    const auto offset = [](uint32_t at) { return Value(Raw<D>(2)[at]); };
    const auto scale = [](uint32_t at) { return Value(Raw<D>(3)[at]); };
    const A::LocalTensor<int8_t> weights = At<int8_t>(1, k * n);
    run("AscendAntiQuant", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(2), At<D>(3), Temporary(2048), k, {2, n, 2, n}); },
        [&](uint32_t i) { return std::make_pair(offset(i / n / 3 * n + i % n), scale(i / n / 3 * n + i % n)); });
    run("AscendAntiQuant in its own memory", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(2), At<D>(3), k, {3, n, 3, n}); },
        [&](uint32_t i) { return std::make_pair(offset(i / n / 2 * n + i % n), scale(i / n / 2 * n + i % n)); });
    run("AscendAntiQuant without offsets", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(3), pieces(64), k, {1, n, 1, n}); },
        [&](uint32_t i) { return std::make_pair(0.0, scale(i % n)); });
    run("AscendAntiQuant in pieces", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(2), At<D>(3), pieces(64), k, {2, n, 2, n}); },
        [&](uint32_t i) { return std::make_pair(offset(i / n / 3 * n + i % n), scale(i / n / 3 * n + i % n)); });
    // Without sizes of the scales their tensor says how many groups there are, and one that does not say so has one.
    const uint32_t sizes[] = {2, n};
    A::LocalTensor<D> scales = At<D>(3);
    scales.SetShapeInfo(A::ShapeInfo(2, sizes));
    run("AscendAntiQuant by the tensor's shape", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, scales, pieces(64), k); },
        [&](uint32_t i) { return std::make_pair(0.0, scale(i / n / 3 * n + i % n)); });
    run("AscendAntiQuant of one group", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, At<D>(3), Temporary(256), k); },
        [&](uint32_t i) { return std::make_pair(0.0, scale(i % n)); });
    run("AscendAntiQuant transposed", [&] { A::AscendAntiQuant<int8_t, D, true>(At<D>(0), weights, At<D>(2), At<D>(3), Temporary(256), 64, {9, 2, 9, 2}); },
        [&](uint32_t i) { return std::make_pair(offset(i / 32), scale(i / 32)); });
    run("AscendAntiQuant transposed, long runs", [&] { A::AscendAntiQuant<int8_t, D, true>(At<D>(0), weights, At<D>(3), pieces(64), 192, {3, 2, 3, 2}); },
        [&](uint32_t i) { return std::make_pair(0.0, scale(i / 96)); });
    run("AscendAntiQuant transposed, long runs with offsets", [&] { A::AscendAntiQuant<int8_t, D, true>(At<D>(0), weights, At<D>(2), At<D>(3), pieces(64), 192, {3, 2, 3, 2}); },
        [&](uint32_t i) { return std::make_pair(offset(i / 96), scale(i / 96)); });
    const auto two = static_cast<D>(2.0f), quarter = static_cast<D>(0.25f);
    run("AscendAntiQuant by one scale", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, two, quarter, k); },
        [](uint32_t) { return std::make_pair(2.0, 0.25); });
    run("AscendAntiQuant by one scale in pieces", [&] { A::AscendAntiQuant<int8_t, D, false>(At<D>(0), weights, two, quarter, pieces(160), k); },
        [](uint32_t) { return std::make_pair(2.0, 0.25); });
    run("AscendAntiQuant by one scale without offset", [&] { A::AscendAntiQuant<int8_t, D, true>(At<D>(0), weights, quarter, pieces(160), k); },
        [](uint32_t) { return std::make_pair(0.0, 0.25); });
}

/// Rows fill whole blocks where there are several, and have no more elements than they are long.
void DequantRows()
{
    for (const A::DequantParams& some : {A::DequantParams{1, 80, 80}, {1, 80, 81}, {2, 72, 72}, {2, 76, 72}, {1, 76, 72}, {1, 80, 0}, {1, 60, 30}, {1, 160, 64}}) {
        bool further = false;
        const auto result = OnCore([&] {
            std::memset(Raw<uint8_t>(0), 0x3C, kBytes);
            std::memset(Raw<uint8_t>(1), 0, 2 * kBytes);
            A::AscendDequant(At<half>(0), At<int32_t>(1), At<float>(2), Temporary(1024), some);
            further = std::any_of(Raw<half>(0) + some.calCount, Raw<half>(0) + 256, [](half value) { return value.Bits() != 0x3C3C; });
        });
        Expect((result.first_fault.rfind("bad_argument: AscendDequant: ", 0) == 0) == (some.calCount == 81 || (some.m == 2 && some.n == 76)),
               "AscendDequant of rows of " + std::to_string(some.n) + ": " + result.first_fault);
        Expect(further == (some.m == 2 && some.n == 72), "AscendDequant of " + std::to_string(some.calCount) + " elements of a row of " + std::to_string(some.n));
    }
}

/// Weights are whole rows, and rows whole groups.
void AntiQuantRows()
{
    for (const auto& [k, groups] : {std::make_pair(6u, 2u), {6u, 4u}, {5u, 1u}, {0u, 1u}, {7u, 2u}}) {
        const auto result = OnCore([k = k, groups = groups] {
            A::AscendAntiQuant<int8_t, half, false>(At<half>(0), At<int8_t>(1, 576), At<half>(2), At<half>(3), Temporary(2048), k, {groups, 96, groups, 96});
        });
        Expect((result.first_fault.rfind("bad_argument: AscendAntiQuant", 0) == 0) == (k != 6 || groups != 2),
               "AscendAntiQuant of " + std::to_string(k) + " rows in " + std::to_string(groups) + " groups: " + result.first_fault);
    }
}

/// Without room for 32 elements a piece nothing is computed, and the fault says how many bytes they take.
void TooSmall()
{
    using Call = std::function<void(const A::LocalTensor<uint8_t>&)>;
    const A::AntiQuantShapeInfo group = {1, 64, 1, 64};
    const auto weights = [] { return At<int8_t>(1, 128); };
    const struct {
        const char* name;
        uint32_t least;
        Call call;
    } all[] = {
        {"AscendQuant", 128, [](auto& t) { A::AscendQuant(At<int8_t>(0), At<half>(1), t, 60.0f, 3.0f, 64); }},
        {"AscendQuant", 128, [](auto& t) { A::AscendQuant(At<int8_t>(0), At<float>(1), t, At<float>(2), At<float>(3), 32, 32, 64); }},
        {"AscendDequant", 256, [](auto& t) { A::AscendDequant(At<half>(0), At<int32_t>(1), At<float>(2), t, A::DequantParams{2, 64, 64}); }},
        {"AscendDequant", 256, [](auto& t) { A::AscendDequant(At<half>(0), At<int32_t>(1), 0.5f, t, A::DequantParams{2, 64, 64}); }},
        {"AscendAntiQuant", 64, [&](auto& t) { A::AscendAntiQuant<int8_t, half, false>(At<half>(0), weights(), half(2.0f), half(1.0f), t, 2); }},
        {"AscendAntiQuant", 64, [&](auto& t) { A::AscendAntiQuant<int8_t, half, false>(At<half>(0), weights(), At<half>(2), At<half>(3), t, 2, group); }},
        {"AscendAntiQuant", 256, [&](auto& t) { A::AscendAntiQuant<int8_t, bfloat16_t, true>(At<bfloat16_t>(0), weights(), At<bfloat16_t>(3), t, 64); }},
    };
    for (const auto& one : all) {
        for (const uint32_t bytes : {one.least, one.least - 1}) {
            bool written = false;
            const auto result = OnCore([&] {
                std::memset(ascendsim::UbBase(), 0, 7 * kBytes);
                std::memset(Raw<uint8_t>(0), 0x3C, kBytes);
                one.call(Temporary(bytes));
                written = std::any_of(Raw<uint8_t>(0), Raw<uint8_t>(0) + kBytes, [](uint8_t byte) { return byte != 0x3C; });
            });
            const std::string says = std::string("bad_argument: ") + one.name + ": a temporary buffer of " + std::to_string(bytes) +
                                     " bytes is too small; it takes at least " + std::to_string(one.least);
            Expect(bytes == one.least ? result.faults == 0 && written : result.faults == 1 && !written && result.first_fault.rfind(says, 0) == 0,
                   std::string(one.name) + " with " + std::to_string(bytes) + " bytes: " + result.first_fault);
        }
    }
}

/// Results fill blocks of 32, in rows of whole blocks.
void QuantRows()
{
    for (const auto& [columns, count] : {std::make_pair(32u, 64u), {64u, 64u}, {0u, 64u}, {0u, 48u}, {32u, 48u}, {48u, 96u}, {31u, 32u}, {32u, 63u}}) {
        bool written = false;
        const auto result = OnCore([&, columns = columns, count = count] {
            std::memset(Raw<uint8_t>(0), 0x3C, kBytes);
            std::memset(Raw<uint8_t>(1), 0, 3 * kBytes);
            A::AscendQuant(At<int8_t>(0), At<half>(1), Temporary(1024), At<half>(2), At<half>(3), columns, columns, count);
            written = Raw<uint8_t>(0)[0] != 0x3C;
        });
        const bool whole = columns != 0 && columns % 32 == 0 && count % 32 == 0;
        Expect(written == whole && (whole ? result.faults == 0 : result.faults == 1 && result.first_fault.rfind("misaligned: AscendQuant: ", 0) == 0),
               "AscendQuant of " + std::to_string(count) + " in rows of " + std::to_string(columns) + ": " + result.first_fault);
    }
}

/// Scales of eight bytes are packed first, four bytes each in whole blocks; what is behind them is for the pieces.
void RoomsOfWideScales()
{
    for (const uint32_t count : {57u, 64u}) {
        for (const uint32_t bytes : {255u, 256u, 257u, 511u, 512u}) {
            const auto result = OnCore([&] {
                std::memset(Raw<uint8_t>(1), 0, 2 * kBytes);
                A::AscendDequant(At<half>(0), At<int32_t>(1), At<uint64_t>(2), Temporary(bytes), A::DequantParams{1, 64, count});
            });
            const std::string says = bytes <= 256 ? std::to_string(bytes) + " bytes has no room for " + std::to_string(count) + " scales"
                                                  : std::to_string(bytes - 256) + " bytes is too small; it takes at least 256";
            Expect(bytes == 512 ? result.faults == 0 : result.faults == 1 && result.first_fault.rfind("bad_argument: AscendDequant: a temporary buffer of " + says, 0) == 0,
                   "AscendDequant by wide scales with " + std::to_string(bytes) + " bytes: " + result.first_fault);
        }
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
    LooksForIdle() = true;
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
        Raw<half>(0)[0] = half(7.0f);
        A::CumSum<half, kDownOnly>(At<half>(0), At<half>(3), At<half>(1), Temporary(128), {0, 16});
        Expect(static_cast<float>(Raw<half>(0)[0]) == 7, "CumSum of no rows");
    });
    TooSmall();
    RoomsOfWideScales();
    QuantRows();
    const auto two = OnCore([] { A::CumSum<half, kDownOnly>(At<half>(0), At<half>(3), At<half>(1), Temporary(64), {2, 16}); });
    Expect(two.first_fault.find("CumSum: the temporary buffer has 64 bytes, it takes 128") != std::string::npos, "CumSum of two rows: " + two.first_fault);
    DequantRows();
    AntiQuantRows();
    // Nothing of temporary memory counts before it is written.
    ExpectWrittenFirst("quantisation", 6 * kBytes, 8 * kBytes, [] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> operands;
        pipe.InitBuffer(operands, 6 * kBytes);
        Quant<half>();
        Dequant<half, float>();
        AntiQuant<half>();
        AntiQuant<bfloat16_t>();
        RunningSums<float>(5, 24);
    });
    return Report("api_quantization");
}
