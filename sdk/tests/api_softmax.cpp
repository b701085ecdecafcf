// Softmax and what goes with it against double precision: dtypes, padded rows, many and long rows, small temporary buffers.
// A header of its own first: it brings what it needs.
#include "lib/activation/softmax.h"

#include "kernel_operator.h"

#include "api_slots.h"

#include <algorithm>

using namespace isa_test;
namespace A = AscendC;

constexpr A::SoftmaxConfig kAlone = {false, 0, 0, A::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};

namespace {

constexpr uint32_t kSlot = 32 * 1024;
using Slot = Slots<kSlot>;

// Values per row: two blocks each of 8 KiB in slot 3.
template <typename T>
A::LocalTensor<T> Values(uint32_t which)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, 3 * kSlot + which * 6144, 6144 / sizeof(T));
}
template <typename T>
T* RawValues(uint32_t which)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + 3 * kSlot + which * 6144);
}
A::LocalTensor<uint8_t> Temporary(uint32_t bytes) { return A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kSlot, bytes); }

struct Size {
    uint32_t m;
    uint32_t k;
    uint32_t columns;
};

template <typename T>
void Near(const std::string& what, T got, double want, double scale = 1)
{
    const double value = static_cast<double>(static_cast<float>(got));
    const double tolerance = (sizeof(T) == 2 ? 1.0 / 1024 : 4e-6) * (std::fabs(want) + 1e-5 * scale) + (sizeof(T) == 2 ? 6e-8 : 0);
    if (!(std::fabs(value - want) <= tolerance) && !Same(value, want)) {
        Fail(what + ": " + std::to_string(value) + ", expected " + std::to_string(want));
    }
}

template <typename T>
std::vector<double> FillRows(uint32_t slot, const Size& size, uint64_t seed, double low, double high)
{
    Random random(seed);
    std::vector<double> values(size.m * size.k);
    for (size_t i = 0; i < values.size(); ++i) {
        const T value = static_cast<T>(static_cast<float>(random.Real(low, high)));
        Slot::Raw<T>(slot)[i] = value;
        values[i] = static_cast<double>(static_cast<float>(value));
    }
    return values;
}

struct Row {
    double max = -INFINITY;
    double sum = 0;
};
Row RowOf(const std::vector<double>& values, const Size& size, uint32_t row, double known = -INFINITY, double knownSum = 0)
{
    Row result;
    result.max = known;
    for (uint32_t c = 0; c < size.columns; ++c) {
        result.max = std::max(result.max, values[row * size.k + c]);
    }
    for (uint32_t c = 0; c < size.columns; ++c) {
        result.sum += std::exp(values[row * size.k + c] - result.max);
    }
    if (knownSum > 0) {
        result.sum += std::exp(known - result.max) * knownSum;
    }
    return result;
}

template <typename T>
SoftMaxTiling TilingOf(const Size& size)
{
    SoftMaxTiling tiling;
    tiling.srcM = size.m;
    tiling.srcK = size.k;
    return tiling;
}
std::string Name(const char* what, const Size& size, size_t bytes)
{
    return std::string(what) + " " + std::to_string(size.m) + "x" + std::to_string(size.columns) + "/" + std::to_string(size.k) +
           " b" + std::to_string(bytes * 8);
}

