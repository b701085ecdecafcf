// Cube instructions against scalar models that are written on matrices and know fractals only as index formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isa_support.h"

#include "machine/core_state.h"

using namespace isa_test;
using ascendsim::kSpaceL1;
using ascendsim::kSpaceL0a;
using ascendsim::kSpaceL0b;
using ascendsim::kSpaceL0c;
using ascendsim::kSpaceBt;
using ascendsim::kSpaceFb;

namespace {

constexpr const char* kTraceFile = "isa_differential_cube.trace";

uint32_t Up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

/// A region of global memory for the time of a test.
struct Gm {
    explicit Gm(size_t bytes) : data(bytes) { ascendsim::RegisterRegion(data.data(), bytes, ascendsim::RegionRole::kOther, 0); }
    ~Gm() { ascendsim::UnregisterRegion(data.data()); }
    std::vector<uint8_t> data;
};

std::string Text(const char* what, std::initializer_list<uint32_t> numbers)
{
    std::string text = what;
    for (uint32_t number : numbers) {
        text += " " + std::to_string(number);
    }
    return text;
}

template <typename T>
T Element(Random& random)
{
    if constexpr (sizeof(T) == 1) {
        return static_cast<T>(random.Below(255)) - T(127);
    } else if constexpr (std::is_same<T, float>::value) {
        return static_cast<float>(random.Real(-4, 4));
    } else {
        return T(static_cast<float>(random.Real(-4, 4)));
    }
}

/// Index of (row, column) in a matrix of fractals of 16 x lanes whose fractals are in row-major order.
size_t Zz(uint32_t row, uint32_t column, uint32_t fractals, uint32_t lanes)
{
    return ((row / 16) * fractals + column / lanes) * 16 * lanes + row % 16 * lanes + column % lanes;
}
/// The same for L0B: fractals of lanes x 16, turned.
size_t Zn(uint32_t row, uint32_t column, uint32_t fractals, uint32_t lanes)
{
    return ((row / lanes) * fractals + column / 16) * 16 * lanes + column % 16 * lanes + row % lanes;
}
/// Columns of fractals of 16 x 16.
size_t Nz(uint32_t row, uint32_t column, uint32_t rows) { return (column / 16) * rows * 16 + row * 16 + column % 16; }

template <typename T, typename C>
void CheckMad(Random& random, uint32_t m, uint32_t k, uint32_t n, int start, bool aligned)
{
    const uint32_t lanes = 32 / sizeof(T);
    const uint32_t k_fractals = (aligned && sizeof(T) == 4 ? Up(k, 16) : Up(k, lanes)) / lanes;
    std::vector<T> a(m * k), b(k * n);
    std::vector<double> want(m * n);
    for (auto& value : a) {
        value = Element<T>(random);
    }
    for (auto& value : b) {
        value = Element<T>(random);
    }
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t j = 0; j < k; ++j) {
            On<T>(kSpaceL0a)[m == 1 ? j : Zz(i, j, k_fractals, lanes)] = a[i * k + j];
        }
    }
    for (uint32_t i = 0; i < k; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            On<T>(kSpaceL0b)[Zn(i, j, Up(n, 16) / 16, lanes)] = b[i * n + j];
        }
    }
    const uint32_t rows = Up(m, 16);
    for (uint32_t j = 0; j < n; ++j) {
        On<C>(kSpaceBt, 64)[j] = static_cast<C>(static_cast<int>(random.Below(100)) - 50);
        for (uint32_t i = 0; i < m; ++i) {
            On<C>(kSpaceL0c)[Nz(i, j, rows)] = static_cast<C>(static_cast<int>(random.Below(100)) - 50);
            double sum = start == 0 ? 0 : start == 1 ? static_cast<double>(On<C>(kSpaceL0c)[Nz(i, j, rows)]) : static_cast<double>(On<C>(kSpaceBt, 64)[j]);
            for (uint32_t l = 0; l < k; ++l) {
                sum += static_cast<double>(static_cast<float>(a[i * k + l])) * static_cast<double>(static_cast<float>(b[l * n + j]));
            }
            want[i * n + j] = sum;
        }
    }
    // Fractals are whole; what lies behind the last one is no result.
    C* behind = &On<C>(kSpaceL0c)[rows * Up(n, 16)];
    std::fill_n(behind, 16, static_cast<C>(77));
    if (start == 2) {
        mad(On<C>(kSpaceL0c), On<T>(kSpaceL0a), On<T>(kSpaceL0b), reinterpret_cast<uint64_t>(On<C>(kSpaceBt, 64)), m, k, n, 0, aligned, true, false);
    } else {
        mad(On<C>(kSpaceL0c), On<T>(kSpaceL0a), On<T>(kSpaceL0b), m, k, n, 0, aligned, false, start == 0);
    }
    Expect(std::all_of(behind, behind + 16, [](C value) { return value == static_cast<C>(77); }), Text("behind mad", {uint32_t(sizeof(T)), m, k, n}));
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            const double got = static_cast<double>(On<C>(kSpaceL0c)[Nz(i, j, rows)]);
            const double tolerance = sizeof(T) == 1 ? 0 : 1e-5 * (1 + k);
            Expect(std::fabs(got - want[i * n + j]) <= tolerance, Text("mad", {uint32_t(sizeof(T)), m, k, n, uint32_t(start), i, j}));
        }
    }
}

