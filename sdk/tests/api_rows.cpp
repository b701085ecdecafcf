// Broadcasting, row and column reductions, whole sorts and selection by bytes against plain C++.
#include "kernel_operator.h"

#include "api_slots.h"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kSlot = 32 * 1024;
using Slot = Slots<kSlot>;

void Clear(uint32_t slot) { std::memset(Slot::Raw<uint8_t>(slot), 0x5A, kSlot); }

template <typename T>
void BroadcastsOf(uint32_t rows, uint32_t cols)
{
    const std::string what = " to " + std::to_string(rows) + " x " + std::to_string(cols) + " of "
        + std::to_string(sizeof(T)) + " bytes";
    Clear(0);
    for (uint32_t i = 0; i < rows * cols; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i * 7 % 121));
    }
    A::LocalTensor<uint8_t> tmp = Slot::At<uint8_t>(4);
    const uint32_t to[] = {rows, cols};
    const uint32_t column[] = {rows, 1};
    const uint32_t row[] = {1, cols};
    Clear(2);
    const Kept<kSlot> kept;
    A::BroadCast<T, 2, 1>(Slot::At<T>(2), Slot::At<T>(0), to, column, tmp);
    bool right = true;
    for (uint32_t i = 0; i < rows * cols; ++i) {
        right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[i / cols];
    }
    Expect(right, "BroadCast of a column" + what);
    A::Broadcast<T, 2, 0>(Slot::At<T>(2), Slot::At<T>(0), to, row, tmp);
    right = true;
    for (uint32_t i = 0; i < rows * cols; ++i) {
        right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[i % cols];
    }
    Expect(right, "BroadCast of a row" + what);
    const uint32_t one[] = {1};
    const uint32_t many[] = {cols};
    A::BroadCast<T, 1, 0>(Slot::At<T>(2), Slot::At<T>(0)[32 / sizeof(T)], many, one, tmp);
    right = true;
    for (uint32_t i = 0; i < cols; ++i) {
        right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[32 / sizeof(T)];
    }
    Expect(right, "BroadCast of an element" + what);
    kept.But("BroadCast" + what, {{2, (rows * cols * sizeof(T) + 1) / 2 * 2}, {4, kSlot}});
    A::BroadCast<T, 2, 1>(Slot::At<T>(2), Slot::At<T>(0), row, row, tmp);
    Expect(std::equal(Slot::Raw<T>(0), Slot::Raw<T>(0) + cols, Slot::Raw<T>(2)), "BroadCast of equal shapes" + what);
    Clear(2);
    A::BroadCast<T, 2, 0>(Slot::At<T>(2), Slot::At<T>(0), to, to, tmp);
    Expect(std::equal(Slot::Raw<T>(0), Slot::Raw<T>(0) + rows * cols, Slot::Raw<T>(2)), "BroadCast of equal shapes of rows" + what);
    Expect(Slot::Raw<uint8_t>(2)[(rows * cols * sizeof(T) + 1) / 2 * 2] == 0x5A, "BroadCast of equal shapes ends" + what);
}

/// A row or a column in as much temporary memory as a few of the rows take.
template <typename T, int axis>
void InParts(uint32_t rows, uint32_t cols, uint32_t bytes)
{
    const std::string what = std::to_string(rows) + " x " + std::to_string(cols) + " of " + std::to_string(sizeof(T)) + " bytes in parts";
    Clear(2);
    Clear(4);
    for (uint32_t i = 0; i < std::max(rows, cols); ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i * 7 % 121));
    }
    A::LocalTensor<uint8_t> tmp(A::TPosition::VECCALC, 4 * kSlot, bytes);
    const uint32_t to[] = {rows, cols};
    const uint32_t from[] = {axis == 0 ? 1 : rows, axis == 0 ? cols : 1};
    A::BroadCast<T, 2, axis>(Slot::At<T>(2), Slot::At<T>(0), to, from, tmp);
    bool right = true;
    for (uint32_t i = 0; i < rows * cols; ++i) {
        right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[axis == 0 ? i % cols : i / cols];
    }
    Expect(right, "BroadCast along axis " + std::to_string(axis) + ", " + what);
    Expect(std::count(Slot::Raw<uint8_t>(4) + bytes, Slot::Raw<uint8_t>(4) + bytes + 64, 0x5A) == 64, "memory behind the temporary one, " + what);
}

