// Comparison, selection, filling, gathering, reductions, sorting and copies against scalar models.
#include "isa_model.h"

using namespace isa_test;

namespace {

bool Bit(const std::vector<uint8_t>& image, int which, size_t bit)
{
    return (image[size_t{kArea} * static_cast<size_t>(which) + bit / 8] >> (bit % 8) & 1u) != 0;
}

void PutBit(std::vector<uint8_t>& image, size_t bit, bool value)
{
    image[bit / 8] = static_cast<uint8_t>((image[bit / 8] & ~(1u << (bit % 8))) | static_cast<uint32_t>(value) << (bit % 8));
}

/// Few values, so that equality happens.
template <typename T>
void FillCoarse(int which)
{
    for (uint32_t i = 0; i < kArea / sizeof(T); ++i) {
        Operand<T>(which)[i] = T(static_cast<int>(g_random.Below(5)) - 2);
    }
}

/// Comparison to memory writes all lanes of a repeat in normal mode, and repeats are packed.
template <typename T, typename Call, typename Scalar, typename Model>
void CheckCompare(const char* name, Call call, Scalar scalar, Model model)
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    for (int round = 0; round < 6; ++round) {
        const Layout layout = DrawLayout(per_repeat);
        FillCoarse<uint16_t>(0);
        FillCoarse<T>(1);
        FillCoarse<T>(2);
        const std::vector<uint8_t> before = Image();
        std::vector<uint8_t> want = before;
        std::vector<uint8_t> want_scalar = before;
        const T value(1);
        const uint32_t lanes = layout.counter ? layout.count : layout.repeat * per_repeat;
        for (uint32_t i = 0; i < lanes; ++i) {
            const T a = Read<T>(before, 1, At(layout, 1, i / per_repeat, i % per_repeat, sizeof(T)));
            const T b = Read<T>(before, 2, At(layout, 2, i / per_repeat, i % per_repeat, sizeof(T)));
            PutBit(want, i, model(Wide(a), Wide(b)));
            PutBit(want_scalar, i, model(Wide(a), Wide(value)));
        }
        SetMask(layout);
        call(Operand<uint8_t>(0), Operand<T>(1), Operand<T>(2), layout.repeat, uint8_t{1}, layout.block[1], layout.block[2], uint8_t{8},
             layout.stride[1], layout.stride[2]);
        Compare<uint8_t>(want, 0, name, layout);
        std::memcpy(ascendsim::UbBase(), before.data(), before.size());
        scalar(Operand<uint8_t>(0), Operand<T>(1), value, layout.repeat, uint16_t{1}, layout.block[1], uint16_t{8}, layout.stride[1]);
        Compare<uint8_t>(want_scalar, 0, name, layout);
    }
}

/// Comparison into CMPMASK writes the active lanes of one repeat; a selection without a mode reads it.
template <typename T, typename Call, typename Model>
void CheckMaskCompare(const char* name, Call call, Model model)
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    Layout layout = DrawLayout(per_repeat);
    layout.counter = false;
    layout.repeat = 1;
    FillCoarse<T>(1);
    FillCoarse<T>(2);
    FillCoarse<T>(0);
    set_cmpmask(Operand<uint8_t>(3));
    std::vector<uint8_t> mask(Operand<uint8_t>(3), Operand<uint8_t>(3) + 16);
    std::vector<uint8_t> image = Image();
    EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
        PutBit(mask, lane, model(Wide(Read<T>(image, 1, At(layout, 1, step, lane, sizeof(T)))), Wide(Read<T>(image, 2, At(layout, 2, step, lane, sizeof(T))))));
    });
    SetMask(layout);
    call(Operand<T>(1), Operand<T>(2), uint8_t{1}, uint8_t{1}, layout.block[1], layout.block[2], uint8_t{8}, layout.stride[1], layout.stride[2]);
    get_cmpmask(Operand<uint8_t>(3) + 64);
    Expect(std::memcmp(mask.data(), Operand<uint8_t>(3) + 64, 16) == 0, name);
}

