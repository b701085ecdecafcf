// Registers, single values and cache lines: what is written comes back, what is not simulated reads as zero, and what each costs.
#include <limits>

#include "ascendsim/launch.h"
#include "global_memory.h"
#include "isa_spans.h"

using namespace isa_test;

namespace {

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }

void Registers()
{
    const auto result = OnCore([] {
        for (uint64_t type = 0; type < 7; ++type) {
            set_st_atomic_cfg(static_cast<atomic_type_t>(type), atomic_op_t{});
            Expect(get_st_atomic_cfg() == static_cast<int64_t>(type), "atomic sums of type " + std::to_string(type));
        }
        set_atomic_none();
        Expect(get_condition_flag() == 0 && get_lpcnt() == 0, "registers that nobody has written");
        set_condition_flag(5);
        set_lpcnt(7);
        Expect(get_condition_flag() == 5 && get_lpcnt() == 7, "registers that hold what they are given");
        Expect(get_status() == 0 && get_overflow_status() == 0, "states without any error");
        Expect(get_subblockid() == 0 && get_subblockdim() >= 1 && get_arch_ver() == 220, "what a core knows of itself");
    });
    Expect(result.completed && result.faults == 0, "registers: " + result.first_fault);
}

/// Round to odd: the neighbour towards zero, with the last bit set where the value lies between two.
void RoundsToOdd()
{
    const float infinite = std::numeric_limits<float>::infinity();
    const std::pair<float, uint16_t> cases[] = {
        {1.0f, 0x3C00}, {-1.0f, 0xBC00}, {1.0f + 1.0f / 4096, 0x3C01}, {1.0f + 3.0f / 2048, 0x3C01}, {1.0f + 5.0f / 4096, 0x3C01},
        {-1.0f - 1.0f / 4096, 0xBC01}, {2.0f - 1.0f / 4096, 0x3FFF}, {65504.0f, 0x7BFF}, {-65504.0f, 0xFBFF}, {65505.0f, 0x7BFF},
        {1e6f, 0x7BFF}, {-1e6f, 0xFBFF}, {infinite, 0x7C00}, {-infinite, 0xFC00}, {1e-10f, 0x0001}, {-1e-10f, 0x8001}, {0.0f, 0}};
    for (const auto& [value, bits] : cases) {
        Expect(conv_f322f16o(value).Bits() == bits, "round to odd of " + std::to_string(value) + ": " + std::to_string(conv_f322f16o(value).Bits()));
    }
    Expect((conv_f322f16o(NAN).Bits() & 0x7FFF) > 0x7C00, "round to odd of no number");
}

void RoundsToIntegers()
{
    const int64_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
    struct Case {
        float value;
        int64_t nearest, down, up, away;
    };
    for (const Case& c : {Case{2.5f, 2, 2, 3, 3}, {-2.5f, -2, -3, -2, -3}, {3.5f, 4, 3, 4, 4}, {-0.25f, 0, -1, 0, 0}, {7.0f, 7, 7, 7, 7},
                          {2147483520.0f, 2147483520, 2147483520, 2147483520, 2147483520}, {2147483648.0f, most, most, most, most},
                          {-2147483648.0f, least, least, least, least}, {-3e9f, least, least, least, least}, {1e30f, most, most, most, most},
                          {NAN, 0, 0, 0, 0}}) {
        Expect(conv_f322s32r(c.value) == c.nearest && conv_f322s32f(c.value) == c.down && conv_f322s32c(c.value) == c.up && conv_f322s32a(c.value) == c.away,
               "integers of " + std::to_string(c.value));
    }
}

/// What the trace says of scalar instructions of a core: how many there were.
uint32_t ScalarsOf(Callee<void()> body)
{
    uint32_t all = 0;
    for (const Record& record : Traced("isa_registers.trace", body, ascendsim::KernelType::kAiv).records) {
        all += record.name == "scalar" ? record.head.aux1 : 0;
    }
    return all;
}

void Costs()
{
    Expect(ScalarsOf([] { preload(Ub(0)); }) == 1 && ScalarsOf([] { preload(Ub(0), 64); }) == 1, "early loads of instructions");
    Expect(ScalarsOf([] { uint64_t list[8] = {}; set_va_reg_sb(VA0, list); }) == 8, "eight addresses");
}