/// A column in as much temporary memory as host code is told to give at least: `block` blocks, and as many rows.
template <typename T>
void ColumnInLeastMemory(uint32_t rows, uint32_t cols)
{
    const uint32_t block = 32 / sizeof(T);
    const uint32_t pitch = (cols + block - 1) / block * block;
    const uint32_t bytes = block * (32 + (cols % block == 0 ? 0 : pitch * static_cast<uint32_t>(sizeof(T))));
    const std::string what = std::to_string(rows) + " x " + std::to_string(cols) + " in " + std::to_string(bytes) + " bytes";
    Clear(0);
    Clear(4);
    for (uint32_t i = 0; i < rows; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i * 7 % 121));
    }
    A::LocalTensor<uint8_t> tmp(A::TPosition::VECCALC, 4 * kSlot, bytes);
    const uint32_t to[] = {rows, cols};
    const uint32_t column[] = {rows, 1};
    A::BroadCast<T, 2, 1>(Slot::At<T>(2), Slot::At<T>(0), to, column, tmp);
    bool right = true;
    for (uint32_t i = 0; i < rows * cols; ++i) {
        right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[i / cols];
    }
    Expect(right, "BroadCast of a column, " + what);
    Expect(Slot::Raw<uint8_t>(4)[bytes] == 0x5A, "memory behind the temporary one, " + what);
}

template <typename T>
void Close(const std::string& what, double got, double want)
{
    const double tolerance = sizeof(T) == 2 ? 0.02 : 1e-5;
    Expect(std::fabs(got - want) <= tolerance * (1 + std::fabs(want)),
           what + ": " + std::to_string(got) + ", expected " + std::to_string(want));
}

