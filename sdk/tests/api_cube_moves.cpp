// Functions of the cube core that fill and load its memories and bring results out, against index formulas and instructions by hand.
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

void OnCube(const char* what, const std::function<void(Buffers&)>& body)
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
    for (const uint16_t columns : {16, 32, 48}) {
        OnCube("factors", [&](Buffers& buffers) {
            LocalTensor<int32_t> c = buffers.l0c.Get<int32_t>();
            for (int32_t i = 0; i < 2048; ++i) On(c)[i] = i % 97 - 40;
            LocalTensor<uint64_t> factors = buffers.l1.Get<uint64_t>();
            for (uint32_t i = 0; i < columns; ++i) On(factors)[i] = ascendsim::FloatBits(static_cast<float>(1 + i % 5) * 0.5f);
            std::memset(ascendsim::OnChipBase(7), 0, 1024);
            GlobalTensor<half> gm;
            gm.SetGlobalBuffer(reinterpret_cast<half*>(g_memory));
            FixpipeParamsV220 p(columns, 16, 16, columns, false, QuantMode_t::VDEQF16);
            Fixpipe<half, int32_t, CFG_ROW_MAJOR>(gm, c, factors, p);
            for (uint32_t i = 0; i < 16u * columns; ++i) {
                const uint32_t column = i % columns;
                const float want = static_cast<float>(On(c)[column / 16 * 256 + i / columns * 16 + column % 16]) * static_cast<float>(1 + column % 5) * 0.5f;
                Expect(static_cast<float>(reinterpret_cast<half*>(g_memory)[i]) == want, "factors of " + std::to_string(columns) + " columns: " + std::to_string(i));
            }
        });
    }
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
    return Report("api_cube_moves");
}