/// Loads past the caches give what is there, or zero where nothing is; lines are named by their bytes.
void Lines()
{
    Gm gm(256);
    for (uint32_t i = 0; i < 64; ++i) gm.As<uint32_t>()[i] = i + 1;
    const Trace trace = Traced("isa_registers.trace", [&] { dc_preload(gm.As<uint64_t>() + 1, 64); }, ascendsim::KernelType::kAiv);
    const Record* line = trace.First("scalar");
    Expect(line != nullptr && line->ops.size() == 1 && (line->ops[0].addr & 0xFFFFFFFF) == 72 && line->head.aux1 == 1, "a line that is loaded early");
    uint32_t inside = 0, outside = 1;
    const auto result = OnCore([&] {
        inside = ld_dev(gm.As<uint32_t>(), 63);
        outside = ld_dev(gm.As<uint32_t>(), 64);
    });
    Expect(result.faults == 1 && inside == 64 && outside == 0, "loads around the end of a tensor");
    Expect(result.first_fault.rfind("out_of_bounds_gm: ld_dev: 4 bytes at offset 256 of ", 0) == 0 && result.first_fault.find("padding") == std::string::npos,
           "a load behind a tensor: " + result.first_fault);
    const auto stored = OnCore([&] { st_dev(uint32_t{7}, gm.As<uint32_t>(), int16_t{64}); });
    Expect(stored.faults == 1 && stored.first_fault.rfind("out_of_bounds_gm: st_dev: 4 bytes at offset 256 of ", 0) == 0, "a store behind a tensor: " + stored.first_fault);
}

/// Shifts by the width of an element and more; right ones with rounding, whose bits are those of a wider number.
template <typename T>
void Shifts()
{
    constexpr uint32_t width = sizeof(T) * 8;
    const auto result = OnCore([] {
        const int64_t values[4] = {1, 3, static_cast<int64_t>(std::numeric_limits<T>::max()), static_cast<int64_t>(std::numeric_limits<T>::min())};
        for (uint32_t by = 0; by <= width; ++by) {
            T* from = reinterpret_cast<T*>(Ub(0));
            for (int i = 0; i < 4; ++i) from[i] = static_cast<T>(values[i]);
            set_vector_mask(0, 15);
            vshl(reinterpret_cast<T*>(Ub(4096)), from, by, 1, 1, 1, 8, 8);
            for (int i = 0; i < 4; ++i) {
                Expect(reinterpret_cast<T*>(Ub(4096))[i] == static_cast<T>(by == width ? 0 : static_cast<uint64_t>(values[i]) << by),
                       "vshl by " + std::to_string(by) + " of " + std::to_string(width) + " bits");
            }
        }
    });
    Expect(result.faults == 0, "shifts: " + result.first_fault);
}

/// Lanes of either half of a repeat of 128, by the two words of the mask.
void Masks()
{
    const std::pair<uint64_t, uint64_t> masks[] = {{0xFF, 0xFF}, {0, 0xFF}, {0xFF, 0}, {~uint64_t{0}, 0xF}, {0x7FFF, ~uint64_t{0}}, {0xF0, 0x1}, {0, 0}};
    const auto result = OnCore([&] {
        for (const auto& [low, high] : masks) {
            auto* from = reinterpret_cast<int16_t*>(Ub(0));
            auto* to = reinterpret_cast<int16_t*>(Ub(4096));
            for (int16_t i = 0; i < 256; ++i) {
                from[i] = i;
                to[i] = -1;
            }
            set_vector_mask(high, low);
            vadds(to, from, int16_t{1000}, 2, 1, 1, 8, 8);
            for (uint32_t i = 0; i < 256; ++i) {
                const bool on = ((i % 128 < 64 ? low : high) >> i % 64 & 1) != 0;
                Expect(to[i] == (on ? static_cast<int16_t>(1000 + i) : -1), "lane " + std::to_string(i) + " of a mask of two words");
            }
        }
    });
    Expect(result.faults == 0, "masks: " + result.first_fault);
}

