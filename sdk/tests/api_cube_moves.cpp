// Functions of the cube core that fill and load its memories and bring results out, against index formulas and instructions by hand;
// those that only set registers, by what loads and results look like afterwards; what parameters are by default.
#ifndef __DAV_C220_CUBE__
#define __DAV_C220_CUBE__ 1
#endif
#include "isa_support.h"
#include "kernel_operator.h"

using namespace AscendC;
using namespace isa_test;

namespace {

uint8_t g_memory[65536];

/// Buffers of a core.
struct Buffers {
    Buffers()
    {
        pipe.InitBuffer(l1, 65536);
        pipe.InitBuffer(l0a, 32768);
        pipe.InitBuffer(l0b, 32768);
        pipe.InitBuffer(l0c, 65536);
    }
    TPipe pipe;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> l0a;
    TBuf<TPosition::B2> l0b;
    TBuf<TPosition::CO1> l0c;
};

void OnCube(const char* what, Callee<void(Buffers&)> body)
{
    std::function<void()> whole = [&] {
        Buffers buffers;
        body(buffers);
    };
    ascendsim::LaunchInfo info;
    info.kernel = "cube";
    info.type = ascendsim::KernelType::kAic;
    info.block_dim = 1;
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &whole);
    Expect(result.faults == 0, std::string(what) + ": " + result.first_fault);
}

template <typename T>
T* On(const LocalTensor<T>& tensor)
{
    return reinterpret_cast<T*>(tensor.GetPhyAddr());
}

/// Two stretches of three units, one unit between them; nothing else is written.
template <typename T>
void CheckFill(const char* what, T value)
{
    OnCube(what, [&](Buffers& buffers) {
        const auto check = [&](const LocalTensor<T>& tensor, uint32_t unit, bool shorter, const char* where) {
            const uint32_t bytes = 32768;
            auto* at = reinterpret_cast<uint8_t*>(On(tensor));
            std::memset(at, 0x5A, bytes);
            const InitConstValueParams<T> p(2, 3, 1, value);
            if (shorter) {
                Fill(tensor, p);
            } else {
                InitConstValue(tensor, p);
            }
            for (uint32_t i = 0; i < bytes; ++i) {
                const uint32_t in = i / unit;
                uint8_t want = 0x5A;
                if (in < 3 || (in >= 4 && in < 7)) {
                    std::memcpy(&want, reinterpret_cast<const uint8_t*>(&value) + i % sizeof(T), 1);
                }
                if (at[i] != want) {
                    return Fail(std::string(what) + " in " + where + ": byte " + std::to_string(i));
                }
            }
        };
        for (const bool shorter : {false, true}) {
            check(buffers.l1.Get<T>(), 32, shorter, "L1");
            check(buffers.l0a.Get<T>(), 512, shorter, "L0A");
            check(buffers.l0b.Get<T>(), 512, shorter, "L0B");
        }
    });
}

constexpr IsResetLoad3dConfig kMap = {true, false}, kPadding = {false, true}, kNeither = {false, false};

/// Where `load` puts what, with registers for a small map and padding of zeros before.
template <typename Load>
std::vector<uint8_t> Loaded(bool right, Load load)
{
    std::vector<uint8_t> bytes(8192);
    OnCube("3D load", [&](Buffers& buffers) {
        LocalTensor<half> l1 = buffers.l1.Get<half>();
        for (uint32_t i = 0; i < 2048; ++i) On(l1)[i] = half(static_cast<float>(i));
        LocalTensor<half> to = right ? buffers.l0b.Get<half>() : buffers.l0a.Get<half>();
        auto* const at = reinterpret_cast<uint8_t*>(On(to));
        std::memset(at, 0x5A, bytes.size());
        const uint8_t none[] = {0, 0, 0, 0};
        SetFmatrix(7, 7, none, FmatrixMode::FMATRIX_LEFT);
        SetFmatrix(6, 8, none, FmatrixMode::FMATRIX_RIGHT);
        SetLoadDataPaddingValue(half(0.0f));
        load(to, l1);
        std::memcpy(bytes.data(), at, bytes.size());
    });
    return bytes;
}