template <typename T, typename U>
void Case(const Size& size, uint32_t bytes)
{
    constexpr uint32_t perValue = 32 / sizeof(U);
    constexpr uint32_t perExp = 32 / sizeof(T);
    const A::SoftMaxShapeInfo info = {size.m, size.k, size.m, size.columns};
    const SoftMaxTiling tiling = TilingOf<T>(size);
    const std::vector<double> x = FillRows<T>(0, size, size.k, -6, 6);
    const auto each = [&](auto check) {
        for (uint32_t row = 0; row < size.m; ++row) {
            for (uint32_t c = 0; c < size.columns; ++c) {
                check(row, row * size.k + c);
            }
        }
    };
    const Kept<kSlot> kept;
    const auto only = [&](const std::string& what, uint32_t slot) {
        const size_t perRow = size.m * 32;  // values fill a block each
        std::vector<std::pair<uint32_t, size_t>> places = {{1, size.m * size.k * sizeof(T)}, {3, 2 * 6144 + perRow}, {4, bytes}};
        if (slot == 0) {
            places.push_back({0, size.m * size.k * sizeof(T)});
        }
        kept.But(what, places);
    };
    // Plain, then in place.
    A::SoftMax<T>(Slot::At<T>(1), Values<U>(0), Values<U>(1), Slot::At<T>(0), Temporary(bytes), tiling, info);
    std::string what = Name("SoftMax", size, sizeof(T));
    std::vector<Row> rows;
    for (uint32_t row = 0; row < size.m; ++row) {
        rows.push_back(RowOf(x, size, row));
        for (const uint32_t lane : {0u, perValue - 1}) {
            Near(what + " sum", RawValues<U>(0)[row * perValue + lane], rows[row].sum);
            Near(what + " max", RawValues<U>(1)[row * perValue + lane], rows[row].max);
        }
    }
    each([&](uint32_t row, uint32_t at) { Near(what, Slot::Raw<T>(1)[at], std::exp(x[at] - rows[row].max) / rows[row].sum); });
    only(what, 1);
    std::memset(static_cast<void*>(Slot::Raw<T>(1)), 0, size.m * size.k * sizeof(T));
    A::SimpleSoftMax<T>(Slot::At<T>(1), Values<U>(0), Values<U>(1), Slot::At<T>(0), Temporary(bytes), tiling, info);
    each([&](uint32_t row, uint32_t at) {
        const double want = std::exp(x[at] - rows[row].max) / rows[row].sum;
        if (sizeof(U) == 4) {
            Near("Simple" + what, Slot::Raw<T>(1)[at], want);
        } else {
            Expect(std::fabs(static_cast<double>(static_cast<float>(Slot::Raw<T>(1)[at])) - want) <= 5e-3 * want + 1e-4, "Simple" + what);
        }
    });
    // Second half of a flash softmax: sums and maxima of a first half come in and are replaced.
    Random random(3);
    std::vector<double> inMax(size.m);
    std::vector<double> inSum(size.m);
    for (uint32_t row = 0; row < size.m; ++row) {
        const U max = static_cast<U>(static_cast<float>(random.Real(-8, 8)));
        const U sum = static_cast<U>(static_cast<float>(random.Real(1, 9)));
        inMax[row] = static_cast<double>(static_cast<float>(max));
        inSum[row] = static_cast<double>(static_cast<float>(sum));
        std::fill_n(RawValues<U>(0) + row * perValue, perValue, sum);
        std::fill_n(RawValues<U>(1) + row * perValue, perValue, max);
    }
    what = Name("SoftmaxFlashV2", size, sizeof(T));
    A::SoftmaxFlashV2<T, true>(Slot::At<T>(1), Values<U>(0), Values<U>(1), Slot::At<T>(0), Values<T>(2), Values<U>(0), Values<U>(1),
                               Temporary(bytes), tiling, info);
    for (uint32_t row = 0; row < size.m; ++row) {
        rows[row] = RowOf(x, size, row, inMax[row], inSum[row]);
        Near(what + " sum", RawValues<U>(0)[row * perValue + 3], rows[row].sum);
        Near(what + " max", RawValues<U>(1)[row * perValue + 5], rows[row].max);
        Near(what + " exp", RawValues<T>(2)[row * perExp + 7], std::exp(inMax[row] - rows[row].max));
    }
    each([&](uint32_t row, uint32_t at) { Near(what, Slot::Raw<T>(1)[at], std::exp(x[at] - rows[row].max)); });
    what = Name("SoftmaxFlash", size, sizeof(T));
    for (uint32_t row = 0; row < size.m; ++row) {
        std::fill_n(RawValues<U>(0) + row * perValue, perValue, static_cast<U>(static_cast<float>(inSum[row])));
        std::fill_n(RawValues<U>(1) + row * perValue, perValue, static_cast<U>(static_cast<float>(inMax[row])));
    }
    A::SoftmaxFlash<T>(Slot::At<T>(1), Values<U>(0), Values<U>(1), Slot::At<T>(0), Values<T>(2), Values<U>(0), Values<U>(1),
                       Temporary(bytes), tiling, true, info);
    for (uint32_t row = 0; row < size.m; ++row) {
        Near(what + " exp", RawValues<T>(2)[row * perExp + 2],
             std::exp(inMax[row] - rows[row].max) * inSum[row] / rows[row].sum);
    }
    each([&](uint32_t row, uint32_t at) { Near(what, Slot::Raw<T>(1)[at], std::exp(x[at] - rows[row].max) / rows[row].sum); });
    only(what, 1);
    // First half, in place.
    what = Name("SoftmaxFlashV2 first", size, sizeof(T));
    A::SoftmaxFlashV2<T, false>(Slot::At<T>(0), Values<U>(0), Values<U>(1), Slot::At<T>(0), Values<T>(2), Values<U>(0), Values<U>(1),
                                Temporary(bytes), tiling, info);
    for (uint32_t row = 0; row < size.m; ++row) {
        rows[row] = RowOf(x, size, row);
        Near(what + " sum", RawValues<U>(0)[row * perValue], rows[row].sum);
    }
    only(what, 0);
    each([&](uint32_t row, uint32_t at) { Near(what, Slot::Raw<T>(0)[at], std::exp(x[at] - rows[row].max)); });
}