template <typename T>
void CheckSelect()
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    for (int round = 0; round < 30; ++round) {
        const Layout layout = DrawLayout(per_repeat);
        const int mode = round % 3;
        FillWith<T>(0);
        FillWith<T>(1);
        FillWith<T>(2);
        FillWith<uint8_t>(3);
        // The register: bits (mode 0), a scalar (mode 1), the address of bits (mode 2).
        uint64_t word[2] = {g_random.Next(), g_random.Next()};
        const T scalar = Draw<T>();
        if (mode == 1) {
            std::memcpy(word, &scalar, sizeof(T));
        } else if (mode == 2) {
            word[0] = reinterpret_cast<uint64_t>(Operand<uint8_t>(3) + 1024);
        }
        std::memcpy(Operand<uint8_t>(3), word, sizeof(word));
        set_cmpmask(Operand<uint8_t>(3));
        std::vector<uint8_t> want = Image();
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
            const bool first = mode == 0 ? Bit(want, 3, lane) : Bit(want, 3, 8192 + size_t{step} * per_repeat + lane);
            const T a = Read<T>(want, 1, At(layout, 1, step, lane, sizeof(T)));
            const T b = mode == 1 ? scalar : Read<T>(want, 2, At(layout, 2, step, lane, sizeof(T)));
            const T value = first ? a : b;
            std::memcpy(&want[At(layout, 0, step, lane, sizeof(T))], &value, sizeof(T));
        });
        SetMask(layout);
        const auto repeat = static_cast<uint8_t>(layout.repeat);
        if (mode == 0) {
            vsel(Operand<T>(0), Operand<T>(1), Operand<T>(2), repeat, layout.block[0], layout.block[1], layout.block[2],
                 layout.stride[0], layout.stride[1], layout.stride[2]);
        } else {
            void* other = mode == 1 ? static_cast<void*>(Operand<uint8_t>(3) + 1024) : static_cast<void*>(Operand<T>(2));
            vsel(Operand<T>(0), Operand<T>(1), other, repeat, layout.block[0], layout.block[1], layout.block[2],
                 layout.stride[0], layout.stride[1], layout.stride[2], static_cast<uint8_t>(mode));
        }
        Compare<T>(want, 0, "vsel", layout);
    }
}

template <typename T>
void CheckFillAndSpread()
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    for (int round = 0; round < 6; ++round) {
        const Layout layout = DrawLayout(per_repeat);
        FillWith<T>(0);
        FillWith<T>(1);
        const T value = Draw<T>();
        std::vector<uint8_t> want = Image();
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) { std::memcpy(&want[At(layout, 0, step, lane, sizeof(T))], &value, sizeof(T)); });
        SetMask(layout);
        vector_dup(Operand<T>(0), value, layout.repeat, layout.block[0], 1, layout.stride[0], 0);
        Compare<T>(want, 0, "vector_dup", layout);
        if constexpr (std::is_same<T, uint16_t>::value || std::is_same<T, uint32_t>::value) {
            const uint32_t repeat = g_random.Below(4);
            want = Image();
            for (uint32_t i = 0; i < repeat * 8; ++i) {
                for (uint32_t lane = 0; lane < 32 / sizeof(T); ++lane) {
                    const T element = Read<T>(want, 1, i * sizeof(T));
                    std::memcpy(&want[(i / 8 * 20 + i % 8 * 2) * 32 + lane * sizeof(T)], &element, sizeof(T));
                }
            }
            vbrcb(Operand<T>(0), Operand<T>(1), 2, 20, static_cast<uint8_t>(repeat));
            Compare<T>(want, 0, "vbrcb", layout);
        }
    }
}

template <typename T>
void CheckGather()
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    for (int round = 0; round < 9; ++round) {
        const Layout layout = DrawLayout(per_repeat);
        FillWith<T>(0);
        FillWith<T>(1);
        for (uint32_t i = 0; i < per_repeat * 5; ++i) {
            Operand<uint32_t>(2)[i] = g_random.Below(1000) * sizeof(T);
        }
        std::vector<uint8_t> want = Image();
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
            const T value = Read<T>(want, 1, Read<uint32_t>(want, 2, (size_t{step} * per_repeat + lane) * 4));
            std::memcpy(&want[size_t{step} * layout.stride[0] * 32 + lane * sizeof(T)], &value, sizeof(T));
        });
        SetMask(layout);
        // A host address, what is left of it in 32 bits, and an offset in the buffer are the same place.
        const auto host = reinterpret_cast<uint64_t>(Operand<T>(1));
        const uint64_t base = round % 3 == 0 ? host : round % 3 == 1 ? host & 0xFFFFFFFFu : uint64_t{kArea};
        vgather(Operand<T>(0), Operand<uint32_t>(2), base, layout.stride[0], static_cast<uint8_t>(layout.repeat));
        Compare<T>(want, 0, "vgather", layout);

        const uint32_t repeat = g_random.Below(4);
        for (uint32_t i = 0; i < repeat * 8; ++i) {
            Operand<uint32_t>(2)[i] = g_random.Below(200) * 32;
        }
        want = Image();
        for (uint32_t i = 0; i < repeat * 8; ++i) {
            std::memcpy(&want[(i / 8 * layout.stride[0] + i % 8 * layout.block[0]) * 32], &want[kArea + Read<uint32_t>(want, 2, i * 4)], 32);
        }
        vgatherb(Operand<T>(0), Operand<uint32_t>(2), base, layout.stride[0], static_cast<uint8_t>(layout.block[0]), static_cast<uint8_t>(repeat));
        Compare<T>(want, 0, "vgatherb", layout);
    }
}

