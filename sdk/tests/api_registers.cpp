// Comparisons, gathers and merges that leave results in registers, and the indices that sequences begin with.
#include "kernel_operator.h"

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;
using A::CMPMODE;
using A::SELMODE;

namespace {

constexpr uint32_t kSlot = 8 * 1024;
using Slot = Slots<kSlot>;

bool Holds(CMPMODE mode, float a, float b)
{
    switch (mode) {
        case CMPMODE::LT: return a < b;
        case CMPMODE::GT: return a > b;
        case CMPMODE::EQ: return a == b;
        case CMPMODE::LE: return a <= b;
        case CMPMODE::GE: return a >= b;
        default: return a != b;
    }
}

template <typename T>
void CompareMasks()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    Random random(3);
    for (uint32_t i = 0; i < lanes; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<float>(random.Below(3)));
        Slot::Raw<T>(1)[i] = static_cast<T>(static_cast<float>(random.Below(3)));
    }
    const uint64_t words[2] = {0x80000000FFFF0001u, sizeof(T) == 2 ? 0x8000000000000F0Fu : 0};
    for (const CMPMODE mode : {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ, CMPMODE::LE, CMPMODE::GE, CMPMODE::NE}) {
        const std::string what = " in mode " + std::to_string(static_cast<int>(mode)) + " of " + std::to_string(sizeof(T)) + " bytes";
        bool right = true;
        A::Compare(Slot::At<T>(0), Slot::At<T>(1), mode, uint64_t{lanes}, A::BinaryRepeatParams());
        A::GetCmpMask(Slot::At<uint8_t>(2));
        for (uint32_t i = 0; i < lanes; ++i) {
            right = right && ((Slot::Raw<uint8_t>(2)[i / 8] >> i % 8 & 1) != 0) == Holds(mode, Slot::Value<T>(0, i), Slot::Value<T>(1, i));
        }
        Expect(right, "GetCmpMask" + what);
        // The selection takes the mask that the comparison left.
        A::Select<T, SELMODE::VSEL_CMPMASK_SPR>(Slot::At<T>(3), Slot::At<T>(0), Slot::At<T>(1), 1, A::BinaryRepeatParams());
        for (uint32_t i = 0; i < lanes; ++i) {
            const float a = Slot::Value<T>(0, i);
            const float b = Slot::Value<T>(1, i);
            right = right && Slot::Value<T>(3, i) == (Holds(mode, a, b) ? a : b);
        }
        Expect(right, "Select by the register" + what);
        A::Compare(Slot::At<T>(0), Slot::At<T>(1), mode, words, A::BinaryRepeatParams());
        A::GetCmpMask(Slot::At<uint8_t>(2));
        A::ResetMask();
        for (uint32_t i = 0; i < lanes; ++i) {
            right = right
                && ((words[i / 64] >> i % 64 & 1) == 0
                    || ((Slot::Raw<uint8_t>(2)[i / 8] >> i % 8 & 1) != 0) == Holds(mode, Slot::Value<T>(0, i), Slot::Value<T>(1, i)));
        }
        Expect(right, "GetCmpMask of masked lanes" + what);
    }
    // The three kinds of selection with what SetCmpMask brings: bits, a scalar, the place of bits.
    for (uint32_t i = 0; i < lanes; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<float>(i));
        Slot::Raw<T>(1)[i] = static_cast<T>(-1.0f - static_cast<float>(i));
        Slot::Raw<T>(5)[i] = static_cast<T>(-99.0f);
    }
    for (uint32_t i = 0; i < 128; ++i) {
        Slot::Raw<uint8_t>(4)[i] = static_cast<uint8_t>(i * 37 + 129);
    }
    const auto set = [](uint32_t lane) { return (Slot::Raw<uint8_t>(4)[lane / 8] >> lane % 8 & 1) != 0; };
    A::SetCmpMask(Slot::At<uint8_t>(4));
    A::GetCmpMask(Slot::At<uint8_t>(2));
    Expect(std::memcmp(Slot::Raw<uint8_t>(2), Slot::Raw<uint8_t>(4), 16) == 0, "SetCmpMask and GetCmpMask");
    A::Select<T, SELMODE::VSEL_CMPMASK_SPR>(Slot::At<T>(3), Slot::At<T>(0), Slot::At<T>(1), 1, A::BinaryRepeatParams());
    bool right[3] = {true, true, true};
    for (uint32_t i = 0; i < lanes; ++i) {
        right[0] = right[0] && Slot::Value<T>(3, i) == Slot::Value<T>(set(i) ? 0 : 1, i);
    }
    A::SetCmpMask(Slot::At<T>(5));
    A::Select(Slot::At<T>(3), Slot::At<uint8_t>(4), Slot::At<T>(0), 1, A::BinaryRepeatParams());
    for (uint32_t i = 0; i < lanes; ++i) {
        right[1] = right[1] && Slot::Value<T>(3, i) == (set(i) ? Slot::Value<T>(0, i) : -99.0f);
    }
    for (uint32_t i = 0; i < 8; ++i) {
        Slot::Raw<uint32_t>(6)[i] = static_cast<uint32_t>(Slot::At<uint8_t>(4).GetPhyAddr() - Slot::At<uint8_t>(0).GetPhyAddr());
    }
    A::SetCmpMask(Slot::At<uint32_t>(6));
    A::Select<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(Slot::At<T>(3), Slot::At<T>(0), Slot::At<T>(1), 1, A::BinaryRepeatParams());
    for (uint32_t i = 0; i < lanes; ++i) {
        right[2] = right[2] && Slot::Value<T>(3, i) == Slot::Value<T>(set(i) ? 0 : 1, i);
    }
    Expect(right[0] && right[1] && right[2], "Select after SetCmpMask");
}