template <typename T>
void Gradients(const Size& size, uint32_t bytes)
{
    constexpr uint32_t perBlock = 32 / sizeof(T);
    const A::SoftMaxShapeInfo info = {size.m, size.k, size.m, size.columns};
    const SoftMaxTiling tiling = TilingOf<T>(size);
    const std::vector<double> grad = FillRows<T>(0, size, 5, -1, 1);
    const std::vector<double> y = FillRows<T>(1, size, 6, 0, 1);
    std::vector<double> sums(size.m);
    for (uint32_t row = 0; row < size.m; ++row) {
        for (uint32_t c = 0; c < size.columns; ++c) {
            sums[row] += grad[row * size.k + c] * y[row * size.k + c];
        }
    }
    const Kept<kSlot> kept;
    A::SoftmaxGradFront<T>(Values<T>(0), Slot::At<T>(0), Slot::At<T>(1), Temporary(bytes), tiling, info);
    A::SoftmaxGrad<T>(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), Temporary(bytes), tiling, false, info);
    const std::string what = Name("SoftmaxGrad", size, sizeof(T));
    kept.But(what, {{2, size.m * size.k * sizeof(T)}, {3, size.m * 32}, {4, bytes}});
    for (uint32_t row = 0; row < size.m; ++row) {
        Near(what + " front", RawValues<T>(0)[row * perBlock + 1], sums[row], 1e5);
        for (uint32_t c = 0; c < size.columns; ++c) {
            const uint32_t at = row * size.k + c;
            Near(what, Slot::Raw<T>(2)[at], (grad[at] - sums[row]) * y[at], 1e5);
        }
    }
}

void Logarithm()
{
    const Size size = {5, 72, 70};
    const std::vector<double> x = FillRows<float>(0, size, 9, -3, 3);
    LogSoftMaxTiling tiling;
    A::LogSoftMax<float>(Slot::At<float>(1), Values<float>(0), Values<float>(1), Slot::At<float>(0), Temporary(8192), tiling,
                         {size.m, size.k, size.m, size.columns});
    for (uint32_t row = 0; row < size.m; ++row) {
        const Row want = RowOf(x, size, row);
        for (uint32_t c = 0; c < size.columns; ++c) {
            Near("LogSoftMax", Slot::Raw<float>(1)[row * size.k + c], std::log10(std::exp(x[row * size.k + c] - want.max) / want.sum));
        }
    }
}