/// Windows go to L0A and to L0B by all that parameters say, and set those registers that the configuration names.
template <const IsResetLoad3dConfig& config>
void CheckWindows(bool map, bool padding)
{
    for (const bool right : {false, true}) {
        for (const bool second : {false, true}) {
            const uint8_t pads[] = {1, 2, 1, 0};
            const LoadData3DParamsV2<half> p(pads, 5, 6, 32, 32, 32, 16, 16, 2, 1, 2, 3, 1, 1, !right, false, half(3.0f), false, false, second);
            const auto got = Loaded(right, [&](const LocalTensor<half>& to, const LocalTensor<half>& from) { LoadData<half, config>(to, from, p); });
            const auto want = Loaded(right, [&](const LocalTensor<half>& to, const LocalTensor<half>& from) {
                // Width, height and the paddings at left, right, top and bottom from the lowest bits on.
                const uint64_t word = 6 | 5 << 16 | uint64_t{1} << 32 | uint64_t{2} << 40 | uint64_t{1} << 48;
                if (map && second) {
                    set_fmatrix_b(word);
                } else if (map) {
                    set_fmatrix(word);
                }
                if (padding) {
                    set_padding(uint64_t{0x42004200});
                }
                if (right) {
                    img2colv2_cbuf_to_cb(reinterpret_cast<__cb__ half*>(On(to)), reinterpret_cast<__cbuf__ half*>(On(from)), 32, 32, 16, 16, 2, 1, 2, 3, 1, 1, false,
                                         false, false, second, 32);
                } else {
                    img2colv2_cbuf_to_ca(reinterpret_cast<__ca__ half*>(On(to)), reinterpret_cast<__cbuf__ half*>(On(from)), 32, 32, 16, 16, 2, 1, 2, 3, 1, 1, false,
                                         false, true, second, 32);
                }
            });
            Expect(got == want, std::string("windows to ") + (right ? "L0B" : "L0A") + (second ? " by the second map" : "") + (map ? ", sets it" : "") +
                                    (padding ? ", sets the padding" : ""));
            if (!map && !padding) {
                const LoadData3DParamsV2Pro packed(32, !right, false, false, false, second, 0x0010001000200020, 0x010103020102);
                const auto also = Loaded(right, [&](const LocalTensor<half>& to, const LocalTensor<half>& from) { LoadData(to, from, packed); });
                Expect(also == want, std::string("packed windows to ") + (right ? "L0B" : "L0A"));
                const LoadData3DParamsV2Pro from_first(32, !right, false, false, false, second, 0x0000001000200020, 0x010103020102);
                const auto of_a_map = [&](auto set) {
                    return Loaded(right, [&](const LocalTensor<half>& to, const LocalTensor<half>& from) {
                        set();
                        LoadData(to, from, from_first);
                    });
                };
                const auto set = of_a_map([&] { Load3DSetFMatrixCal(5, 6, pads); });
                Expect(set == of_a_map([&] { SetFmatrix(5, 6, pads); }) && (set == of_a_map([] {})) == second, "Load3DSetFMatrixCal sets the first map");
            }
        }
    }
}