/// No number becomes zero where eight bits are made of halves.
void NoNumbers()
{
    OnCore([] {
        auto* a = reinterpret_cast<half*>(Ub(0));
        auto* b = reinterpret_cast<half*>(Ub(4096));
        auto* to = reinterpret_cast<int8_t*>(Ub(8192));
        for (int i = 0; i < 4; ++i) {
            a[i] = half(i == 1 ? NAN : 3.0f);
            b[i] = half(i == 2 ? NAN : i == 3 ? 100.0f : 2.0f);
            to[i] = 77;
        }
        set_vector_mask(0, 15);
        vmulconv_f162s8(to, a, b, 1, 1, 1, 1, 8, 8, 8);
        Expect(to[0] == 6 && to[1] == 0 && to[2] == 0 && to[3] == 127, "products of no numbers in eight bits");
    });
}

/// What is no number wins over all numbers, by its first place; the register has it of all repeats.
template <typename T>
void NoNumberWins()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    OnCore([] {
        auto* from = reinterpret_cast<T*>(Ub(0));
        for (uint32_t i = 0; i < 3 * lanes; ++i) from[i] = static_cast<T>(static_cast<float>(i % 50));
        from[lanes + 37] = from[lanes + 40] = from[2 * lanes + 3] = static_cast<T>(NAN);
        for (const bool most : {true, false}) {
            auto* to = reinterpret_cast<T*>(Ub(8192));
            if (most) {
                vcmax(to, from, 3, 1, 1, 8, VALUE_INDEX);
            } else {
                vcmin(to, from, 3, 1, 1, 8, VALUE_INDEX);
            }
            const uint32_t want[3] = {most ? 49u : 0u, 37, 3};
            for (uint32_t r = 0; r < 3; ++r) {
                Index index;
                std::memcpy(&index, to + 2 * r + 1, sizeof(index));
                const auto value = static_cast<float>(to[2 * r]);
                Expect(index == want[r] && (r == 0 ? value == (most ? 49.0f : 0.0f) : value != value), "extreme of repeat " + std::to_string(r) + " with no numbers");
            }
            Expect(static_cast<uint64_t>(get_max_min_cnt()) >> 32 == lanes + 37, "place of the first that is no number");
        }
    });
}

/// The register has the extreme of all repeats and its place, whichever repeat has it.
void ExtremeOfAllRepeats()
{
    OnCore([] {
        constexpr uint32_t lanes = 64;
        auto* from = reinterpret_cast<float*>(Ub(0));
        auto* to = reinterpret_cast<float*>(Ub(8192));
        for (const bool most : {true, false}) {
            for (uint32_t repeat = 0; repeat < 3; ++repeat) {
                // On the far side of zero, so that no value that a register may begin with is one of these.
                const float sign = most ? -1.0f : 1.0f;
                const uint32_t place = repeat * lanes + 11 + repeat;
                for (uint32_t i = 0; i < 3 * lanes; ++i) from[i] = sign * (100.0f + static_cast<float>(i % 7));
                from[place] = sign * 50.0f;
                // Later repeats have as much: the first counts.
                for (uint32_t i = place + 1; i < 3 * lanes; i += 41) from[i] = sign * 50.0f;
                if (most) {
                    vcmax(to, from, 3, 1, 1, 8, VALUE_INDEX);
                } else {
                    vcmin(to, from, 3, 1, 1, 8, VALUE_INDEX);
                }
                const auto bits = static_cast<uint64_t>(get_max_min_cnt());
                float value = 0.0f;
                std::memcpy(&value, &bits, sizeof(value));
                const std::string what = "extreme of all repeats in repeat " + std::to_string(repeat);
                Expect(value == sign * 50.0f, what + ": its value");
                Expect(bits >> 32 == place, what + ": its place");
            }
        }
        // Of a shorter value nothing stands beside it.
        auto* halves = reinterpret_cast<half*>(Ub(0));
        for (uint32_t i = 0; i < 128; ++i) halves[i] = half(i == 9 ? 3.0f : 2.0f);
        vcmax(reinterpret_cast<half*>(to), halves, 1, 1, 1, 8, VALUE_INDEX);
        Expect(static_cast<uint64_t>(get_max_min_cnt()) == (uint64_t{9} << 32 | 0x4200), "extreme of halves: its bits");
    });
}

/// Blocks are gathered from where blocks begin.
void BlocksAt()
{
    const auto result = OnCore([] {
        for (uint32_t i = 0; i < 8; ++i) reinterpret_cast<uint32_t*>(Ub(4096))[i] = i == 5 ? 80 : i * 32;
        vgatherb(reinterpret_cast<uint32_t*>(Ub(0)), reinterpret_cast<uint32_t*>(Ub(4096)), 8192, 8, 1, 1);
    });
    Expect(result.faults == 1 && result.first_fault == "misaligned: vgatherb: UB offset 8272 is not a multiple of 32", "a block between two: " + result.first_fault);
}