template <typename T>
void ReductionsOf(uint32_t rows, uint32_t cols)
{
    const std::string what =
        " of " + std::to_string(rows) + " x " + std::to_string(cols) + " of " + std::to_string(sizeof(T)) + " bytes";
    const uint32_t block = 32 / sizeof(T);
    const uint32_t pitch = (cols + block - 1) / block * block;
    Random random(rows * 1000 + cols);
    Clear(0);
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < cols; ++c) {
            Slot::Raw<T>(0)[r * pitch + c] = static_cast<T>(random.Real(-1, 1));
        }
    }
    const auto at = [&](uint32_t r, uint32_t c) { return static_cast<double>(static_cast<float>(Slot::Raw<T>(0)[r * pitch + c])); };
    const uint32_t shape[] = {rows, cols, 1};  // the last is no part of it
    const A::LocalTensor<uint8_t> tmp = Slot::At<uint8_t>(4);
    using A::Pattern::Reduce::AR;
    using A::Pattern::Reduce::RA;
    for (const bool along : {true, false}) {
        const uint32_t results = along ? rows : cols;
        const uint32_t length = along ? cols : rows;
        const std::string name = what + (along ? " by rows" : " by columns");
        std::vector<double> sum(results, 0), high(results, -2), low(results, 2);
        for (uint32_t i = 0; i < results; ++i) {
            for (uint32_t j = 0; j < length; ++j) {
                const double value = along ? at(i, j) : at(j, i);
                sum[i] += value;
                high[i] = std::max(high[i], value);
                low[i] = std::min(low[i], value);
            }
        }
        Clear(2);
        const Kept<kSlot> kept;
        const auto check = [&](const char* api, const std::vector<double>& want) {
            kept.But(api + name, {{2, results * sizeof(T)}, {4, kSlot}});
            for (uint32_t i = 0; i < results; ++i) {
                Close<T>(api + name, static_cast<float>(Slot::Raw<T>(2)[i]), want[i]);
            }
        };
        along ? A::ReduceSum<T, AR>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true)
              : A::ReduceSum<T, RA>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true);
        check("ReduceSum", sum);
        along ? A::ReduceMax<T, AR>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true)
              : A::ReduceMax<T, RA>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true);
        check("ReduceMax", high);
        along ? A::ReduceMin<T, AR>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true)
              : A::ReduceMin<T, RA>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true);
        check("ReduceMin", low);
        for (double& value : sum) {
            value /= length;
        }
        along ? A::ReduceMean<T, AR>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true)
              : A::ReduceMean<T, RA>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true);
        check("ReduceMean", sum);
        if (along) {
            A::MeanParams mean;
            mean.outter = rows;
            mean.inner = pitch;
            mean.n = cols;
            A::Mean<T, float>(Slot::At<T>(2), Slot::At<T>(0), tmp, mean);
            check("Mean", sum);
            for (double& value : sum) {
                value *= length;
            }
            A::SumParams params;
            params.outter = rows;
            params.inner = pitch;
            params.n = cols;
            A::Sum(Slot::At<T>(2), Slot::At<T>(0), tmp, params);
            check("Sum", sum);
        }
    }
    for (uint32_t i = 0; i < rows * pitch; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(i % pitch % 5 == 3 ? -1.5f : (i % 7 == 0 ? 0.75f : 1.0f));
    }
    for (const bool along : {true, false}) {
        const uint32_t results = along ? rows : cols;
        Clear(2);
        const Kept<kSlot> kept;
        along ? A::ReduceProd<T, AR>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true)
              : A::ReduceProd<T, RA>(Slot::At<T>(2), Slot::At<T>(0), tmp, shape, true);
        kept.But("ReduceProd" + what, {{2, results * sizeof(T)}, {4, kSlot}});
        for (uint32_t i = 0; i < results; ++i) {
            double product = 1;
            for (uint32_t j = 0; j < (along ? cols : rows); ++j) {
                product *= along ? at(i, j) : at(j, i);
            }
            if (std::fabs(product) < 1000 && std::fabs(product) > 0.01) {
                Close<T>("ReduceProd" + what + (along ? " by rows" : " by columns"), static_cast<float>(Slot::Raw<T>(2)[i]), product);
            }
        }
    }
}

/// A row of more than a repeat takes a value for each of its repeats, in whole blocks, and those of more than a repeat theirs.
template <typename T>
void RoomsOfSums(uint32_t n, uint32_t least)
{
    for (const uint32_t bytes : {least, least - 1}) {
        float got = 0;
        const auto result = OnCore([&] {
            std::fill_n(Slot::Raw<T>(0), n, static_cast<T>(0.25f));
            Slot::Raw<T>(2)[0] = static_cast<T>(-1.0f);
            A::SumParams params;
            params.outter = 1;
            params.inner = (n + 15) / 16 * 16;
            params.n = n;
            A::Sum(Slot::At<T>(2), Slot::At<T>(0), A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kSlot, bytes), params);
            got = static_cast<float>(Slot::Raw<T>(2)[0]);
        });
        const std::string says = "ub_overflow: reduction of rows: needs " + std::to_string(least) + " bytes of temporary memory, has " + std::to_string(bytes);
        Expect(bytes == least ? result.faults == 0 && got == static_cast<float>(static_cast<T>(static_cast<float>(n) / 4))
                              : result.faults == 1 && result.first_fault.rfind(says, 0) == 0 && got == -1,
               "Sum of " + std::to_string(n) + " with " + std::to_string(bytes) + " bytes: " + result.first_fault);
    }
}