/// Packing with the bits of a mask, and with the fixed patterns.
template <typename T>
void CheckPack()
{
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    for (int round = 0; round < 16; ++round) {
        const uint32_t pattern = static_cast<uint32_t>(round) % 8;
        const uint32_t repeat = 1 + g_random.Below(4);
        set_mask_norm();
        FillWith<T>(0);
        FillWith<T>(1);
        FillWith<T>(2);
        std::vector<uint8_t> want = Image();
        uint32_t kept = 0;
        for (uint32_t i = 0; i < repeat * per_repeat; ++i) {
            const uint32_t lane = i % per_repeat;
            bool keep = false;
            if (pattern == 0) {
                keep = Bit(want, 2, size_t{i / per_repeat} * 8 * 32 * 8 + lane);
            } else {
                constexpr uint32_t kModulus[] = {0, 2, 2, 4, 4, 4, 4, 1};
                constexpr uint32_t kRemainder[] = {0, 0, 1, 0, 1, 2, 3, 0};
                keep = lane % kModulus[pattern] == kRemainder[pattern];
            }
            if (keep) {
                std::memcpy(&want[kept++ * sizeof(T)], &want[kArea + (size_t{i / per_repeat} * 9 * 32 + lane * sizeof(T))], sizeof(T));
            }
        }
        vreducev2(Operand<T>(0), Operand<T>(1), Operand<T>(2), static_cast<uint16_t>(repeat), uint8_t{1}, static_cast<uint8_t>(pattern), uint16_t{9}, uint8_t{8});
        Compare<T>(want, 0, "vreducev2", Layout{});
        Expect(get_rsvd_cnt() == static_cast<int64_t>(kept), "get_rsvd_cnt");
    }
}