void CheckMadS4(Random& random, uint32_t m, uint32_t k, uint32_t n)
{
    std::vector<int> a(m * k), b(k * n);
    std::memset(On<uint8_t>(kSpaceL0a), 0, 65536);
    std::memset(On<uint8_t>(kSpaceL0b), 0, 65536);
    const auto put = [](uint8_t* base, size_t index, int value) {
        base[index / 2] = static_cast<uint8_t>(base[index / 2] | (value & 15) << (index % 2 * 4));
    };
    for (uint32_t i = 0; i < m * k; ++i) {
        a[i] = static_cast<int>(random.Below(16)) - 8;
        put(On<uint8_t>(kSpaceL0a), Zz(i / k, i % k, Up(k, 64) / 64, 64), a[i]);
    }
    for (uint32_t i = 0; i < k * n; ++i) {
        b[i] = static_cast<int>(random.Below(16)) - 8;
        put(On<uint8_t>(kSpaceL0b), Zn(i / n, i % n, Up(n, 16) / 16, 64), b[i]);
    }
    mad_s4(On<int32_t>(kSpaceL0c), On<uint8_t>(kSpaceL0a), On<uint8_t>(kSpaceL0b), m, k, n, 0, false, false, true);
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            int sum = 0;
            for (uint32_t l = 0; l < k; ++l) {
                sum += a[i * k + l] * b[l * n + j];
            }
            Expect(On<int32_t>(kSpaceL0c)[Nz(i, j, Up(m, 16))] == sum, Text("mad_s4", {m, k, n, i, j}));
        }
    }
}

void CheckMadSparse(Random& random, uint32_t m, uint32_t k, uint32_t n)
{
    // Two of every four rows of b are kept for each column, anywhere; the dense product is the model.
    std::vector<int> a(m * k), b(k * n);
    const uint32_t fractals = Up(n, 16) / 16;
    std::memset(On<uint8_t>(kSpaceL1), 0, 65536);
    for (uint32_t i = 0; i < m * k; ++i) {
        a[i] = static_cast<int>(random.Below(200)) - 100;
        On<int8_t>(kSpaceL0a)[Zz(i / k, i % k, Up(k, 32) / 32, 32)] = static_cast<int8_t>(a[i]);
    }
    for (uint32_t j = 0; j < n; ++j) {
        for (uint32_t group = 0; group < k / 4; ++group) {
            const uint32_t first = random.Below(3);
            const uint32_t second = first + 1 + random.Below(3 - first);
            for (uint32_t which = 0; which < 2; ++which) {
                const int weight = static_cast<int>(random.Below(200)) - 100;
                const uint32_t at = which == 0 ? first : second;
                b[(group * 4 + at) * n + j] = weight;
                const size_t element = Zn(group * 2 + which, j, fractals, 32);
                On<int8_t>(kSpaceL1)[element] = static_cast<int8_t>(weight);
                On<uint8_t>(kSpaceL1, 32768)[element / 4] |= static_cast<uint8_t>((at - which) << (element % 4 * 2));
            }
        }
    }
    SetIndexMatrix(On<uint8_t>(kSpaceL1, 32768));
    load_cbuf_to_cb_sp(On<int8_t>(kSpaceL0b, 1024), On<int8_t>(kSpaceL1), 0, static_cast<uint8_t>(Up(k / 2, 32) / 32 * fractals));
    mad_sp(On<int32_t>(kSpaceL0c), On<int8_t>(kSpaceL0a), On<int8_t>(kSpaceL0b, 1024), m, k, n, 0, false, true);
    for (uint32_t i = 0; i < m; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            int sum = 0;
            for (uint32_t l = 0; l < k; ++l) {
                sum += a[i * k + l] * b[l * n + j];
            }
            Expect(On<int32_t>(kSpaceL0c)[Nz(i, j, Up(m, 16))] == sum, Text("mad_sp", {m, k, n, i, j}));
        }
    }
}