template <typename T>
void SortsOf(uint32_t count)
{
    Random random(count);
    std::vector<std::pair<float, uint32_t>> want(count);
    for (uint32_t i = 0; i < count; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(random.Real(-100, 100));
        Slot::Raw<uint32_t>(1)[i] = i;
        want[i] = {static_cast<float>(Slot::Raw<T>(0)[i]), i};
    }
    if (count > 40) {
        Slot::Raw<T>(0)[33] = static_cast<T>(-INFINITY);
        want[33].first = -INFINITY;
    }
    A::LocalTensor<T> tmp = Slot::At<T>(4);
    Clear(2);
    Clear(4);
    const Kept<kSlot> kept;
    A::Sort<T, true>(Slot::At<T>(2), Slot::At<T>(0), Slot::At<uint32_t>(1), tmp, static_cast<int32_t>(count / 32));
    kept.But("Sort of " + std::to_string(count), {{2, count * 8}, {4, count * 8}});
    A::Extract(Slot::At<T>(3), Slot::At<uint32_t>(4), Slot::At<T>(2), static_cast<int32_t>(count / 32));
    std::stable_sort(want.begin(), want.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    bool right = true;
    for (uint32_t i = 0; i < count; ++i) {
        right = right && static_cast<float>(Slot::Raw<T>(3)[i]) == want[i].first
            && static_cast<float>(Slot::Raw<T>(0)[Slot::Raw<uint32_t>(4)[i]]) == want[i].first;
    }
    Expect(right, "Sort of " + std::to_string(count) + " elements of " + std::to_string(sizeof(T)) + " bytes");
}

/// More runs than an instruction has repeats: 8192 halves with their indices fill the buffer but for 16 KiB.
void SortOfManyRepeats()
{
    constexpr uint32_t count = 8192;
    const auto tensor = [](uint32_t offset, uint32_t elements) { return A::LocalTensor<half>(A::TPosition::VECCALC, offset, elements); };
    auto* values = reinterpret_cast<half*>(ascendsim::UbBase());
    auto* indices = reinterpret_cast<uint32_t*>(ascendsim::UbBase() + count * 2);
    auto* records = ascendsim::UbBase() + count * 6;
    std::vector<uint32_t> order(count);
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = indices[i] = i;
        values[i] = half(static_cast<float>(i * 337 % 1021));
    }
    const A::LocalTensor<uint32_t> index(A::TPosition::VECCALC, count * 2, count);
    A::LocalTensor<half> tmp = tensor(count * 14, count * 4);
    A::Sort<half, true>(tensor(count * 6, count * 4), tensor(0, count), index, tmp, count / 32);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return static_cast<float>(values[a]) > static_cast<float>(values[b]); });
    bool right = true;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at;
        std::memcpy(&at, records + i * 8 + 4, 4);
        right = right && at == order[i];
    }
    Expect(right, "Sort of more runs than repeats");
}

template <typename T, typename U>
void SelectsOf(uint32_t rows, uint32_t cols, uint32_t maskCols)
{
    for (uint32_t i = 0; i < rows * cols; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i % 900));
    }
    for (uint32_t i = 0; i < rows * maskCols; ++i) {
        Slot::Raw<U>(1)[i] = static_cast<U>(i % 3 == 1 ? (i % 2 == 0 ? 1 : ~0) : 0);
    }
    A::SelectWithBytesMaskShapeInfo info;
    info.firstAxis = rows;
    info.srcLastAxis = cols;
    info.maskLastAxis = maskCols;
    const T scalar = static_cast<T>(-7.0f);
    Clear(2);
    Clear(3);
    const Kept<kSlot> kept;
    A::Select(Slot::At<T>(2), Slot::At<T>(0), scalar, Slot::At<U>(1), Slot::At<uint8_t>(4), info);
    A::SelectWithBytesMask(Slot::At<T>(3), scalar, Slot::At<T>(0), Slot::At<U>(1), Slot::At<uint8_t>(4), info);
    kept.But("Select by elements of " + std::to_string(sizeof(U)) + " bytes", {{2, rows * cols * sizeof(T)}, {3, rows * cols * sizeof(T)}, {4, kSlot}});
    bool right = true;
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < cols; ++c) {
            const bool zero = Slot::Raw<U>(1)[r * maskCols + c] == 0;
            const uint32_t i = r * cols + c;
            right = right && Slot::Raw<T>(2)[i] == (zero ? Slot::Raw<T>(0)[i] : scalar)
                && Slot::Raw<T>(3)[i] == (zero ? scalar : Slot::Raw<T>(0)[i]);
        }
    }
    Expect(right, "Select by elements of " + std::to_string(sizeof(U)) + " bytes, " + std::to_string(rows) + " x "
                      + std::to_string(cols));
}