template <typename T>
void Gathered()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    for (uint32_t i = 0; i < 3 * lanes; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<float>(i));
    }
    // Pattern 1: the first of two, 2: the second, 3 to 6: one of four, 7: all.
    for (uint8_t pattern = 1; pattern <= 7; ++pattern) {
        const uint32_t every = pattern == 7 ? 1 : pattern < 3 ? 2 : 4;
        const uint32_t first = pattern == 7 ? 0 : pattern < 3 ? pattern - 1u : pattern - 3u;
        for (const uint32_t taken : {3 * lanes, 2 * lanes + 1, 5u, 1u}) {
            uint64_t kept = 99;
            const bool counted = taken != 3 * lanes;
            A::GatherMask(Slot::At<T>(1), Slot::At<T>(0), pattern, counted, counted ? taken : 0, A::GatherMaskParams(1, counted ? 1 : 3, 8, 0), kept);
            uint64_t want = 0;
            bool right = true;
            for (uint32_t i = first; i < taken; i += every) {
                right = right && Slot::Value<T>(1, static_cast<uint32_t>(want++)) == static_cast<float>(i);
            }
            const std::string what = " of pattern " + std::to_string(pattern) + " and " + std::to_string(taken) + " elements";
            Expect(right && kept == want, "GatherMask" + what);
            Expect(A::GetGatherMaskRemainCount() == static_cast<int64_t>(want) && A::AscendCUtils::GetRsvdCnt() == static_cast<int64_t>(want),
                   "GetGatherMaskRemainCount" + what);
        }
    }
    A::ResetMask();
}

/// Three runs of different lengths, until one is used up.
template <typename T>
void Merged()
{
    constexpr uint32_t record = 8 / sizeof(T);
    Expect(A::GetSortOffset<T>(0) == 0 && A::GetSortOffset<T>(5) == 5 * record && A::GetSortLen<T>(32) == 32 * record, "GetSortOffset, GetSortLen");
    for (uint32_t i = 0; i < 96; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<float>(i * 37 % 97));
        Slot::Raw<uint32_t>(1)[i] = i;
    }
    A::LocalTensor<T> values;
    A::Concat(values, Slot::At<T>(0), Slot::At<T>(5), 6);
    A::Sort32(Slot::At<T>(2), values, Slot::At<uint32_t>(1), 3);
    for (const bool stop : {true, false}) {
        const uint16_t lengths[4] = {32, 20, 32, 0};
        A::MrgSortSrcList<T> runs(Slot::At<T>(2), Slot::At<T>(2)[A::GetSortOffset<T>(32)], Slot::At<T>(2)[A::GetSortOffset<T>(64)], Slot::At<T>(2));
        A::MrgSort(Slot::At<T>(3), runs, A::MrgSort4Info(lengths, stop, 7, 1));
        uint16_t taken[4] = {1, 1, 1, 1};
        A::GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
        uint32_t want[4] = {0, 0, 0, 0};
        bool right = true;
        for (uint32_t at = 0; at < 84 && !(stop && (want[0] == 32 || want[1] == 20 || want[2] == 32)); ++at) {
            uint32_t from = 4;
            for (uint32_t run = 0; run < 3; ++run) {
                const auto next = [&](uint32_t of) { return Slot::Value<T>(2, (32 * of + want[of]) * record); };
                from = want[run] < lengths[run] && (from == 4 || next(run) > next(from)) ? run : from;
            }
            const uint32_t head = (32 * from + want[from]++) * record;
            right = right && Slot::Value<T>(3, at * record) == Slot::Value<T>(2, head)
                && Slot::Raw<uint32_t>(3)[at * 2 + 1] == Slot::Raw<uint32_t>(2)[head / record * 2 + 1];
        }
        Expect(right, "MrgSort of three runs");
        const std::string got = std::to_string(taken[0]) + " " + std::to_string(taken[1]) + " " + std::to_string(taken[2]);
        Expect(!stop || (taken[0] == want[0] && taken[1] == want[1] && taken[2] == want[2] && taken[3] == 0), "GetMrgSortResult: " + got);
    }
    // Four lists, all of them to the end.
    const uint16_t four[4] = {8, 16, 24, 32};
    uint32_t all[5] = {1, 1, 1, 1, 77};
    A::MrgSort<T, false>(Slot::At<T>(3), A::MrgSortSrcList<T>(Slot::At<T>(2), Slot::At<T>(2), Slot::At<T>(2), Slot::At<T>(2)), four, all, 15, 1);
    Expect(all[0] == 8 && all[1] == 16 && all[2] == 24 && all[3] == 32 && all[4] == 77, "numbers of four lists that MrgSort gives");
    uint16_t each[4];
    A::GetMrgSortResult(each[0], each[1], each[2], each[3]);
    Expect(each[0] == 8 && each[1] == 16 && each[2] == 24 && each[3] == 32, "GetMrgSortResult of four lists");
    const uint16_t lengths[4] = {20, 32, 32, 0};
    uint32_t sorted[4] = {1, 1, 1, 1};
    const A::MrgSortSrcList<T> runs(Slot::At<T>(2), Slot::At<T>(2)[A::GetSortOffset<T>(32)], Slot::At<T>(2)[A::GetSortOffset<T>(64)], Slot::At<T>(2));
    A::MrgSort<T, true>(Slot::At<T>(3), runs, lengths, sorted, 7, 1);
    uint32_t want[3] = {0, 0, 0};
    while (want[0] < 20 && want[1] < 32 && want[2] < 32) {
        uint32_t from = 0;
        for (uint32_t run = 1; run < 3; ++run) {
            from = Slot::Value<T>(2, (32 * run + want[run]) * record) > Slot::Value<T>(2, (32 * from + want[from]) * record) ? run : from;
        }
        ++want[from];
    }
    Expect(sorted[0] == want[0] && sorted[1] == want[1] && sorted[2] == want[2] && sorted[3] == 0, "numbers that MrgSort gives");
}