void Adjusting()
{
    const Size size = {4, 16, 16};
    FillRows<float>(0, size, 1, 0, 1);
    for (uint32_t row = 0; row < 4; ++row) {
        std::fill_n(RawValues<float>(0) + row * 8, 8, row == 2 ? -INFINITY : 1.0f);
    }
    const float kept = Slot::Raw<float>(0)[16];
    const bool found = A::AdjustSoftMaxRes<float, float>(Slot::At<float>(0), Values<float>(0), 0xFF800000u, 0.25f, {4, 16, 4, 16});
    const bool again = A::AdjustSoftMaxRes<float, float>(Slot::At<float>(0), Values<float>(0), 0x40000000u, 0.5f, {4, 16, 4, 16});
    Expect(found && !again, "AdjustSoftMaxRes tells whether there was such a row");
    Expect(Slot::Raw<float>(0)[32] == 0.25f && Slot::Raw<float>(0)[47] == 0.25f && Slot::Raw<float>(0)[16] == kept, "AdjustSoftMaxRes");
}

/// Rows that hold infinities; the shape from the tensor; no sums and maxima; a temporary buffer behind the pipe's.
void Forms()
{
    float* x = Slot::Raw<float>(0);
    for (uint32_t i = 0; i < 24; ++i) {
        x[i] = i < 8 ? static_cast<float>(i) : i < 16 ? (i == 9 ? -INFINITY : 1000.0f) : (i == 20 ? NAN : 0.0f);
    }
    const uint32_t sizes[] = {3, 8};
    A::LocalTensor<float> src = Slot::At<float>(0);
    src.SetShapeInfo(A::ShapeInfo(2, sizes, A::DataFormat::ND));
    const SoftMaxTiling tiling;
    A::SoftMax<float>(Slot::At<float>(1), src, tiling);
    const float* y = Slot::Raw<float>(1);
    Near("SoftMax by the tensor's shape", y[7], std::exp(7.0) / ((std::exp(8.0) - 1) / (std::exp(1.0) - 1)));
    Expect(y[9] == 0 && std::fabs(y[10] - 1.0f / 7) < 1e-7f, "SoftMax of large values and -inf");
    Expect(std::isnan(y[16]) && std::isnan(y[20]), "SoftMax of NaN");
}

/// Values per row that stand alone: first columns, then more of them, in place.
void Alone()
{
    const Size size = {19, 136, 130};
    const A::SoftMaxShapeInfo info = {size.m, size.k, size.m, size.columns};
    const std::vector<double> first = FillRows<float>(0, size, 21, -4, 4);
    const SoftMaxTiling tiling;
    for (const uint32_t bytes : {16u * 1024, 8u * 72 * 4}) {
        FillRows<float>(0, size, 21, -4, 4);
        A::SoftmaxFlashV2<float, false, true, false, false, kAlone>(
            Slot::At<float>(0), Values<float>(0), Values<float>(1), Slot::At<float>(0), Values<float>(2), Values<float>(0),
            Values<float>(1), Temporary(bytes), tiling, info);
        const std::vector<double> second = FillRows<float>(1, size, 22, -4, 5);
        A::SoftmaxFlashV2<float, true, true, false, false, kAlone>(
            Slot::At<float>(1), Values<float>(3), Values<float>(0), Values<float>(1), Slot::At<float>(1), Values<float>(2),
            Values<float>(0), Values<float>(1), Temporary(bytes), tiling, info);
        for (uint32_t row = 0; row < size.m; ++row) {
            const Row one = RowOf(first, size, row);
            const Row both = RowOf(second, size, row, one.max, one.sum);
            Near("SoftmaxFlashV2 alone max", RawValues<float>(1)[row], both.max);
            Near("SoftmaxFlashV2 alone reduced", RawValues<float>(3)[row], RowOf(second, size, row).max);
            Near("SoftmaxFlashV2 alone sum", RawValues<float>(0)[row], both.sum);
            Near("SoftmaxFlashV2 alone exp", RawValues<float>(2)[row], std::exp(one.max - both.max));
            Near("SoftmaxFlashV2 alone", Slot::Raw<float>(1)[row * size.k + 129], std::exp(second[row * size.k + 129] - both.max));
        }
    }
}