/// A call with every amount of temporary memory up to `most` bytes: whole results or a refusal, no refusal with more than was enough, and
/// nothing written behind it.
void WithAllAmounts(const std::string& what, uint32_t most, Callee<void()> prepare,
                    const std::function<void(A::LocalTensor<uint8_t>)>& call, Callee<bool()> right)
{
    uint32_t enough = 0;
    for (uint32_t bytes = 32; bytes <= most; bytes += 32) {
        bool good = true;
        const auto result = OnCore([&] {
            prepare();
            Clear(2);
            Clear(4);
            call(A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kSlot, bytes));
            good = right();
            Expect(std::count(Slot::Raw<uint8_t>(4) + bytes, Slot::Raw<uint8_t>(5), 0x5A) == kSlot - bytes, what + " writes behind " + std::to_string(bytes) + " bytes");
        });
        enough = enough == 0 && result.faults == 0 ? bytes : enough;
        Expect(enough == 0 || (result.faults == 0 && good), what + " in " + std::to_string(bytes) + " bytes: " + result.first_fault);
    }
    Expect(enough != 0, what + " in any memory");
}

template <typename T, int axis>
void BroadcastWithAllAmounts(uint32_t rows, uint32_t cols, uint32_t most)
{
    const uint32_t to[] = {rows, cols}, from[] = {axis == 0 ? 1 : rows, axis == 0 ? cols : 1};
    WithAllAmounts("BroadCast along " + std::to_string(axis) + " to " + std::to_string(rows) + " x " + std::to_string(cols), most,
        [&] { for (uint32_t i = 0; i < std::max(rows, cols); ++i) Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i * 7 % 121)); },
        [&](A::LocalTensor<uint8_t> tmp) { A::BroadCast<T, 2, axis>(Slot::At<T>(2), Slot::At<T>(0), to, from, tmp); },
        [&] {
            bool right = Slot::Raw<uint8_t>(2)[(rows * cols * sizeof(T) + 1) / 2 * 2] == 0x5A;
            for (uint32_t i = 0; i < rows * cols; ++i) right = right && Slot::Raw<T>(2)[i] == Slot::Raw<T>(0)[axis == 0 ? i % cols : i / cols];
            return right;
        });
}

template <typename T, typename U>
void SelectWithAllAmounts(uint32_t rows, uint32_t cols, uint32_t maskCols, uint32_t most)
{
    WithAllAmounts("Select by " + std::to_string(sizeof(U)) + " bytes of " + std::to_string(cols), most,
        [&] {
            for (uint32_t i = 0; i < rows * cols; ++i) Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i % 900));
            for (uint32_t i = 0; i < rows * maskCols; ++i) Slot::Raw<U>(1)[i] = static_cast<U>(i % 3 == 1);
        },
        [&](A::LocalTensor<uint8_t> tmp) {
            A::SelectWithBytesMaskShapeInfo info;
            info.firstAxis = rows;
            info.srcLastAxis = cols;
            info.maskLastAxis = maskCols;
            A::Select(Slot::At<T>(2), Slot::At<T>(0), static_cast<T>(-7.0f), Slot::At<U>(1), tmp, info);
        },
        [&] {
            bool right = Slot::Raw<uint8_t>(2)[rows * cols * sizeof(T)] == 0x5A;
            for (uint32_t i = 0; i < rows * cols; ++i) {
                right = right && Slot::Raw<T>(2)[i] == (Slot::Raw<U>(1)[i / cols * maskCols + i % cols] == 0 ? Slot::Raw<T>(0)[i] : static_cast<T>(-7.0f));
            }
            return right;
        });
}