/// Results by the older parameters: bursts of sixteen columns, lengths in blocks of eight accumulators, gaps instead of strides.
template <typename T>
void CheckBursts(uint16_t columns, uint16_t rows, uint16_t from_gap, uint16_t to_gap, bool relu)
{
    const uint32_t from_step = (rows + 15u) / 16 * 256 + from_gap * 256u;         // accumulators from one column of fractals to the next
    const uint32_t to_step = rows * 16u + to_gap * 32u / static_cast<uint32_t>(sizeof(T));  // results
    const std::string what = "bursts of " + std::to_string(rows) + " rows, " + std::to_string(sizeof(T)) + " bytes";
    OnCube(what.c_str(), [&](Buffers& buffers) {
        LocalTensor<float> c = buffers.l0c.Get<float>();
        for (int i = 0; i < 4096; ++i) On(c)[i] = static_cast<float>(i % 2048 - 700);
        FixpipeParams<float> p(columns, static_cast<uint16_t>(rows * 2), from_gap, to_gap);
        p.quantParams.quantPre = sizeof(T) == 2 ? QuantMode_t::F322F16 : QuantMode_t::NoQuant;
        p.reluEn = relu;
        std::vector<T> want(8192, T(9.0f));
        for (uint32_t column = 0; column < columns; ++column) {
            for (uint32_t i = 0; i < rows * 16u; ++i) {
                const float value = On(c)[column * from_step + i];
                want[column * to_step + i] = T(relu && value < 0 ? 0.0f : value);
            }
        }
        const auto check = [&](const T* at, const char* where) {
            for (uint32_t i = 0; i < want.size(); ++i) {
                if (static_cast<float>(at[i]) != static_cast<float>(want[i])) {
                    return Fail(what + " in " + where + ": " + std::to_string(i) + " is " + std::to_string(static_cast<float>(at[i])));
                }
            }
        };
        GlobalTensor<T> gm;
        gm.SetGlobalBuffer(reinterpret_cast<T*>(g_memory));
        std::fill_n(reinterpret_cast<T*>(g_memory), want.size(), T(9.0f));
        Fixpipe(gm, c, p);
        check(reinterpret_cast<T*>(g_memory), "global memory");
        if constexpr (sizeof(T) == 2) {
            LocalTensor<T> l1 = buffers.l1.Get<T>();
            std::fill_n(On(l1), want.size(), T(9.0f));
            Fixpipe(l1, c, p);
            check(On(l1), "L1");
            // By the other name strides go from start to start.
            std::fill_n(On(l1), want.size(), T(9.0f));
            DataCopy(l1, c,
                     DataCopyCO12DstParams(static_cast<uint16_t>(columns * 16), rows, to_step / 16, static_cast<uint16_t>(from_step / 16), QuantMode_t::F322F16, relu,
                                           false, false));
            check(On(l1), "L1 by DataCopy");
        }
        // Row-major: `originalNSize` columns of a row, `dstStride` elements from row to row, several matrices.
        p.nz2ndParams.nz2ndEn = true;
        p.nz2ndParams.originalNSize = static_cast<uint16_t>(columns * 16 - 5);
        p.nz2ndParams.ndNum = 2;
        p.nz2ndParams.srcNdStride = 1;
        p.nz2ndParams.dstNdStride = 2000;
        p.dstStride = 53;
        want.assign(want.size(), T(9.0f));
        for (uint32_t matrix = 0; matrix < 2; ++matrix) {
            for (uint32_t row = 0; row < rows; ++row) {
                for (uint32_t column = 0; column < p.nz2ndParams.originalNSize; ++column) {
                    const float value = On(c)[matrix * 256 + column / 16 * from_step + row * 16 + column % 16];
                    want[matrix * 2000 + row * 53 + column] = T(relu && value < 0 ? 0.0f : value);
                }
            }
        }
        std::fill_n(reinterpret_cast<T*>(g_memory), want.size(), T(9.0f));
        Fixpipe(gm, c, p);
        check(reinterpret_cast<T*>(g_memory), "rows");
    });
}