/// The split that a kernel works out fits the buffer, and the function accepts it.
void Tilings()
{
    constexpr SoftMaxTiling whole = A::SoftMaxFlashV2TilingFunc({16, 256, 16, 256}, 2, 4, 32 * 1024, true);
    static_assert(whole.splitM == 16 && whole.rangeM == 1 && whole.tailM == 0 && whole.outMaxSize == 128);
    const SoftMaxTiling parts = A::SoftMaxFlashV2TilingFunc({30, 128, 30, 128}, 2, 4, 10 * 1024, true);
    Expect(parts.splitM == 8 && parts.rangeM == 3 && parts.tailM == 6 && parts.tailSplitSize == 6 * 128 && parts.reduceK == 8,
           "SoftMaxFlashV2TilingFunc splits 30 rows");
    const SoftMaxTiling basic = A::SoftMaxFlashV2TilingFunc({24, 64, 24, 64}, 4, 4, 20 * 72 * 4, false, true);
    Expect(basic.splitM == 8, "SoftMaxFlashV2TilingFunc takes a divisor of whole blocks");
    const SoftMaxTiling exact = A::SoftMaxFlashV2TilingFunc({48, 64, 48, 64}, 4, 4, 16 * 72 * 4, false, true);
    Expect(exact.splitM == 16, "SoftMaxFlashV2TilingFunc of whole blocks that fit just so");
    const SoftMaxTiling fitting = A::SoftMaxFlashV2TilingFunc({30, 64, 30, 64}, 4, 4, 30 * 72 * 4);
    Expect(fitting.splitM == 30 && fitting.rangeM == 1 && fitting.tailM == 0, "SoftMaxFlashV2TilingFunc of rows that fit just so");
    // A row of floats takes 8 + 64 of the buffer, one of halves 2 * 8 + 64 + 64, one of fractals 3 * 16 + 64.
    const auto split = [](uint32_t m, uint32_t k, uint32_t bytes, uint32_t floats, bool basic, bool fractals, bool wide) {
        return A::SoftMaxFlashV2TilingFunc({m, k, m, k}, bytes, 4, floats * 4, false, basic, fractals, wide);
    };
    for (const uint32_t floats : {71u, 72u, 143u, 144u}) {
        const SoftMaxTiling few = split(30, 64, 4, floats, false, false, false);
        const uint32_t rows = floats / 72;
        Expect(few.splitM == rows && few.rangeM == (rows == 0 ? 0 : 30 / rows) && few.tailM == 0 && few.tailSplitSize == 0 && few.tailReduceSize == 0,
               "SoftMaxFlashV2TilingFunc of " + std::to_string(floats) + " floats");
    }
    Expect(split(30, 64, 2, 143, false, false, false).splitM == 0 && split(30, 64, 2, 144, false, false, false).splitM == 1, "SoftMaxFlashV2TilingFunc of halves");
    Expect(split(30, 64, 4, 5 * 112 - 1, false, true, false).splitM == 4 && split(30, 64, 4, 5 * 112, false, true, false).splitM == 5,
           "SoftMaxFlashV2TilingFunc of fractals");
    // Whole eights of rows, where results are spread over blocks of halves whole sixteens; all rows are no part.
    for (const bool wide : {false, true}) {
        Expect(split(100, 64, 2, 47 * 144, false, false, wide).splitM == (wide ? 32 : 40), "SoftMaxFlashV2TilingFunc of 47 rows");
        Expect(split(47, 64, 2, 47 * 144, false, false, wide).splitM == 47, "SoftMaxFlashV2TilingFunc of all 47 rows");
        Expect(split(100, 64, 4, 47 * 72, false, false, wide).splitM == 40, "SoftMaxFlashV2TilingFunc of 47 rows of floats");
    }
    // Whole blocks: a divisor of all rows, and fewer than 16384 elements.
    Expect(split(64, 192, 4, 64 * 72, true, false, false).splitM == 64 && split(64, 256, 4, 64 * 72, true, false, false).splitM == 32 &&
               split(64, 512, 4, 64 * 72, true, false, false).splitM == 16 && split(64, 64, 2, 63 * 136, true, false, false).splitM == 32,
           "SoftMaxFlashV2TilingFunc of whole blocks");
    const Size size = {30, 128, 128};
    const std::vector<double> x = FillRows<half>(0, size, 2, -2, 2);
    A::SoftmaxFlashV2<half, false>(Slot::At<half>(1), Values<float>(0), Values<float>(1), Slot::At<half>(0), Values<half>(2),
                                   Values<float>(0), Values<float>(1), Temporary(10 * 1024), parts, {30, 128, 30, 128});
    Near("SoftmaxFlashV2 by the kernel's tiling", Slot::Raw<half>(1)[29 * 128 + 5], std::exp(x[29 * 128 + 5] - RowOf(x, size, 29).max));
}

