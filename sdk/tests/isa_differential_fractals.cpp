// Fractals on their way into L0A, L0B and L0C: straight from global memory, of four-bit integers, turned, filled.
#include "isa_support.h"

#include "machine/core_state.h"

using namespace isa_test;

namespace {

template <typename T>
T* On(uint32_t space, size_t byte = 0)
{
    return reinterpret_cast<T*>(ascendsim::OnChipBase(space) + byte);
}

constexpr uint32_t kL1 = 2;
constexpr uint32_t kL0a = 3;
constexpr uint32_t kL0b = 4;
constexpr uint32_t kL0c = 5;

void Scramble(Random& random, uint8_t* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<uint8_t>(random.Next());
    }
}

void CheckFromGlobalMemory(Random& random)
{
    std::vector<uint8_t> gm(32768);
    Scramble(random, gm.data(), gm.size());
    ascendsim::RegisterRegion(gm.data(), gm.size(), ascendsim::RegionRole::kOther, 0);
    const uint16_t base = static_cast<uint16_t>(random.Below(4));
    const uint16_t stride = static_cast<uint16_t>(1 + random.Below(3));
    const uint16_t gap = static_cast<uint16_t>(random.Below(3));
    load_gm_to_ca(On<int8_t>(kL0a), reinterpret_cast<int8_t*>(gm.data()), base, 5, stride, gap, 0, inc);
    load_gm_to_cb(On<float>(kL0b), reinterpret_cast<float*>(gm.data()), base, 5, stride, gap, 0, inc);
    for (uint32_t i = 0; i < 5; ++i) {
        const uint8_t* want = &gm[(base + i * stride) * 512u];
        Expect(std::memcmp(On<uint8_t>(kL0a, i * (gap + 1u) * 512), want, 512) == 0, "load_gm_to_ca");
        Expect(std::memcmp(On<uint8_t>(kL0b, i * (gap + 1u) * 512), want, 512) == 0, "load_gm_to_cb");
    }
    ascendsim::UnregisterRegion(gm.data());
}

uint32_t Nibble(const uint8_t* base, size_t index) { return base[index / 2] >> (index % 2 * 4) & 15u; }

void CheckFourBits(Random& random)
{
    Scramble(random, On<uint8_t>(kL1), 65536);
    load_cbuf_to_ca_s4(On<uint8_t>(kL0a), On<uint8_t>(kL1), 3, 4, 2, 1, 0, false, inc);
    load_cbuf_to_cb_s4(On<uint8_t>(kL0b), On<uint8_t>(kL1), 3, 4, 2, 1, 0, false, inc);
    for (uint32_t i = 0; i < 4; ++i) {
        Expect(std::memcmp(On<uint8_t>(kL0a, i * 1024), On<uint8_t>(kL1, (3 + 2 * i) * 512), 512) == 0, "load_cbuf_to_ca_s4");
        Expect(std::memcmp(On<uint8_t>(kL0b, i * 1024), On<uint8_t>(kL1, (3 + 2 * i) * 512), 512) == 0, "load_cbuf_to_cb_s4");
    }
    // Four fractals of 16 x 64 are a square of 64 x 64.
    load_cbuf_to_cb_transpose_s4(On<uint8_t>(kL0b), On<uint8_t>(kL1), 1, 2, 2, 7, false, 1);
    for (uint32_t i = 0; i < 2; ++i) {
        for (uint32_t row = 0; row < 64; ++row) {
            for (uint32_t column = 0; column < 64; ++column) {
                const uint32_t got = Nibble(On<uint8_t>(kL0b, i * 8 * 512 + row / 16 * 1024), row % 16 * 64 + column);
                Expect(got == Nibble(On<uint8_t>(kL1, (1 + 2 * i) * 2048), column * 64 + row), "load_cbuf_to_cb_transpose_s4");
            }
        }
    }
}