void CheckHf32()
{
    // 1 + 2^-12 is a tie of eleven bits: to even it falls, and so does it towards zero; 1 + 3 * 2^-12 tells them apart.
    const auto product = [](float value, uint64_t ctrl) {
        std::memset(On<uint8_t>(kSpaceL0a), 0, 1024);
        std::memset(On<uint8_t>(kSpaceL0b), 0, 1024);
        On<float>(kSpaceL0a)[0] = value;
        On<float>(kSpaceL0b)[0] = 1.0f;
        set_ctrl(ctrl);
        mad(On<float>(kSpaceL0c), On<float>(kSpaceL0a), On<float>(kSpaceL0b), 16, 8, 16, 0, false, false, true);
        set_ctrl(0);
        return On<float>(kSpaceL0c)[0];
    };
    const float tie = 1.0f + 3.0f / 4096.0f;
    Expect(product(tie, 0) == tie, "mad f32 keeps its bits");
    Expect(product(tie, uint64_t{1} << 46) == 1.0f + 4.0f / 4096.0f, "hf32 to even");
    Expect(product(tie, uint64_t{3} << 46) == 1.0f + 2.0f / 4096.0f, "hf32 towards zero");
}

/// Without rows, columns or anything to add up nothing is done, whatever the accumulators begin with.
void CheckNothing()
{
    for (int which = 0; which < 4; ++which) {
        On<float>(kSpaceL0c)[0] = 7.0f;
        mad(On<float>(kSpaceL0c), On<half>(kSpaceL0a), On<half>(kSpaceL0b), which == 1 ? 0 : 16, which == 2 ? 0 : 16, which == 3 ? 0 : 16, 0, false, false, true);
        Expect((On<float>(kSpaceL0c)[0] == 7.0f) == (which > 0), Text("mad of nothing", {uint32_t(which)}));
    }
}

template <typename T>
void CheckNdToNz(Random& random, void (*copy)(T*, T*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t))
{
    const uint32_t lanes = 32 / sizeof(T);
    const uint32_t matrices = 1 + random.Below(3);
    const uint32_t rows = 1 + random.Below(40);
    const uint32_t columns = 1 + random.Below(70);
    const uint32_t row_stride = columns + random.Below(9);
    const uint32_t matrix_stride = rows * row_stride + random.Below(5);
    const uint32_t n_stride = 1 + random.Below(2);
    const uint32_t c0_stride = rows * n_stride + random.Below(20);
    const uint32_t groups = Up(columns, lanes) / lanes;
    const uint32_t dst_matrix = groups * c0_stride * lanes + 32;
    Gm gm(matrices * matrix_stride * sizeof(T));
    for (auto& byte : gm.data) {
        byte = static_cast<uint8_t>(random.Next());
    }
    std::vector<uint8_t> want(On<uint8_t>(kSpaceL1), On<uint8_t>(kSpaceL1) + 524288);
    const auto* src = reinterpret_cast<const T*>(gm.data.data());
    for (uint32_t i = 0; i < matrices; ++i) {
        for (uint32_t row = 0; row < rows; ++row) {
            for (uint32_t column = 0; column < groups * lanes; ++column) {
                const size_t at = i * dst_matrix + (column / lanes * c0_stride + row * n_stride) * lanes + column % lanes;
                T value{};
                if (column < columns) {
                    value = src[i * matrix_stride + row * row_stride + column];
                }
                std::memcpy(&want[at * sizeof(T)], &value, sizeof(T));
            }
        }
    }
    copy(On<T>(kSpaceL1), reinterpret_cast<T*>(gm.data.data()), 0, matrices, rows, columns, matrix_stride, row_stride, c0_stride,
         n_stride, dst_matrix);
    Expect(std::memcmp(want.data(), On<uint8_t>(kSpaceL1), want.size()) == 0, Text("nd2nz", {uint32_t(sizeof(T)), matrices, rows, columns}));
}

void CheckLoads(Random& random)
{
    for (uint32_t i = 0; i < 65536; ++i) {
        On<uint8_t>(kSpaceL1)[i] = static_cast<uint8_t>(random.Next());
    }
    const auto* l1 = On<half>(kSpaceL1);
    const uint16_t base = static_cast<uint16_t>(8 + random.Below(4));
    const uint16_t stride = static_cast<uint16_t>(random.Below(3));
    const uint16_t gap = static_cast<uint16_t>(random.Below(3));
    for (int mode = 0; mode < 3; ++mode) {
        const bool transpose = mode == 1;
        const auto direction = mode == 2 ? dec : inc;
        const size_t behind = 3 * (gap + 1u) * 512 + 512;
        std::memset(On<uint8_t>(kSpaceL0a, behind), 0x55, (gap + 1u) * 512);
        load_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1), base, 4, stride, gap, 0, transpose, direction);
        load_cbuf_to_cb(On<half>(kSpaceL0b), On<half>(kSpaceL1), base, 4, stride, gap, 0, transpose, direction);
        for (size_t i = 0; i < (gap + 1u) * 512; ++i) {
            Expect(*On<uint8_t>(kSpaceL0a, behind + i) == 0x55, "behind load 2d");
        }
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t from = direction == dec ? base - i * stride : base + i * stride;
            for (uint32_t e = 0; e < 256; ++e) {
                const half want = l1[from * 256 + (transpose ? e % 16 * 16 + e / 16 : e)];
                const size_t at = i * (gap + 1u) * 256 + e;
                Expect(On<half>(kSpaceL0a)[at].Bits() == want.Bits() && On<half>(kSpaceL0b)[at].Bits() == want.Bits(),
                       Text("load 2d", {uint32_t(mode), i, e}));
            }
        }
    }
}