template <typename T>
void Sequences()
{
    constexpr uint32_t block = 32 / sizeof(T);
    constexpr uint32_t lanes = 256 / sizeof(T);
    const auto clear = [] { std::memset(ascendsim::UbBase(), 0x55, kSlot); };
    const auto number = [](int32_t value) { return static_cast<T>(static_cast<float>(value)); };
    T untouched;
    std::memset(static_cast<void*>(&untouched), 0x55, sizeof(T));
    for (const uint32_t count : {1u, block - 1, block, block + 1, 2 * block, lanes - 1, lanes, lanes + 1, 2 * lanes, 5 * lanes + block + 3}) {
        for (int kind = 0; kind < 3; ++kind) {
            const int32_t first = -20;
            const int32_t step = kind == 0 ? 1 : 3;
            clear();
            if (kind == 0) {
                A::CreateVecIndex(Slot::At<T>(0), number(first), count);
            } else if (kind == 1) {
                A::Arange(Slot::At<T>(0), number(first), number(step), static_cast<int32_t>(count));
            } else {
                A::ArithProgression(Slot::At<T>(0), number(first), number(step), static_cast<int32_t>(count));
            }
            bool right = Slot::Raw<T>(0)[count] == untouched;
            for (uint32_t i = 0; i < count; ++i) {
                right = right && Slot::Raw<T>(0)[i] == number(first + step * static_cast<int32_t>(i));
            }
            Expect(right, "sequence of kind " + std::to_string(kind) + ", " + std::to_string(count) + " elements of " + std::to_string(sizeof(T)) + " bytes");
        }
    }
    // Repeats with gaps between blocks: everything else stays as it was.
    const auto expected = [&](const char* what, const uint64_t* mask, uint32_t repeats) {
        std::vector<T> want(kSlot / sizeof(T), untouched);
        for (uint32_t r = 0; r < repeats; ++r) {
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                if ((mask[lane / 64] >> lane % 64 & 1) != 0) {
                    want[(r * 17 + lane / block * 2) * block + lane % block] = number(static_cast<int32_t>(r * lanes + lane) + 3);
                }
            }
        }
        Expect(std::memcmp(static_cast<void*>(Slot::Raw<T>(0)), want.data(), kSlot) == 0, std::string(what) + " of " + std::to_string(sizeof(T)) + " bytes");
    };
    A::LocalTensor<T> to = Slot::At<T>(0);
    for (const uint32_t active : {1u, block, block + 1, lanes - 1, lanes}) {
        const uint64_t mask[2] = {active < 64 ? (uint64_t{1} << active) - 1 : ~uint64_t{0},
                                  active <= 64 ? 0 : active == 128 ? ~uint64_t{0} : (uint64_t{1} << (active - 64)) - 1};
        for (const uint8_t repeats : {0, 1, 3}) {
            clear();
            A::CreateVecIndex(to, number(3), uint64_t{active}, repeats, 2, 17);
            expected("CreateVecIndex in the first lanes", mask, repeats);
        }
    }
    uint64_t mask[2] = {0x8000000180000001u, sizeof(T) == 2 ? 0x8000000000000010u : 0};
    for (const uint8_t repeats : {0, 1, 3}) {
        clear();
        A::CreateVecIndex(to, number(3), mask, repeats, 2, 17);
        expected("CreateVecIndex in lanes of two words", mask, repeats);
    }
    A::ResetMask();
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        CompareMasks<float>();
        CompareMasks<half>();
        Gathered<float>();
        Gathered<half>();
        Merged<float>();
        Merged<half>();
        Sequences<half>();
        Sequences<int16_t>();
        Sequences<float>();
        Sequences<int32_t>();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    return Report("api_registers");
}