template <typename T>
void TransposeWithAllAmounts(uint16_t c, uint16_t h, uint16_t w, uint32_t most)
{
    const uint32_t pixels = uint32_t(h) * w;
    WithAllAmounts("Transpose of " + std::to_string(c) + " x " + std::to_string(pixels), most,
        [&] { for (uint32_t i = 0; i < 2 * c * pixels; ++i) Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i)); },
        [&](A::LocalTensor<uint8_t> tmp) {
            A::Transpose(Slot::At<T>(2), Slot::At<T>(0), tmp, A::TransposeParamsExt(2, c, h, w, A::TransposeType::TRANSPOSE_NCHW2NHWC));
        },
        [&] {
            bool right = Slot::Raw<uint8_t>(2)[2 * c * pixels * sizeof(T)] == 0x5A;
            for (uint32_t i = 0; i < 2 * c * pixels; ++i) {
                const uint32_t image = i / (c * pixels), rest = i % (c * pixels);
                right = right && Slot::Raw<T>(2)[image * c * pixels + rest % pixels * c + rest / pixels] == Slot::Raw<T>(0)[i];
            }
            return right;
        });
}

struct PadSizes {
    uint32_t srcHeight, srcWidth, srcOriWidth;
};

template <typename T>
void PadsOf(uint32_t rows, uint32_t width, uint32_t valid, uint16_t left, uint16_t right)
{
    const std::string what = " of " + std::to_string(rows) + " x " + std::to_string(width) + " of "
        + std::to_string(sizeof(T)) + " bytes";
    const uint32_t block = 32 / sizeof(T);
    const uint32_t pitch = (width + block - 1) / block * block;
    for (uint32_t i = 0; i < rows * width; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i % 999));
    }
    PadSizes tiling = {rows, width, valid};
    A::PadParams pad(left, right, -5);
    Clear(2);
    const Kept<kSlot> kept;
    A::Pad(Slot::At<T>(2), Slot::At<T>(0), pad, Slot::At<uint8_t>(4), tiling);
    kept.But("Pad" + what, {{2, rows * pitch * sizeof(T)}, {4, kSlot}});
    bool right_ = true;
    for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < left + valid + right; ++c) {
            const bool inside = c >= left && c < left + valid;
            const T want = inside ? Slot::Raw<T>(0)[r * width + c - left] : static_cast<T>(-5);
            right_ = right_ && Slot::Raw<T>(2)[r * pitch + c] == want;
        }
    }
    Expect(right_, "Pad" + what);
    A::UnPadParams unpad(0, static_cast<uint16_t>(pitch - valid));
    tiling.srcWidth = pitch;
    A::LocalTensor<uint8_t> tmp = Slot::At<uint8_t>(4);
    Clear(3);
    const Kept<kSlot> unpadded;
    A::UnPad(Slot::At<T>(3), Slot::At<T>(2), unpad, tmp, tiling);
    unpadded.But("UnPad" + what, {{3, rows * valid * sizeof(T)}, {4, kSlot}});
    right_ = true;
    for (uint32_t i = 0; i < rows * valid; ++i) {
        right_ = right_ && Slot::Raw<T>(3)[i] == Slot::Raw<T>(2)[i / valid * pitch + i % valid];
    }
    Expect(right_, "UnPad" + what);
}