/// A factor for each column, of as many columns as there are.
void CheckFactors()
{
    for (const uint16_t columns : {16, 20, 32, 48}) {
        OnCube("factors", [&](Buffers& buffers) {
            LocalTensor<int32_t> c = buffers.l0c.Get<int32_t>();
            for (int32_t i = 0; i < 2048; ++i) On(c)[i] = i % 97 - 40;
            LocalTensor<uint64_t> factors = buffers.l1.Get<uint64_t>();
            for (uint32_t i = 0; i < columns; ++i) On(factors)[i] = ascendsim::FloatBits(static_cast<float>(1 + i % 5) * 0.5f);
            std::memset(ascendsim::OnChipBase(7), 0x77, 1024);
            GlobalTensor<half> gm;
            gm.SetGlobalBuffer(reinterpret_cast<half*>(g_memory));
            FixpipeParamsV220 p(columns, 16, 16, columns, false, QuantMode_t::VDEQF16);
            Fixpipe<half, int32_t, CFG_ROW_MAJOR>(gm, c, factors, p);
            for (uint32_t i = 0; i < 16u * columns; ++i) {
                const uint32_t column = i % columns;
                const float want = static_cast<float>(On(c)[column / 16 * 256 + i / columns * 16 + column % 16]) * static_cast<float>(1 + column % 5) * 0.5f;
                Expect(static_cast<float>(reinterpret_cast<half*>(g_memory)[i]) == want, "factors of " + std::to_string(columns) + " columns: " + std::to_string(i));
            }
            // The same by the older parameters, of whole columns of fractals, in rows, as columns, and to L1.
            const auto columns_of_fractals = static_cast<uint16_t>(columns / 16);
            FixpipeParams<int32_t> bursts(columns_of_fractals, 32, 0, 0);
            bursts.quantParams.quantPre = QuantMode_t::VDEQF16;
            const LocalTensor<half> l1 = buffers.l1.Get<half>()[4096];
            Fixpipe(l1, c, factors, bursts);
            Fixpipe(gm, c, factors, bursts);
            for (uint32_t i = 0; i < 256u * columns_of_fractals; ++i) {
                const float want = static_cast<float>(On(c)[i]) * static_cast<float>(1 + (i / 256 * 16 + i % 16) % 5) * 0.5f;
                const float got = static_cast<float>(reinterpret_cast<half*>(g_memory)[i]);
                Expect(got == want && static_cast<float>(On(l1)[i]) == want, "factors of bursts, " + std::to_string(columns) + " columns: " + std::to_string(i));
            }
            bursts.nz2ndParams = {true, 1, 0, 0, static_cast<uint16_t>(columns_of_fractals * 16)};
            bursts.dstStride = columns_of_fractals * 16u;
            Fixpipe(gm, c, factors, bursts);
            for (uint32_t i = 0; i < 256u * columns_of_fractals; ++i) {
                const uint32_t column = i % (columns_of_fractals * 16u), row = i / (columns_of_fractals * 16u);
                const float want = static_cast<float>(On(c)[column / 16 * 256 + row * 16 + column % 16]) * static_cast<float>(1 + column % 5) * 0.5f;
                Expect(static_cast<float>(reinterpret_cast<half*>(g_memory)[i]) == want, "factors of bursts in rows: " + std::to_string(i));
            }
            Expect(ascendsim::OnChipBase(7)[(columns * 8u + 127) / 128 * 128] == 0x77, "behind the factors of " + std::to_string(columns) + " columns");
        });
    }
}

/// Two bursts of three blocks from L1, a block between them there and two in global memory.
void CheckOut()
{
    OnCube("out of L1", [](Buffers& buffers) {
        const LocalTensor<int32_t> l1 = buffers.l1.Get<int32_t>();
        GlobalTensor<int32_t> gm;
        gm.SetGlobalBuffer(reinterpret_cast<int32_t*>(g_memory) + 3);
        for (int32_t i = 0; i < 128; ++i) {
            On(l1)[i] = 1000 + i;
            reinterpret_cast<int32_t*>(g_memory)[i] = i;
        }
        DataCopy(gm, l1, DataCopyParams(2, 3, 1, 2));
        for (int32_t i = 0; i < 128; ++i) {
            const int32_t at = i - 3;
            const bool written = at >= 0 && at < 64 && at % 40 < 24;
            Expect(reinterpret_cast<int32_t*>(g_memory)[i] == (written ? 1000 + at / 40 * 32 + at % 40 : i), "out of L1: " + std::to_string(i));
        }
    });
}

/// Fractals have sixteen columns, and eight where channels are split.
void CheckFractalColumns()
{
    for (const bool split : {false, true}) {
        for (const uint16_t columns : {16, 20, 24, 32, 36}) {
            std::function<void()> whole = [&] {
                Buffers buffers;
                GlobalTensor<float> gm;
                gm.SetGlobalBuffer(reinterpret_cast<float*>(g_memory));
                FixpipeParamsV220 p(columns, 16, 16, 64, false);
                p.isChannelSplit = split;
                Fixpipe<float, float, CFG_NZ>(gm, buffers.l0c.Get<float>(), p);
            };
            ascendsim::LaunchInfo info;
            info.kernel = "cube";
            info.type = ascendsim::KernelType::kAic;
            info.block_dim = 1;
            const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &whole);
            const std::string says = "bad_argument: Fixpipe: " + std::to_string(columns) + " columns as fractals, which have " + (split ? "8" : "16") + " each";
            Expect(columns % (split ? 8 : 16) == 0 ? result.faults == 0 : result.first_fault == says,
                   std::to_string(columns) + " columns as fractals: " + result.first_fault);
        }
    }
}