void TooSmall()
{
    setenv("ASCEND_SIM_TRACE", "api_softmax.trace", 1);
    OnCore([] {
        const SoftMaxTiling tiling;
        A::SoftMax<float>(Slot::At<float>(1), Slot::At<float>(0), Temporary(64), tiling, {2, 8, 2, 8});
        A::SoftMax<float>(Slot::At<float>(1), Slot::At<float>(0), Temporary(4096), tiling, {2, 9, 2, 9});
    });
    unsetenv("ASCEND_SIM_TRACE");
    const Trace trace = ReadTrace("api_softmax.trace");
    std::remove("api_softmax.trace");
    Expect(trace.Has("fault") && !trace.Has("vexp"), "too small a buffer and rows that do not fill blocks are faults");
    // Kernels are timed: rows that fit are reduced by one instruction together, those of a repeat where they are, longer ones from a copy.
    const bool looked = std::exchange(LooksForIdle(), false);
    for (const uint32_t columns : {64u, 72u, 136u}) {
        Expect(ascendsim::OpenTrace("together.trace"), "a trace");
        OnCore([columns] {
            const SoftMaxTiling tiling;
            std::fill_n(Slot::Raw<float>(0), 16 * columns, 1.0f);
            A::SoftMax<float>(Slot::At<float>(1), Slot::At<float>(0), Temporary(32 * 1024), tiling, {16, columns, 16, columns});
        });
        Expect(ascendsim::CloseTrace(), "a trace that was closed");
        const Trace together = ReadTrace("together.trace");
        const auto count = [&](const char* name) {
            return std::count_if(together.records.begin(), together.records.end(), [=](const Record& record) { return record.name == name; });
        };
        Expect(count("vcmax") == 1 && count("vmuls") == (columns == 72 ? 2 : 0),
               "maxima of sixteen rows of " + std::to_string(columns) + ": " + std::to_string(count("vcmax")) + ", copies " + std::to_string(count("vmuls")));
    }
    std::remove("together.trace");
    LooksForIdle() = looked;
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    TooSmall();
    OnCore([] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> operands;
        pipe.InitBuffer(operands, 5 * kSlot);
        for (const Size size : {Size{1, 8, 8}, Size{3, 16, 13}, Size{7, 64, 64}, Size{8, 96, 90}, Size{16, 256, 256}, Size{9, 144, 130}, Size{33, 128, 128}, Size{2, 2048, 2047}, Size{2, 2176, 2150}}) {
            for (const uint32_t bytes : {32u * 1024, (size.k + 64u + 8u) * 4}) {
                Case<float, float>(size, bytes);
                if (size.k % 16 == 0) {
                    Case<half, half>(size, bytes + 32);
                    Case<half, float>(size, bytes + 32);
                    Gradients<half>(size, bytes + size.k * 4);
                }
                Gradients<float>(size, bytes);
            }
        }
        Case<float, float>({130, 16, 16}, 30 * 1024);
        Logarithm();
        Adjusting();
        Forms();
        Tilings();
        Alone();
    });
    // Nothing of temporary memory counts before it is written.
    ExpectWrittenFirst("softmax", 4 * kSlot, 5 * kSlot, [] {
        for (const Size size : {Size{3, 48, 43}, Size{2, 208, 200}}) {
            Case<float, float>(size, 30 * 1024);
            Case<half, half>(size, 30 * 1024);
            Gradients<half>(size, 30 * 1024);
        }
    });
    return Report("api_softmax");
}