/// Nothing is recorded of an instruction that does nothing but that it was issued.
void Nothing()
{
    Gm gm(64);
    CheckRecord("dsb", 0, {}, [] { dsb(DSB_ALL); });
    const auto idle = [](const char* name, Callee<void()> body, uint32_t lanes = 0, uint32_t burst = 0) {
        CheckRecord(name, 0, {}, body, ascendsim::KernelType::kAiv, {lanes, 0, burst});
    };
    idle("vbitsort", [] { vbitsort(reinterpret_cast<float*>(Ub(0)), reinterpret_cast<float*>(Ub(4096)), reinterpret_cast<uint32_t*>(Ub(8192)), 0); }, 32);
    idle("scatter_vnchwconv_b16", [] { scatter_vnchwconv_b16(VA0, VA2, 0, 0, 0); });
    idle("scatter_vnchwconv_b8", [] { scatter_vnchwconv_b8(VA0, VA2, 0, 0, 0, false, false); });
    idle("copy_ubuf_to_gm", [&] { copy_ubuf_to_gm(gm.Bytes(), Ub(0), 0, 0, 1, 0, 0); }, 0, 32);
    idle("copy_gm_to_ubuf", [&] { copy_gm_to_ubuf(Ub(0), gm.Bytes(), 0, 0, 1, 0, 0); }, 0, 32);
    idle("copy_ubuf_to_ubuf", [] { copy_ubuf_to_ubuf(Ub(0), Ub(4096), 0, 0, 2, 2, 1); }, 0, 64);
}

/// Blocks of sixteen bytes from either half of each source into either half of each destination.
void Halves()
{
    const auto result = OnCore([] {
        for (const bool part : {false, true}) {
            for (const bool to_high : {false, true}) {
                for (const bool from_high : {false, true}) {
                    uint64_t to[16], from[16];
                    for (uint32_t i = 0; i < 16; ++i) {
                        to[i] = reinterpret_cast<uint64_t>(Ub(8192 + i * 64));
                        from[i] = reinterpret_cast<uint64_t>(Ub(4096 + i * 64));
                    }
                    for (uint32_t i = 0; i < 8192; ++i) Ub(4096)[i] = static_cast<uint8_t>(i < 4096 ? i * 7 + i / 256 : 0);
                    set_va_reg_sb(VA0, to);
                    set_va_reg_sb(VA1, to + 8);
                    set_va_reg_sb(VA2, from);
                    set_va_reg_sb(VA3, from + 8);
                    if (part) {  // a half of the list from memory: the same addresses, from the last one on
                        for (uint32_t i = 0; i < 4; ++i) std::swap(from[4 + i], from[12 + i]);
                        std::memcpy(Ub(0), from, sizeof(from));
                        vld_va_reg(VA2, reinterpret_cast<uint64_t*>(Ub(32)), H128);
                        vld_va_reg(VA3, reinterpret_cast<uint64_t*>(Ub(96)), H128);
                    }
                    scatter_vnchwconv_b8(VA0, VA2, 1, 0, 0, to_high, from_high);
                    for (uint32_t row = 0; row < 16; ++row) {
                        for (uint32_t i = 0; i < 32; ++i) {
                            const bool written = (i >= 16) == to_high;
                            const uint8_t* at = reinterpret_cast<const uint8_t*>(from[i % 16]);
                            Expect(Ub(8192)[row * 64 + i] == (written ? at[(from_high ? 16 : 0) + row] : 0), "halves of blocks of bytes");
                        }
                    }
                }
            }
        }
    });
    Expect(result.faults == 0, "halves: " + result.first_fault);
}

}  // namespace

int main()
{
    Registers();
    RoundsToOdd();
    RoundsToIntegers();
    Costs();
    Lines();
    Shifts<int16_t>();
    Shifts<uint16_t>();
    Shifts<int32_t>();
    Shifts<uint32_t>();
    Masks();
    NoNumbers();
    NoNumberWins<float>();
    ExtremeOfAllRepeats();
    NoNumberWins<half>();
    BlocksAt();
    Nothing();
    Halves();
    return Report("isa_registers");
}