template <typename T>
void CheckTurnedLeft(Random& random, bool descending = false)
{
    Scramble(random, On<uint8_t>(kL1), 65536);
    constexpr uint32_t lanes = 32 / sizeof(T);
    constexpr uint32_t side = lanes < 16 ? 16 : lanes;
    constexpr uint32_t per_fractal = 512 / sizeof(T);
    load_cbuf_to_ca_transpose(On<T>(kL0a), On<T>(kL1), descending ? 4 : 2, 3, 1, 2, descending, 0);
    const auto at = [](uint32_t row, uint32_t column) {
        return lanes < 16 ? column / lanes * per_fractal + row * lanes + column % lanes : row * side + column;
    };
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t row = 0; row < side; ++row) {
            for (uint32_t column = 0; column < side; ++column) {
                // Later squares may land on a square's further fractals: look at the last square's and at first fractals.
                const uint32_t to = at(row, column);
                if (i == 2 || to < per_fractal) {
                    Expect(std::memcmp(&On<T>(kL0a)[i * 3 * per_fractal + to], &On<T>(kL1)[(descending ? 4 - i : 2 + i) * side * side + at(column, row)], sizeof(T)) == 0,
                           "load_cbuf_to_ca_transpose");
                }
            }
        }
    }
}

void CheckFillsAndAccumulators(Random& random)
{
    Scramble(random, On<uint8_t>(kL0b), 8192);
    std::vector<uint8_t> want(On<uint8_t>(kL0b), On<uint8_t>(kL0b) + 8192);
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t e = 0; e < 256; ++e) {
            const float value = -1.5f;
            std::memcpy(&want[i * 4 * 512 + e * 4], &value, 4);
        }
    }
    create_cb_matrix(On<float>(kL0b), 3 | 2 << 16 | int64_t{2} << 32, ascendsim::FloatBits(-1.5f));
    Expect(std::memcmp(want.data(), On<uint8_t>(kL0b), want.size()) == 0, "create_cb_matrix");
    create_ca_matrix_bf16(On<bfloat16_t>(kL0a), 1 | 1 << 16, bfloat16_t(3.0f));
    Expect(static_cast<float>(On<bfloat16_t>(kL0a)[255]) == 3.0f, "create_ca_matrix_bf16");

    Scramble(random, On<uint8_t>(kL1), 8192);
    copy_matrix_cbuf_to_cc(On<int32_t>(kL0c), On<int32_t>(kL1), 2, 32, 4, 8);
    Expect(std::memcmp(On<uint8_t>(kL0c), On<uint8_t>(kL1), 1024) == 0 &&
               std::memcmp(On<uint8_t>(kL0c, 40 * 32), On<uint8_t>(kL1, 36 * 32), 1024) == 0,
           "copy_matrix_cbuf_to_cc");
}

/// A ring in L1: what lies behind its end is at its start.
void CheckRing()
{
    set_fmatrix(16 | uint64_t{4} << 16);
    set_l1_3d_size(1024);
    for (uint32_t i = 0; i < 2048; ++i) {
        On<half>(kL1)[i] = half(static_cast<float>(i % 1000));
    }
    // 64 pixels of one block each from byte 512 on: the second half of them wraps.
    img2colv2_cbuf_to_ca(On<half>(kL0a), On<half>(kL1, 512), 16, 32, 0, 0, 1, 1, 1, 1, 1, 1, false, false, false, false, 16);
    for (uint32_t row = 0; row < 32; ++row) {
        const uint32_t element = (512 + row * 32) % 1024 / 2;
        Expect(static_cast<float>(On<half>(kL0a)[row * 16]) == static_cast<float>(element % 1000), "3D load around a ring");
    }
    set_l1_3d_size(0);
    // Repetition along the rows: each turn starts 16 times the stride further down and writes behind the turn before.
    set_l3d_rpt(1 | 3 << 16);
    for (uint32_t i = 0; i < 1024; ++i) {
        On<half>(kL1)[i] = half(static_cast<float>(i));
    }
    img2colv2_cbuf_to_ca(On<half>(kL0a), On<half>(kL1), 16, 16, 0, 0, 1, 1, 1, 1, 1, 1, false, false, false, false, 16);
    for (uint32_t i = 0; i < 768; ++i) {
        Expect(static_cast<float>(On<half>(kL0a)[i]) == static_cast<float>(i), "3D load repeated");
    }
    set_l3d_rpt(1 << 16);
}

}  // namespace

int main()
{
    Random random(3);
    for (int round = 0; round < 6; ++round) {
        CheckFromGlobalMemory(random);
        CheckFourBits(random);
        CheckTurnedLeft<half>(random);
        CheckTurnedLeft<half>(random, true);
        CheckTurnedLeft<float>(random, true);
        CheckTurnedLeft<float>(random);
        CheckTurnedLeft<int8_t>(random);
        CheckFillsAndAccumulators(random);
    }
    CheckRing();
    return Report("isa_differential_fractals");
}