template <typename T>
void CheckTransposed(Random& random, uint32_t repeat, uint16_t gap, uint16_t fractal_gap)
{
    // Squares of 32 bytes (at least 16 elements) a side; squares of float have their fractals side by side.
    const uint32_t lanes = 32 / sizeof(T);
    const uint32_t side = lanes < 16 ? 16 : lanes;
    const uint32_t per_fractal = 512 / sizeof(T);
    for (uint32_t i = 0; i < 65536; ++i) {
        On<uint8_t>(kSpaceL1)[i] = static_cast<uint8_t>(random.Next());
    }
    load_cbuf_to_cb_transpose(On<T>(kSpaceL0b), On<T>(kSpaceL1), uint16_t{1}, static_cast<uint8_t>(repeat), uint16_t{2}, gap, false, fractal_gap);
    const auto at = [&](uint32_t row, uint32_t column) { return lanes < 16 ? column / lanes * per_fractal + row * lanes + column % lanes : row * side + column; };
    for (uint32_t i = 0; i < repeat; ++i) {
        for (uint32_t row = 0; row < side; ++row) {
            for (uint32_t column = 0; column < side; ++column) {
                const uint32_t to = at(row, column);
                const T got = On<T>(kSpaceL0b)[i * (gap + 1u) * per_fractal + to / per_fractal * (fractal_gap + 1u) * per_fractal + to % per_fractal];
                const T want = On<T>(kSpaceL1)[(1 + i * 2) * side * side + at(column, row)];
                Expect(std::memcmp(&got, &want, sizeof(T)) == 0, Text("transposed", {uint32_t(sizeof(T)), i, row, column}));
            }
        }
    }
}

template <typename T>
void CheckImg2col(Random& random, bool to_b, bool transpose, uint32_t channels)
{
    const uint32_t lanes = 32 / sizeof(T);
    const uint32_t width = 1 + random.Below(10);
    const uint32_t height = 1 + random.Below(10);
    const uint32_t left = random.Below(3), right = random.Below(3), top = random.Below(3), bottom = random.Below(3);
    const uint32_t fw = 1 + random.Below(3), fh = 1 + random.Below(3);
    const uint32_t dw = 1 + random.Below(2), dh = 1 + random.Below(2);
    const uint32_t sw = 1 + random.Below(2), sh = 1 + random.Below(2);
    if ((fw - 1) * dw + 1 > width + left + right || (fh - 1) * dh + 1 > height + top + bottom) {
        return;
    }
    const uint32_t out_w = (width + left + right - (fw - 1) * dw - 1) / sw + 1;
    const uint32_t out_h = (height + top + bottom - (fh - 1) * dh - 1) / sh + 1;
    const uint32_t full = channels / lanes * lanes;
    const uint32_t rest = channels - full;
    for (uint32_t i = 0; i < width * height * channels; ++i) {
        On<T>(kSpaceL1)[i] = static_cast<T>(random.Below(100) + 1);
    }
    // The unfolded matrix, column by column: group of channels, point of the window, channel of the group.
    std::vector<std::vector<T>> columns;
    for (uint32_t group = 0; group * lanes < channels; ++group) {
        const uint32_t size = group * lanes < full ? lanes : rest;
        for (uint32_t point = 0; point < fw * fh; ++point) {
            for (uint32_t channel = 0; channel < size; ++channel) {
                std::vector<T> column;
                for (uint32_t position = 0; position < out_w * out_h; ++position) {
                    const int x = static_cast<int>(position % out_w * sw + point % fw * dw) - static_cast<int>(left);
                    const int y = static_cast<int>(position / out_w * sh + point / fw * dh) - static_cast<int>(top);
                    const bool inside = x >= 0 && y >= 0 && x < static_cast<int>(width) && y < static_cast<int>(height);
                    column.push_back(inside ? On<T>(kSpaceL1)[group * lanes * width * height + (y * width + x) * size + channel] : T(7));
                }
                columns.push_back(column);
            }
        }
    }
    set_fmatrix(width | height << 16 | uint64_t{left} << 32 | uint64_t{right} << 40 | uint64_t{top} << 48 | uint64_t{bottom} << 56);
    if constexpr (std::is_same<T, half>::value) {
        set_padding(half(7));
    } else if constexpr (std::is_same<T, float>::value) {
        set_padding(7.0f);
    } else {
        set_padding(uint64_t{7});
    }
    const uint32_t m_start = random.Below(2) * 16;
    const uint32_t k_start = columns.size() > lanes ? random.Below(2) * lanes : 0;
    const uint32_t m_ext = 1 + random.Below(40);
    const uint32_t k_ext = 1 + random.Below(50);
    uint8_t* const result = On<uint8_t>(to_b ? kSpaceL0b : kSpaceL0a);
    std::memset(result, 0xEE, 32768);
    if (to_b) {
        if constexpr (sizeof(T) > 1) {
            img2colv2_cbuf_to_cb(On<T>(kSpaceL0b), On<T>(kSpaceL1), k_ext, m_ext, k_start, m_start, sw, sh, fw, fh, dw, dh, false, false, false, false, channels);
        }
    } else {
        img2colv2_cbuf_to_ca(On<T>(kSpaceL0a), On<T>(kSpaceL1), k_ext, m_ext, k_start, m_start, sw, sh, fw, fh, dw, dh, false, false, transpose, false, channels);
    }
    // Fractals are whole; nothing else is written, nor is a half of a fractal of floats that is turned and not asked for.
    const bool turned = to_b || transpose;
    const uint32_t whole = Up(m_ext, 16) * Up(k_ext, turned ? 16 : lanes) * uint32_t(sizeof(T));
    Expect(std::all_of(result + whole, result + 32768, [](uint8_t byte) { return byte == 0xEE; }),
           Text("behind img2col", {uint32_t(sizeof(T)), uint32_t(to_b), uint32_t(transpose), m_ext, k_ext}));
    for (uint32_t k = k_ext; turned && sizeof(T) == 4 && k < Up(k_ext, 16); ++k) {
        const uint8_t* at = result + sizeof(T) * (to_b ? Zn(0, k, Up(k_ext, 16) / 16, lanes) : Zz(k, 0, Up(m_ext, 16) / lanes, lanes));
        Expect(at[0] == 0xEE && at[31] == 0xEE, Text("columns that are not asked for", {uint32_t(to_b), k_ext, k}));
    }
    for (uint32_t m = 0; m < m_ext; ++m) {
        for (uint32_t k = 0; k < k_ext; ++k) {
            T want{};
            if (m_start + m < out_w * out_h && k_start + k < columns.size()) {
                want = columns[k_start + k][m_start + m];
            }
            const size_t at = to_b        ? Zn(m, k, Up(k_ext, 16) / 16, lanes)
                              : transpose ? Zz(k, m, Up(m_ext, 16) / lanes, lanes)
                                          : Zz(m, k, Up(k_ext, lanes) / lanes, lanes);
            const T got = On<T>(to_b ? kSpaceL0b : kSpaceL0a)[at];
            Expect(static_cast<float>(got) == static_cast<float>(want),
                   Text("img2col", {uint32_t(sizeof(T)), uint32_t(to_b), uint32_t(transpose), channels, width, height, m, k}));
        }
    }
}