template <typename T>
void CheckReductions()
{
    using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    constexpr auto per_repeat = static_cast<uint32_t>(256 / sizeof(T));
    constexpr auto block = static_cast<uint32_t>(32 / sizeof(T));
    for (int round = 0; round < 12; ++round) {
        Layout layout = DrawLayout(per_repeat);
        layout.block[1] = 1;
        if (!layout.counter && (layout.low & 1u) == 0) {
            layout.low |= 1u;
        }
        FillWith<T>(0);
        for (uint32_t i = 0; i < kArea / sizeof(T); ++i) {
            Operand<T>(1)[i] = T(static_cast<float>(static_cast<int>(g_random.Below(41)) - 20));  // sums are exact
        }
        const std::vector<uint8_t> before = Image();
        std::vector<double> sum(8, 0), high(8, -1e9), low(8, 1e9);
        std::vector<uint32_t> high_at(8), low_at(8);
        std::vector<std::vector<double>> group_sum(8, std::vector<double>(8)), group_high(8, std::vector<double>(8, -1e9)), group_low(8, std::vector<double>(8, 1e9));
        std::vector<std::vector<double>> pair(8, std::vector<double>(per_repeat / 2));
        std::vector<std::vector<bool>> active(8, std::vector<bool>(per_repeat));
        uint32_t steps = 0;
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
            const double value = Wide(Read<T>(before, 1, At(layout, 1, step, lane, sizeof(T))));
            steps = step + 1;
            active[step][lane] = true;
            sum[step] += value;
            if (value > high[step]) {
                high[step] = value;
                high_at[step] = lane;
            }
            if (value < low[step]) {
                low[step] = value;
                low_at[step] = lane;
            }
            group_sum[step][lane / block] += value;
            group_high[step][lane / block] = std::max(group_high[step][lane / block], value);
            group_low[step][lane / block] = std::min(group_low[step][lane / block], value);
            pair[step][lane / 2] += value;
        });
        SetMask(layout);
        const auto repeat = static_cast<uint8_t>(layout.repeat);
        const auto stride = static_cast<uint16_t>(layout.stride[1]);
        std::vector<uint8_t> want = before;
        const auto put = [&](size_t element, double value) {
            const T narrow(static_cast<float>(value));
            std::memcpy(&want[element * sizeof(T)], &narrow, sizeof(T));
        };
        const auto reset = [&] {
            std::memcpy(ascendsim::UbBase(), before.data(), before.size());
            want = before;
        };
        for (uint32_t step = 0; step < steps; ++step) {
            put(step * 3, sum[step]);
        }
        vcadd(Operand<T>(0), Operand<T>(1), repeat, 3, 1, stride, false);
        Compare<T>(want, 0, "vcadd", layout);
        for (const bool greatest : {true, false}) {
            reset();
            for (uint32_t step = 0; step < steps; ++step) {
                put(step * 4, greatest ? high[step] : low[step]);
                const auto index = static_cast<Index>(greatest ? high_at[step] : low_at[step]);
                std::memcpy(&want[(step * 4 + 1) * sizeof(T)], &index, sizeof(T));
            }
            greatest ? vcmax(Operand<T>(0), Operand<T>(1), repeat, 2, 1, stride, VALUE_INDEX)
                     : vcmin(Operand<T>(0), Operand<T>(1), repeat, 2, 1, stride, VALUE_INDEX);
            Compare<T>(want, 0, greatest ? "vcmax" : "vcmin", layout);
        }
        for (int kind = 0; kind < 3; ++kind) {
            reset();
            for (uint32_t step = 0; step < steps; ++step) {
                for (uint32_t i = 0; i < 8; ++i) {
                    if (std::find(active[step].begin() + i * block, active[step].begin() + (i + 1) * block, true) != active[step].begin() + (i + 1) * block) {
                        put(step * 16 + i, kind == 0 ? group_sum[step][i] : kind == 1 ? group_high[step][i] : group_low[step][i]);
                    }
                }
            }
            using Group = void (*)(T*, T*, uint8_t, uint16_t, uint16_t, uint16_t);
            constexpr Group kGroups[] = {vcgadd, vcgmax, vcgmin};
            const Group call = kGroups[kind];
            call(Operand<T>(0), Operand<T>(1), repeat, 2, 1, stride);
            Compare<T>(want, 0, "vcg*", layout);
        }
        reset();
        for (uint32_t step = 0; step < steps; ++step) {
            for (uint32_t i = 0; i < per_repeat / 2; ++i) {
                if (active[step][2 * i] || active[step][2 * i + 1]) {
                    put(step * per_repeat / 2 + i, pair[step][i]);
                }
            }
        }
        vcpadd(Operand<T>(0), Operand<T>(1), repeat, 1, 1, stride);
        Compare<T>(want, 0, "vcpadd", layout);
    }
}

/// 32 values a repeat with their indices, descending; then two sorted lists become one.
void CheckSorts()
{
    for (int round = 0; round < 10; ++round) {
        struct Record {
            float value;
            uint32_t index;
        };
        std::vector<Record> want;
        for (uint32_t i = 0; i < 64; ++i) {
            Operand<float>(1)[i] = static_cast<float>(g_random.Below(40));
            Operand<uint32_t>(2)[i] = i;
            want.push_back({Operand<float>(1)[i], i});
        }
        const auto greater = [](const Record& a, const Record& b) { return a.value > b.value; };
        vbitsort(Operand<float>(0), Operand<float>(1), Operand<uint32_t>(2), 2);
        std::stable_sort(want.begin(), want.begin() + 32, greater);
        std::stable_sort(want.begin() + 32, want.end(), greater);
        Expect(std::memcmp(want.data(), Operand<uint8_t>(0), 64 * 8) == 0, "vbitsort");
        float* lists[4] = {Operand<float>(0), Operand<float>(0) + 64, nullptr, nullptr};
        lists[2] = lists[0];
        lists[3] = lists[0];
        vmrgsort4(Operand<float>(3), lists, 32 | 32 << 16, 1 | 3 << 8);
        std::stable_sort(want.begin(), want.end(), greater);
        Expect(std::memcmp(want.data(), Operand<uint8_t>(3), 64 * 8) == 0, "vmrgsort4");
    }
}