/// Bursts to the tables of biases and of factors; nothing else is written.
void CheckTables()
{
    OnCube("tables", [](Buffers& buffers) {
        LocalTensor<half> l1 = buffers.l1.Get<half>();
        for (uint32_t i = 0; i < 1024; ++i) On(l1)[i] = half(static_cast<float>(i));
        const auto check = [](const char* what, uint32_t space, const std::vector<uint8_t>& want) {
            Expect(std::memcmp(isa_test::On<uint8_t>(space), want.data(), want.size()) == 0, what);
        };
        // Three bursts of 64 bytes, gaps of 32 and of 64 bytes; as they are and widened.
        for (const bool wider : {false, true}) {
            std::vector<uint8_t> want(1024, 0x5A);
            std::memset(isa_test::On<uint8_t>(ascendsim::kSpaceBt), 0x5A, want.size());
            copy_cbuf_to_bt(reinterpret_cast<uint64_t>(isa_test::On<uint8_t>(ascendsim::kSpaceBt)), On(l1), wider ? 1 : 0, 3, 1, 1, 1);
            for (uint32_t i = 0; i < 3 * 32; ++i) {
                const half value = half(static_cast<float>(i / 32 * 48 + i % 32));
                const auto wide = static_cast<float>(value);
                if (wider) {
                    std::memcpy(&want[i / 32 * 192 + i % 32 * 4], &wide, 4);
                } else {
                    std::memcpy(&want[i / 32 * 128 + i % 32 * 2], &value, 2);
                }
            }
            check(wider ? "widened biases" : "biases", ascendsim::kSpaceBt, want);
        }
        // Three bursts of 128 bytes, five blocks from start to start, to every third of their own length.
        std::vector<uint8_t> want(2048, 0x5A);
        std::memset(isa_test::On<uint8_t>(ascendsim::kSpaceFb), 0x5A, want.size());
        copy_cbuf_to_fbuf(isa_test::On<uint8_t>(ascendsim::kSpaceFb), On(l1), 3, 1, 5, 3);
        for (uint32_t i = 0; i < 3 * 128; ++i) {
            want[i / 128 * 384 + i % 128] = reinterpret_cast<const uint8_t*>(On(l1))[i / 128 * 160 + i % 128];
        }
        check("factors", ascendsim::kSpaceFb, want);
    });
}

constexpr uint32_t kChannels = 32;  // two groups of sixteen

/// Value of channel `c` of pixel (y, x), which tells them apart exactly as a half.
float Pixel(int y, int x, uint32_t c) { return static_cast<float>(1 + y * 97 + x * 13 + static_cast<int>(c)); }

struct Map {
    int height, width;
    int left, right, top, bottom;
    float padding;
};