/// The fixpipe on random accumulators, all of them at once against a model of one element.
template <typename T, typename U>
void CheckFixpipe(Random& random, QuantMode_t mode, bool rows_out, bool relu, bool split, bool to_l1)
{
    const uint32_t m = 1 + random.Below(50);
    const uint32_t n = rows_out ? 1 + random.Below(80) : (split ? (1 + random.Below(10)) * 8 : (1 + random.Below(5)) * 16);
    const uint32_t src_stride = Up(m, 16) + random.Below(3) * 16;
    const bool vector = mode == VREQ8 || mode == VDEQF16 || mode == VQF322B8_PRE;
    std::vector<uint64_t> words(256);
    for (auto& word : words) {
        const float scale = static_cast<float>(random.Real(-0.5, 2));
        const int offset = random.Below(16) == 0 ? (random.Below(2) == 0 ? -256 : 255) : static_cast<int>(random.Below(21)) - 10;
        word = ascendsim::FloatBits(scale) | uint64_t(offset & 0x1FF) << 37 | uint64_t{std::is_same<T, int8_t>::value} << 46;
    }
    if (!vector) {
        std::fill(words.begin(), words.end(), words[0]);
    }
    set_quant_pre(words[0]);
    std::memcpy(On<uint8_t>(kSpaceL1, 400000 / 32 * 32), words.data(), 2048);
    copy_cbuf_to_fbuf(On<uint8_t>(kSpaceFb, 128), On<uint8_t>(kSpaceL1, 400000 / 32 * 32), 1, 16, 0, 0);
    set_fpc((uint64_t{128} >> 7) << 8);
    const uint32_t matrices = rows_out ? 1 + random.Below(2) : 1;
    const uint32_t nd_stride = Up(src_stride * Up(n, 16) * 4, 1024) / 1024;
    std::vector<U> source(131072 / 4);
    for (auto& value : source) {
        value = std::is_same<U, float>::value ? static_cast<U>(random.Real(-70, 70)) : static_cast<U>(static_cast<int>(random.Below(200)) - 100);
    }
    source[3] = static_cast<U>(100000.0);
    if constexpr (std::is_same<U, float>::value) {
        if (mode == F322F16 || mode == F322BF16) {
            source[5] = std::numeric_limits<float>::infinity();
            source[6] = -source[5];
            source[7] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    const bool saturates = random.Below(2) == 0;
    set_ctrl((static_cast<uint64_t>(get_ctrl()) & ~(uint64_t{1} << 48)) | uint64_t{!saturates} << 48);
    const auto limited = [saturates](float value, float limit) {
        return !saturates ? value : std::isnan(value) ? 0.0f : std::fmax(-limit, std::fmin(limit, value));
    };
    std::memcpy(On<uint8_t>(kSpaceL0c), source.data(), 131072);
    const auto convert = [&](U value, uint32_t column) -> T {
        if (mode == NoQuant) {
            return static_cast<T>(relu && value < U(0) ? U(0) : value);
        }
        if (mode == F322F16 || mode == F322BF16) {
            const float wide = relu && value < U(0) ? 0.0f : static_cast<float>(value);
            return T(limited(wide, mode == F322F16 ? 65504.0f : 3.3895314e38f));
        }
        const uint32_t bits = static_cast<uint32_t>(words[column]) & 0xFFFFE000u;
        float scaled = static_cast<float>(value) * (relu && value < U(0) ? 0.0f : ascendsim::FloatFromBits(bits));
        if (mode == DEQF16 || mode == VDEQF16) {
            return T(limited(scaled, 65504.0f));
        }
        int offset = static_cast<int>(words[column] >> 37 & 0x1FF);
        offset = offset > 255 ? offset - 512 : offset;
        const int rounded = static_cast<int>(std::nearbyint(std::fmax(-256.0f, std::fmin(255.0f, scaled)))) + offset;
        const int low = std::is_same<T, int8_t>::value ? -128 : 0;
        return static_cast<T>(static_cast<int>(std::fmax(low, std::fmin(low + 255, rounded))));
    };
    const uint32_t width = split ? 8 : sizeof(T) == 1 ? 32 : 16;
    const uint32_t dst_stride = rows_out ? n + random.Below(5) : Up(m, 16) * width * sizeof(T) / 32;
    const uint32_t dst_matrix = m * dst_stride + 3;
    Gm gm(262144);
    std::vector<uint8_t> want = gm.data;
    for (uint32_t i = 0; i < matrices; ++i) {
        for (uint32_t row = 0; row < m; ++row) {
            for (uint32_t column = 0; column < n; ++column) {
                const T value = convert(source[i * nd_stride * 256 + column / 16 * src_stride * 16 + row * 16 + column % 16], column);
                const uint32_t group = column / width;
                // The last sixteen columns of an odd number of column blocks are not merged.
                const uint32_t lanes = std::min(width, n - group * width);
                const size_t byte = rows_out ? (i * dst_matrix + row * dst_stride + column) * sizeof(T)
                                             : group * dst_stride * 32 + (row * lanes + column % width) * sizeof(T);
                std::memcpy(&want[byte], &value, sizeof(T));
            }
        }
    }
    set_nd_para(matrices | uint64_t{nd_stride} << 16 | uint64_t{dst_matrix} << 32);
    if (to_l1) {
        std::memset(On<uint8_t>(kSpaceL1), 0, 262144);
        copy_matrix_cc_to_cbuf(On<T>(kSpaceL1), On<U>(kSpaceL0c), 0, n, m, dst_stride, src_stride, 0, mode, relu, split, rows_out);
        std::memcpy(gm.data.data(), On<uint8_t>(kSpaceL1), 262144);
    } else {
        copy_matrix_cc_to_gm(reinterpret_cast<T*>(gm.data.data()), On<U>(kSpaceL0c), 0, n, m, dst_stride, src_stride, 0, mode, relu, split, rows_out);
    }
    Expect(gm.data == want, Text("fixpipe", {uint32_t(mode), uint32_t(rows_out), uint32_t(relu), uint32_t(split), uint32_t(to_l1), m, n}));
}

void CheckFills(Random& random)
{
    const uint32_t repeat = 1 + random.Below(3);
    const uint32_t blocks = 1 + random.Below(3);
    const uint32_t gap = random.Below(3);
    const int64_t config = repeat | blocks << 16 | int64_t{gap} << 32;
    std::vector<uint8_t> want(On<uint8_t>(kSpaceL0a), On<uint8_t>(kSpaceL0a) + 16384);
    for (uint32_t i = 0; i < repeat; ++i) {
        for (uint32_t e = 0; e < blocks * 256; ++e) {
            const uint16_t bits = half(2.5f).Bits();
            std::memcpy(&want[i * (blocks + gap) * 512 + 2 * e], &bits, 2);
        }
    }
    create_ca_matrix(On<half>(kSpaceL0a), config, half(2.5f));
    Expect(std::memcmp(want.data(), On<uint8_t>(kSpaceL0a), want.size()) == 0, "create_ca_matrix");
    std::vector<uint8_t> l1(On<uint8_t>(kSpaceL1), On<uint8_t>(kSpaceL1) + 4096);
    for (uint32_t i = 0; i < repeat; ++i) {
        for (uint32_t e = 0; e < blocks * 8; ++e) {
            const uint32_t bits = 0x12345678;
            std::memcpy(&l1[i * (blocks + gap) * 32 + 4 * e], &bits, 4);
        }
    }
    create_cbuf_matrix(On<uint32_t>(kSpaceL1), config, uint32_t{0x12345678});
    Expect(std::memcmp(l1.data(), On<uint8_t>(kSpaceL1), l1.size()) == 0, "create_cbuf_matrix");
}

void CheckCopies(Random& random)
{
    Gm gm(65536);
    for (auto& byte : gm.data) {
        byte = static_cast<uint8_t>(random.Next());
    }
    const uint16_t bursts = static_cast<uint16_t>(1 + random.Below(4));
    const uint16_t len = static_cast<uint16_t>(1 + random.Below(4));
    const uint16_t from_gap = static_cast<uint16_t>(random.Below(4));
    const uint16_t to_gap = static_cast<uint16_t>(random.Below(4));
    copy_gm_to_cbuf(On<uint8_t>(kSpaceL1, 64), gm.data.data(), 0, bursts, len, from_gap, to_gap, PAD_NONE);
    for (uint32_t i = 0; i < bursts; ++i) {
        Expect(std::memcmp(On<uint8_t>(kSpaceL1, 64 + i * (len + to_gap) * 32u), &gm.data[i * (len + from_gap) * 32u], len * 32u) == 0, "copy_gm_to_cbuf");
    }
    copy_cbuf_to_gm(gm.data.data() + 32768, On<uint8_t>(kSpaceL1, 64), 0, bursts, len, to_gap, from_gap);
    for (uint32_t i = 0; i < bursts; ++i) {
        Expect(std::memcmp(&gm.data[32768 + i * (len + from_gap) * 32u], On<uint8_t>(kSpaceL1, 64 + i * (len + to_gap) * 32u), len * 32u) == 0, "copy_cbuf_to_gm");
    }
    for (uint32_t i = 0; i < 64; ++i) {
        On<half>(kSpaceL1)[i] = half(static_cast<float>(random.Real(-9, 9)));
    }
    copy_cbuf_to_bt(reinterpret_cast<uint64_t>(On<float>(kSpaceBt)), On<half>(kSpaceL1), 1, 1, 2, 0, 0);
    for (uint32_t i = 0; i < 64; ++i) {
        Expect(On<float>(kSpaceBt)[i] == static_cast<float>(On<half>(kSpaceL1)[i]), "copy_cbuf_to_bt widens");
    }
    load_gm_to_cbuf(On<half>(kSpaceL1, 1024), reinterpret_cast<half*>(gm.data.data()), 2, 3, 1, 1, 0, inc);
    for (uint32_t i = 0; i < 3; ++i) {
        Expect(std::memcmp(On<uint8_t>(kSpaceL1, 1024 + i * 1024), &gm.data[(2 + i) * 512], 512) == 0, "load_gm_to_cbuf");
    }
}

/// What a kernel does wrong is in the trace, and the instruction leaves memory alone.
void CheckFaults()
{
    ascendsim::LaunchInfo info;
    info.kernel = "test";
    info.block_dim = 1;
    info.type = ascendsim::KernelType::kAic;
    ascendsim::RunLaunch(
        info,
        [](void*) {
            mad(On<float>(kSpaceL0c, 64), On<half>(kSpaceL0a), On<half>(kSpaceL0b), 16, 16, 16, 0, false, false, true);
            load_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1), 2000, 1, 1, 0, 0, false, inc);
            load_cbuf_to_ca(On<float>(kSpaceL0a), On<float>(kSpaceL1), 0, 1, 1, 0, 0, true, inc);
            load_cbuf_to_ca_transpose(On<half>(kSpaceL0a), On<half>(kSpaceL1, 16), 0, 1, 1, 0, inc, 0);
            mad(On<float>(kSpaceL0c), On<half>(kSpaceL0a), On<half>(kSpaceL0b), 20, 40, 33, 3, false, false, true);
            copy_gm_to_cbuf(On<uint8_t>(kSpaceL1), nullptr, 0, 1, 1, 0, 0, PAD_MODE1);
        },
        nullptr);
    const Trace trace = ReadTrace(kTraceFile);
    std::string faults;
    const Record* multiply = nullptr;
    for (const Record& record : trace.records) {
        if (record.name == "fault") {
            faults += record.message + "\n";
        }
        multiply = record.name == "mad" ? &record : multiply;
    }
    Expect(faults.find("mad: L0C offset 64 is not a multiple of 1024") != std::string::npos, "misaligned accumulators: " + faults);
    Expect(faults.find("load_cbuf_to_ca: 512 bytes at L1 offset 1024000") != std::string::npos, "out of L1: " + faults);
    Expect(faults.find("only 16-bit elements are transposed") != std::string::npos, "transposing floats: " + faults);
    Expect(faults.find("load_cbuf_to_ca_transpose: L1 offset 16 is not a multiple of 32") != std::string::npos, "misaligned square: " + faults);
    Expect(faults.find("copy_gm_to_cbuf: a padding mode is not supported") != std::string::npos, "padding mode: " + faults);
    Expect(multiply != nullptr && multiply->head.pipe == ascendsim::kPipeM && multiply->head.aux0 == 20 && multiply->head.aux1 == 40 &&
               multiply->head.aux2 == 33 && multiply->ops.size() == 3 && multiply->ops[0].len == 2 * 3 * 1024 &&
               multiply->ops[1].len == 2 * 3 * 512 && multiply->ops[2].len == 3 * 3 * 512,
           "operands of mad");
}

}  // namespace