template <typename T>
void TransposesOf(uint16_t n, uint16_t c, uint16_t h, uint16_t w)
{
    const uint32_t pixels = uint32_t(h) * w;
    for (uint32_t i = 0; i < n * c * pixels; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i));
    }
    const A::TransposeParamsExt there(n, c, h, w, A::TransposeType::TRANSPOSE_NCHW2NHWC);
    const A::TransposeParamsExt back(n, c, h, w, A::TransposeType::TRANSPOSE_NHWC2NCHW);
    Clear(2);
    Clear(3);
    const Kept<kSlot> kept;
    A::Transpose(Slot::At<T>(2), Slot::At<T>(0), Slot::At<uint8_t>(4), there);
    A::Transpose(Slot::At<T>(3), Slot::At<T>(2), Slot::At<uint8_t>(4), back);
    kept.But("Transpose", {{2, n * c * pixels * sizeof(T)}, {3, n * c * pixels * sizeof(T)}, {4, kSlot}});
    bool right = true;
    for (uint32_t i = 0; i < n * c * pixels; ++i) {
        const uint32_t image = i / (c * pixels);
        const uint32_t rest = i % (c * pixels);
        right = right && Slot::Raw<T>(2)[image * c * pixels + rest % pixels * c + rest / pixels] == Slot::Raw<T>(0)[i];
        right = right && Slot::Raw<T>(3)[i] == Slot::Raw<T>(0)[i];
    }
    Expect(right, "Transpose of " + std::to_string(c) + " channels of " + std::to_string(pixels) + " pixels");
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        A::InitSocState();
        for (const auto& shape : std::vector<std::pair<uint32_t, uint32_t>>{
                 {1, 1}, {1, 1000}, {3, 8}, {5, 64}, {17, 3}, {40, 100}, {255, 16}, {300, 7}, {2, 3000}}) {
            BroadcastsOf<float>(shape.first, shape.second);
            BroadcastsOf<half>(shape.first, shape.second);
            BroadcastsOf<int32_t>(shape.first, shape.second);
        }
        BroadcastsOf<float>(3, 2040);
        BroadcastsOf<float>(3, 2048);
        BroadcastsOf<int8_t>(3, 32);
        BroadcastsOf<uint8_t>(70, 9);
        for (const auto& shape : std::vector<std::pair<uint32_t, uint32_t>>{
                 {1, 1}, {4, 17}, {3, 64}, {2, 130}, {260, 8}, {255, 16}, {1, 7000}, {5, 1001}}) {
            ReductionsOf<float>(shape.first, shape.second);
            ReductionsOf<half>(shape.first, shape.second);
        }
        for (const uint32_t count : {32u, 64u, 96u, 128u, 160u, 544u, 2048u, 4096u}) {
            SortsOf<float>(count);
            SortsOf<half>(count);
        }
        InParts<float, 0>(20, 7, 8 * 32);
        InParts<half, 0>(40, 17, 16 * 64);
        InParts<uint8_t, 0>(70, 9, 10 * 32 + 32 * 96);
        InParts<uint8_t, 1>(70, 9, 10 * 32 + 32 * 98);
        for (const auto& shape : std::vector<std::pair<uint32_t, uint32_t>>{{1, 16}, {7, 13}, {20, 8}, {100, 24}, {33, 5}}) {
            ColumnInLeastMemory<float>(shape.first, shape.second);
            ColumnInLeastMemory<half>(shape.first, shape.second);
        }
        SelectsOf<float, uint8_t>(3, 40, 64);
        SelectsOf<half, int16_t>(2, 272, 272);
        SelectsOf<float, int32_t>(1, 3000, 3008);
        SelectsOf<half, uint8_t>(7, 16, 32);
        PadsOf<float>(20, 13, 13, 1, 2);
        PadsOf<half>(300, 31, 31, 0, 1);
        PadsOf<half>(255, 15, 15, 0, 1);
        SortOfManyRepeats();
        PadsOf<int32_t>(4, 32, 27, 0, 3);
        TransposesOf<float>(1, 3, 4, 6);
        TransposesOf<half>(2, 16, 5, 8);
        TransposesOf<int32_t>(1, 8, 7, 9);
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    // Nothing of temporary memory counts before it is written.
    ExpectWrittenFirst("rows", 4 * kSlot, 5 * kSlot, [] {
        BroadcastsOf<float>(17, 3);
        BroadcastsOf<half>(5, 64);
        BroadcastsOf<uint8_t>(70, 9);
        ReductionsOf<float>(3, 130);
        ReductionsOf<half>(4, 17);
        ReductionsOf<float>(1, 7000);
        SortsOf<half>(160);
        SelectsOf<float, uint8_t>(3, 40, 64);
        SelectsOf<half, int16_t>(2, 272, 272);
        PadsOf<float>(20, 13, 13, 1, 2);
        TransposesOf<half>(2, 16, 5, 8);
    });
    BroadcastWithAllAmounts<float, 0>(20, 7, 1024);
    BroadcastWithAllAmounts<half, 0>(40, 16, 1024);
    BroadcastWithAllAmounts<float, 1>(20, 7, 2048);
    BroadcastWithAllAmounts<half, 1>(33, 17, 4096);
    BroadcastWithAllAmounts<float, 1>(24, 8, 1536);
    BroadcastWithAllAmounts<uint8_t, 0>(20, 9, 3072);
    BroadcastWithAllAmounts<uint8_t, 1>(20, 9, 3072);
    BroadcastWithAllAmounts<int8_t, 1>(16, 32, 4096);
    SelectWithAllAmounts<float, uint8_t>(3, 72, 96, 1536);
    SelectWithAllAmounts<half, int32_t>(2, 144, 144, 2048);
    SelectWithAllAmounts<float, uint8_t>(2, 600, 608, 3072);
    SelectWithAllAmounts<half, uint16_t>(2, 512, 528, 3072);
    TransposeWithAllAmounts<float>(3, 4, 6, 640);
    TransposeWithAllAmounts<half>(16, 2, 4, 1024);
    const auto narrow = OnCore([] {
        A::LocalTensor<uint8_t> tmp(A::TPosition::VECCALC, 0, 64);
        const uint32_t to[] = {32, 3};
        const uint32_t from[] = {32, 1};
        A::BroadCast<float, 2, 1>(Slot::At<float>(2), Slot::At<float>(1), to, from, tmp);
    });
    Expect(narrow.first_fault.rfind("ub_overflow: BroadCast", 0) == 0, "too little memory: " + narrow.first_fault);
    // Rows of whole blocks lose elements at their end, as many as they have at most.
    const auto refused = [](uint16_t left, uint16_t right, uint32_t width) {
        return OnCore([&] {
            PadSizes tiling = {2, width, width};
            A::UnPadParams unpad(left, right);
            A::LocalTensor<uint8_t> tmp = Slot::At<uint8_t>(4);
            A::UnPad(Slot::At<float>(3), Slot::At<float>(2), unpad, tmp, tiling);
        }).first_fault.rfind("bad_argument: UnPad", 0) == 0;
    };
    Expect(refused(1, 1, 16) && refused(0, 17, 16) && refused(0, 1, 12) && !refused(0, 16, 16), "UnPad of other rows");
    // And get no padding that has no room.
    const auto padded = [](uint32_t valid, uint16_t right) {
        return OnCore([&] {
            PadSizes tiling = {2, 16, valid};
            A::PadParams pad(0, right, -5);
            A::Pad(Slot::At<float>(2), Slot::At<float>(0), pad, Slot::At<uint8_t>(4), tiling);
        }).first_fault;
    };
    Expect(padded(14, 2).empty() && padded(14, 3).rfind("bad_argument: Pad", 0) == 0, "Pad of rows of whole blocks");
    const auto framed = [](uint16_t left, uint16_t right) {
        return OnCore([&] {
            PadSizes tiling = {2, 13, 13};
            A::PadParams pad(left, right, -5);
            A::Pad(Slot::At<float>(2), Slot::At<float>(0), pad, Slot::At<uint8_t>(4), tiling);
        }).first_fault;
    };
    Expect(framed(1, 2).empty() && framed(0, 3).empty() && !framed(1, 3).empty() && !framed(2, 2).empty(), "Pad of rows within their blocks");
    RoomsOfSums<float>(65, 32);
    RoomsOfSums<float>(512, 32);
    RoomsOfSums<float>(513, 64);
    RoomsOfSums<float>(4096, 256);
    RoomsOfSums<float>(4097, 288 + 32);
    RoomsOfSums<half>(129, 32);
    RoomsOfSums<half>(2048, 32);
    RoomsOfSums<half>(2049, 64);
    return Report("api_rows");
}