/// Loads rows m.. and columns k.. of the matrix of `fw` x 1 windows as registers say, and compares `turns` results one after another,
/// each `rows` rows and `columns` columns further on.
void CheckLoad(const Map& map, bool right, int fw, int m, int k, int turns, int rows, int columns)
{
    OnCube("3D load by registers", [&](Buffers& buffers) {
        LocalTensor<half> l1 = buffers.l1.Get<half>();
        for (int y = 0; y < map.height; ++y) {
            for (int x = 0; x < map.width; ++x) {
                for (uint32_t c = 0; c < kChannels; ++c) {
                    On(l1)[(c / 16) * map.height * map.width * 16 + (y * map.width + x) * 16 + c % 16] = half(Pixel(y, x, c));
                }
            }
        }
        const uint8_t padding[4] = {static_cast<uint8_t>(map.left), static_cast<uint8_t>(map.right), static_cast<uint8_t>(map.top),
                                    static_cast<uint8_t>(map.bottom)};
        const uint8_t none[4] = {0, 0, 0, 0};
        SetFmatrix(1, 1, none, right ? FmatrixMode::FMATRIX_LEFT : FmatrixMode::FMATRIX_RIGHT);
        SetFmatrix(static_cast<uint16_t>(map.height), static_cast<uint16_t>(map.width), padding, right ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
        SetLoadDataPaddingValue(half(map.padding));
        const bool along = columns != 0;
        if (turns > 1) {
            SetLoadDataRepeat(LoadDataRepeatParam(static_cast<uint16_t>(along ? columns / 16 : rows / 16), static_cast<uint8_t>(turns), along ? 1 : 0));
        }
        LoadData3DParamsV2<half> p;
        p.channelSize = kChannels;
        p.kExtension = 32;
        p.mExtension = 16;
        p.kStartPt = static_cast<uint16_t>(k);
        p.mStartPt = static_cast<uint16_t>(m);
        p.filterW = static_cast<uint8_t>(fw);
        p.fMatrixCtrl = right;
        LocalTensor<half> l0a = buffers.l0a.Get<half>();
        for (int i = 0; i < 4096; ++i) On(l0a)[i] = half(-1.0f);
        LoadData<half, kNeither>(l0a, l1, p);
        if (turns > 1) {
            SetLoadDataRepeat(LoadDataRepeatParam());
        }
        for (int i = turns * 512; i < 4096; ++i) {
            Expect(static_cast<float>(On(l0a)[i]) == -1.0f, "3D load: more than " + std::to_string(turns) + " turns");
        }
        const int out_w = map.width + map.left + map.right - fw + 1;
        const int out_h = map.height + map.top + map.bottom;
        for (int turn = 0; turn < turns; ++turn) {
            for (int i = 0; i < 16 * 32; ++i) {
                const int row = m + i / 32 + turn * rows;
                const int column = k + i % 32 + turn * columns;
                const int group = column / (16 * fw), point = column / 16 % fw;
                const int x = row % out_w + point - map.left;
                const int y = row / out_w - map.top;
                const bool outside = x < 0 || y < 0 || x >= map.width || y >= map.height;
                const float want = row >= out_w * out_h || column >= fw * static_cast<int>(kChannels) ? 0.0f
                                   : outside                                                     ? map.padding
                                                 : static_cast<float>(half(Pixel(y, x, static_cast<uint32_t>(group * 16 + column % 16))));
                const float got = static_cast<float>(On(l0a)[turn * 512 + i % 32 / 16 * 256 + i / 32 * 16 + i % 16]);
                if (got != want) {
                    return Fail("3D load, turn " + std::to_string(turn) + ", row " + std::to_string(row) + ", column " + std::to_string(column) +
                                ": " + std::to_string(got) + " instead of " + std::to_string(want));
                }
            }
        }
    });
}

void CheckMaps()
{
    CheckLoad({3, 5, 0, 0, 0, 0, 0.0f}, false, 1, 0, 0, 1, 0, 0);
    CheckLoad({5, 3, 1, 2, 3, 4, 7.5f}, false, 3, 16, 16, 1, 0, 0);
    CheckLoad({5, 3, 4, 1, 2, 3, -7.5f}, true, 2, 16, 32, 1, 0, 0);
    CheckLoad({4, 300, 0, 1, 0, 0, 1.0f}, false, 2, 298, 0, 1, 0, 0);
    CheckLoad({8, 16, 0, 0, 0, 0, 0.0f}, false, 1, 0, 0, 3, 32, 0);
    CheckLoad({8, 16, 1, 1, 0, 0, 2.0f}, false, 3, 16, 0, 2, 16, 0);
    CheckLoad({8, 16, 1, 1, 0, 0, 2.0f}, false, 3, 16, 0, 2, 0, 48);
    CheckLoad({8, 16, 1, 1, 0, 0, 2.0f}, false, 3, 16, 16, 3, 0, 16);
}

/// Behind the boundary of L1, in bytes, it begins again; 0 stands for none. Channels that fill no block too.
void CheckBoundary()
{
    for (uint32_t boundary : {0u, 1024u, 1536u}) {
        for (uint16_t channels : {uint16_t{16}, uint16_t{4}}) {
            OnCube("boundary of L1", [&](Buffers& buffers) {
                LocalTensor<half> l1 = buffers.l1.Get<half>();
                for (uint32_t i = 0; i < 2048; ++i) On(l1)[i] = half(static_cast<float>(i));
                SetLoadDataBoundary(boundary);
                LoadData3DParamsV2<half> p;
                p.l1H = 4;
                p.l1W = 16;
                p.channelSize = channels;
                p.kExtension = 16;
                p.mExtension = 64;
                LoadData(buffers.l0a.Get<half>(), l1[512 - 16], p);
                SetLoadDataBoundary(0);
                for (uint32_t i = 0; i < 64u * channels; ++i) {
                    const uint32_t element = 512 - 16 + i;
                    const uint32_t at = boundary != 0 && element * 2 >= boundary ? element - boundary / 2 : element;
                    const float got = static_cast<float>(On(buffers.l0a.Get<half>())[i / channels * 16 + i % channels]);
                    Expect(got == static_cast<float>(half(static_cast<float>(at))), "boundary " + std::to_string(boundary) + ", element " + std::to_string(i));
                }
            });
        }
    }
}

void CheckDefaults()
{
    const LoadDataRepeatParam repeat;
    Expect(repeat.repeatStride == 0 && repeat.repeatTime == 1 && repeat.repeatMode == 0, "LoadDataRepeatParam");
    const InitConstValueParams<half> fill, filled(3, half(2.0f));
    Expect(fill.repeatTimes == 0 && fill.blockNum == 0 && fill.dstGap == 0 && static_cast<float>(fill.initValue) == 0, "InitConstValueParams");
    Expect(filled.repeatTimes == 3 && filled.blockNum == 0 && filled.dstGap == 0 && static_cast<float>(filled.initValue) == 2, "InitConstValueParams of two");
    const LoadData2DParams load;
    Expect(load.startIndex == 0 && load.dstGap == 0 && load.srcStride == 0 && !load.ifTranspose && load.repeatTimes == 0 && load.sid == 0 && load.addrMode == 0,
           "LoadData2DParams");
    const LoadData2dTransposeParams turned;
    Expect(turned.startIndex == 0 && turned.repeatTimes == 0 && turned.srcStride == 0 && turned.dstGap == 0 && turned.dstFracGap == 0 && turned.addrMode == 0,
           "LoadData2dTransposeParams");
    const LoadData3DParamsV2<half> window;
    Expect(window.l1H == 0 && window.channelSize == 0 && window.kExtension == 0 && window.mStartPt == 0 && window.strideW == 1 && window.strideH == 1 &&
               window.filterW == 1 && window.filterH == 1 && window.dilationFilterW == 1 && window.dilationFilterH == 1 && !window.enTranspose &&
               !window.filterSizeW && !window.filterSizeH && !window.fMatrixCtrl && window.padList[0] + window.padList[1] + window.padList[2] + window.padList[3] == 0,
           "LoadData3DParamsV2");
    const Nd2NzParams nz;
    Expect(nz.ndNum + nz.nValue + nz.dValue + nz.srcNdMatrixStride + nz.srcDValue + nz.dstNzC0Stride + nz.dstNzNStride + nz.dstNzMatrixStride == 0, "Nd2NzParams");
    const MmadParams mad;
    Expect(mad.m + mad.n + mad.k == 0 && !mad.isBias && mad.fmOffset == 0 && mad.unitFlag == 0 && !mad.kDirectionAlign && !mad.cmatrixSource && mad.cmatrixInitVal,
           "MmadParams");
    const FixpipeParamsV220 fixpipe;
    Expect(fixpipe.nSize + fixpipe.mSize + fixpipe.srcStride == 0 && fixpipe.dstStride == 0 && fixpipe.quantPre == QuantMode_t::NoQuant && fixpipe.deqScalar == 0 &&
               fixpipe.ndNum == 1 && fixpipe.srcNdStride == 0 && fixpipe.dstNdStride == 0 && !fixpipe.reluEn && fixpipe.unitFlag == 0 && !fixpipe.isChannelSplit,
           "FixpipeParamsV220");
}

/// Results as two matrices of rows, with one factor or a table of them, set beforehand.
void CheckResults()
{
    OnCube("results by registers", [](Buffers& buffers) {
        LocalTensor<int32_t> c = buffers.l0c.Get<int32_t>();
        for (int32_t i = 0; i < 4096; ++i) On(c)[i] = i;
        GlobalTensor<half> out;
        out.SetGlobalBuffer(reinterpret_cast<half*>(g_memory));
        LocalTensor<uint64_t> table = buffers.l1.Get<uint64_t>();
        for (uint32_t i = 0; i < 16; ++i) On(table)[i] = ascendsim::FloatBits(static_cast<float>(1u << i % 4));
        copy_cbuf_to_fbuf(ascendsim::OnChipBase(7) + 256, On(table), 1, 1, 0, 0);
        LocalTensor<uint64_t> factors;
        factors.address_.bufferAddr = 256;
        SetFixpipeNz2ndFlag(2, 3, 200);  // three fractals of 256 accumulators, 200 elements
        for (int vector = 0; vector < 2; ++vector) {
            SetFixpipePreQuantFlag(ascendsim::FloatBits(0.5f));
            SetFixPipeConfig(factors);
            const DataCopyCO12DstParams p(16, 2, 20, 16, vector != 0 ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16, 0, false, true);
            DataCopy(out, c, p);
            for (uint32_t i = 0; i < 2 * 2 * 16; ++i) {
                const uint32_t matrix = i / 32, row = i / 16 % 2, column = i % 16;
                const float value = static_cast<float>(matrix * 768 + row * 16 + column) * (vector != 0 ? static_cast<float>(1u << column % 4) : 0.5f);
                Expect(static_cast<float>(reinterpret_cast<half*>(g_memory)[matrix * 200 + row * 20 + column]) == static_cast<float>(half(value)),
                       "results with registers " + std::to_string(vector) + ", " + std::to_string(i));
            }
        }
        // Both tables: the activation's in units of 64 bytes in the lowest bits, the factors' in 128 from bit 8 on.
        LocalTensor<uint64_t> relu;
        relu.address_.bufferAddr = 192;
        SetFixPipeConfig(relu, factors, true);
        Expect(static_cast<uint64_t>(get_fpc()) == (uint64_t{3} | uint64_t{2} << 8 | uint64_t{1} << 63), "SetFixPipeConfig of two");
        SetFixPipeConfig<uint64_t, true>(relu);
        Expect(get_fpc() == 3, "SetFixPipeConfig of an activation");
        SetFixPipeConfig(factors, true);
        Expect(static_cast<uint64_t>(get_fpc()) == (uint64_t{2} << 8 | uint64_t{1} << 63), "SetFixPipeConfig with a unit flag");
    });
}

/// Modes are words or truth values; ENABLE is the first of its words, so that one is no truth value of the other.
void CheckHf32()
{
    OnCore([] {
        const auto bits = [] { return static_cast<uint64_t>(get_ctrl()) >> 46 & 3u; };
        const int64_t before = get_ctrl();
        SetHF32Mode(HF32Mode::ENABLE);
        Expect(bits() == 1, "HF32");
        SetHF32TransMode(HF32TransMode::NEAREST_ZERO);
        Expect(bits() == 3, "HF32 towards zero");
        SetHF32Mode(HF32Mode::DISABLE);
        Expect(bits() == 2, "no HF32");
        SetHF32TransMode(HF32TransMode::NEAREST_EVEN);
        Expect(bits() == 0 && get_ctrl() == before, "HF32 to even");
        SetHF32Mode(true);
        SetHF32TransMode(true);
        Expect(bits() == 3, "HF32 by truth values");
        SetHF32Mode(false);
        SetHF32TransMode(false);
        Expect(get_ctrl() == before, "no HF32 by truth values");
    });
}

}  // namespace