void CheckShifts()
{
    SetMask([] {
        Layout all = {};
        all.low = all.high = ~uint64_t{0};
        return all;
    }());
    FillWith<int16_t>(1);
    for (const uint32_t distance : {0u, 1u, 5u, 15u}) {
        vshl(Operand<int16_t>(0), Operand<int16_t>(1), distance, 1, 1, 1, 8, 8);
        vshr(Operand<int16_t>(2), Operand<int16_t>(1), static_cast<int32_t>(distance), 1, 1, 1, 8, 8, false);
        vshr(Operand<uint16_t>(3), Operand<uint16_t>(1), distance, 1, 1, 1, 8, 8, false);
        for (uint32_t i = 0; i < 128; ++i) {
            const int16_t value = Operand<int16_t>(1)[i];
            Expect(Operand<int16_t>(0)[i] == static_cast<int16_t>(static_cast<uint32_t>(static_cast<uint16_t>(value)) << distance), "vshl");
            Expect(Operand<int16_t>(2)[i] == static_cast<int16_t>(value >> distance), "vshr of signed");
            Expect(Operand<uint16_t>(3)[i] == static_cast<uint16_t>(static_cast<uint16_t>(value) >> distance), "vshr of unsigned");
        }
    }
}

void CheckBufferCopies()
{
    FillWith<uint8_t>(0);
    FillWith<uint8_t>(1);
    std::vector<uint8_t> want = Image();
    for (uint32_t i = 0; i < 5; ++i) {
        std::memcpy(&want[i * 5 * 32], &want[kArea + i * 4 * 32], 3 * 32);
    }
    copy_ubuf_to_ubuf(Operand<uint8_t>(0), Operand<uint8_t>(1), 0, 5, 3, 1, 2);
    Compare<uint8_t>(want, 0, "copy_ubuf_to_ubuf", Layout{});
    copy_ubuf_to_cbuf(ascendsim::OnChipBase(2) + 64, Operand<uint8_t>(0), 0, 2, 3, 1, 2);
    copy_cbuf_to_ubuf(Operand<uint8_t>(2), ascendsim::OnChipBase(2) + 64, 0, 2, 3, 2, 1);
    for (uint32_t i = 0; i < 2; ++i) {
        Expect(std::memcmp(Operand<uint8_t>(2) + i * 4 * 32, Operand<uint8_t>(0) + i * 4 * 32, 3 * 32) == 0, "UB to L1 and back");
    }
}

#define COMPARE(rel, T, expression)                                                                             \
    CheckCompare<T>("vcmpv_" #rel " " #T, [](auto... a) { vcmpv_##rel(a...); }, [](auto... a) { vcmpvs_##rel(a...); }, \
                    [](double a, double b) { return expression; });
#define COMPARE_ALL(rel, expression)                                                                            \
    COMPARE(rel, half, expression)                                                                              \
    COMPARE(rel, float, expression)                                                                             \
    CheckMaskCompare<half>("vcmp_" #rel, [](auto... a) { vcmp_##rel(a...); }, [](double a, double b) { return expression; }); \
    CheckMaskCompare<float>("vcmp_" #rel, [](auto... a) { vcmp_##rel(a...); }, [](double a, double b) { return expression; });

}  // namespace

int main()
{
    COMPARE_ALL(eq, a == b)
    COMPARE_ALL(ne, a != b)
    COMPARE_ALL(lt, a < b)
    COMPARE_ALL(le, a <= b)
    COMPARE_ALL(gt, a > b)
    COMPARE_ALL(ge, a >= b)
    COMPARE(eq, int32_t, a == b)
    CheckSelect<half>();
    CheckSelect<float>();
    CheckFillAndSpread<half>();
    CheckFillAndSpread<float>();
    CheckFillAndSpread<bfloat16_t>();
    CheckFillAndSpread<int16_t>();
    CheckFillAndSpread<uint16_t>();
    CheckFillAndSpread<int32_t>();
    CheckFillAndSpread<uint32_t>();
    CheckGather<uint16_t>();
    CheckGather<uint32_t>();
    CheckPack<uint16_t>();
    CheckPack<uint32_t>();
    CheckReductions<half>();
    CheckReductions<float>();
    CheckSorts();
    CheckShifts();
    CheckBufferCopies();
    return Report("isa_differential_select");
}