int main()
{
    setenv("ASCEND_SIM_TRACE", kTraceFile, 1);
    Random random(7);
    for (int round = 0; round < 12; ++round) {
        for (int start = 0; start < 3; ++start) {
            const uint32_t m = round == 0 ? 1 : round == 1 ? 32 : 1 + random.Below(64);
            CheckMad<half, float>(random, m, 1 + random.Below(90), 1 + random.Below(70), start, false);
            CheckMad<bfloat16_t, float>(random, m, 1 + random.Below(90), 1 + random.Below(70), start, false);
            CheckMad<float, float>(random, m, 1 + random.Below(60), 1 + random.Below(60), start, round % 2 == 1);
            CheckMad<int8_t, int32_t>(random, m, 1 + random.Below(90), 1 + random.Below(70), start, false);
        }
        CheckMadS4(random, 2 + random.Below(40), 1 + random.Below(130), 1 + random.Below(50));
        CheckMadSparse(random, 2 + random.Below(40), (1 + random.Below(4)) * 64, 1 + random.Below(50));
        CheckNdToNz<int8_t>(random, copy_gm_to_cbuf_multi_nd2nz_b8);
        CheckNdToNz<half>(random, copy_gm_to_cbuf_multi_nd2nz_b16);
        CheckNdToNz<float>(random, copy_gm_to_cbuf_multi_nd2nz_b32s);
        CheckLoads(random);
        CheckTransposed<int8_t>(random, 1 + random.Below(4), 3, static_cast<uint16_t>(random.Below(2)));
        CheckTransposed<half>(random, 1 + random.Below(4), static_cast<uint16_t>(random.Below(3)), 0);
        CheckTransposed<float>(random, 1 + random.Below(4), 3, static_cast<uint16_t>(random.Below(2)));
        CheckFills(random);
        CheckCopies(random);
        for (uint32_t channels : {1u, 4u, 16u, 20u, 48u}) {
            CheckImg2col<half>(random, false, false, channels);
            CheckImg2col<half>(random, false, true, channels);
            CheckImg2col<half>(random, true, false, channels);
            CheckImg2col<float>(random, false, false, channels);
            CheckImg2col<float>(random, false, true, channels);
            CheckImg2col<float>(random, true, false, channels);
            CheckImg2col<int8_t>(random, false, false, channels);
        }
        for (int relu = 0; relu < 2; ++relu) {
            for (int rows = 0; rows < 2; ++rows) {
                CheckFixpipe<float, float>(random, NoQuant, rows, relu, false, false);
                CheckFixpipe<int32_t, int32_t>(random, NoQuant, rows, relu, false, false);
                CheckFixpipe<half, float>(random, F322F16, rows, relu, false, false);
                CheckFixpipe<bfloat16_t, float>(random, F322BF16, rows, relu, false, false);
                CheckFixpipe<half, int32_t>(random, DEQF16, rows, relu, false, false);
                CheckFixpipe<half, int32_t>(random, VDEQF16, rows, relu, false, false);
                CheckFixpipe<int8_t, float>(random, QF322B8_PRE, rows, relu, false, false);
                CheckFixpipe<uint8_t, float>(random, VQF322B8_PRE, rows, relu, false, false);
                CheckFixpipe<int8_t, int32_t>(random, REQ8, rows, relu, false, false);
                CheckFixpipe<uint8_t, int32_t>(random, VREQ8, rows, relu, false, false);
            }
            CheckFixpipe<float, float>(random, NoQuant, false, relu, true, false);
            CheckFixpipe<half, float>(random, F322F16, false, relu, false, true);
            CheckFixpipe<int8_t, int32_t>(random, VREQ8, false, relu, false, true);
        }
    }
    CheckHf32();
    CheckNothing();
    CheckFaults();
    return Report("isa_differential_cube");
}