int main()
{
    ascendsim::RegisterRegion(g_memory, sizeof(g_memory), ascendsim::RegionRole::kOther, 0);
    CheckFill<half>("halves", half(1.5f));
    CheckFill<bfloat16_t>("bfloat16", bfloat16_t(1.5f));
    CheckFill<int16_t>("16-bit integers", int16_t(-12345));
    CheckFill<float>("floats", 1.5f);
    CheckFill<int32_t>("32-bit integers", int32_t(0x12345678));
    CheckFill<uint32_t>("32-bit unsigned integers", 0x87654321u);
    CheckWindows<IS_RESER_LOAD3D_DEFAULT_CONFIG>(true, true);
    CheckWindows<kMap>(true, false);
    CheckWindows<kPadding>(false, true);
    CheckWindows<kNeither>(false, false);
    for (const bool relu : {false, true}) {
        CheckBursts<float>(2, 16, 0, 0, relu);
        CheckBursts<float>(3, 20, 1, 2, relu);
        CheckBursts<half>(2, 16, 1, 0, relu);
        CheckBursts<half>(3, 20, 0, 3, relu);
        CheckBursts<half>(2, 7, 0, 1, relu);
    }
    CheckFactors();
    CheckOut();
    CheckFractalColumns();
    CheckTables();
    CheckMaps();
    CheckBoundary();
    CheckDefaults();
    CheckResults();
    CheckHf32();
    return Report("api_cube_moves");
}
