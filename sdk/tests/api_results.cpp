// Results of many lanes in few elements: reductions with masks of both kinds, and the registers that comparisons, reductions,
// gathers and merges leave results in.
#include "kernel_operator.h"

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;
using A::ReduceOrder;
using A::ReduceType;

namespace {

constexpr uint32_t kSlot = 16 * 1024;
using Slot = Slots<kSlot>;
constexpr uint32_t kRepeats = 3;
constexpr uint32_t kBlkStride = 2;
constexpr uint32_t kRepStride = 17;

template <typename T>
uint32_t Index(uint32_t slot, uint32_t at)
{
    return static_cast<uint32_t>(A::GetScalarBitcodeValue(Slot::Raw<T>(slot)[at]));
}

/// What an operation makes of the active lanes from `from` to `to`; the first of equals gives the index.
struct Folded {
    float value = 0;
    uint32_t index = 0;
    bool any = false;
};

template <typename T>
struct Lanes {
    static constexpr uint32_t block = 32 / sizeof(T);
    static constexpr uint32_t count = 256 / sizeof(T);
    uint64_t mask[2];
    uint32_t blkStride = kBlkStride;
    uint32_t repStride = kRepStride;

    Folded Fold(ReduceType type, uint32_t repeat, uint32_t from, uint32_t to) const
    {
        Folded all;
        for (uint32_t lane = from; lane < to; ++lane) {
            if ((mask[lane / 64] >> lane % 64 & 1) == 0) {
                continue;
            }
            const float value = Slot::Value<T>(0, (repeat * repStride + lane / block * blkStride) * block + lane % block);
            if (type == ReduceType::SUM) {
                all.value += value;
            } else if (!all.any || (type == ReduceType::MAX ? value > all.value : value < all.value)) {
                all.value = value;
                all.index = lane;
            }
            all.any = true;
        }
        return all;
    }
    /// One result for each `width` lanes at slot 1, repeats `advance` elements apart.
    void Expected(const std::string& what, ReduceType type, uint32_t width, uint32_t advance, uint32_t step = 1) const
    {
        for (uint32_t r = 0; r < kRepeats; ++r) {
            for (uint32_t i = 0; i < count / width; ++i) {
                const Folded want = Fold(type, r, i * width, (i + 1) * width);
                const float got = Slot::Value<T>(1, r * advance + i * step);
                if (want.any && got != want.value) {
                    Fail(what + ", result " + std::to_string(i) + " of repeat " + std::to_string(r) + ": " + std::to_string(got) + ", expected "
                         + std::to_string(want.value));
                    return;
                }
            }
        }
    }
    void ExpectedIndex(const std::string& what, ReduceType type, Callee<uint32_t(uint32_t)> got) const
    {
        for (uint32_t r = 0; r < kRepeats; ++r) {
            Expect(got(r) == Fold(type, r, 0, count).index, what + ", index of repeat " + std::to_string(r));
        }
    }
};

template <typename T>
void FillSource()
{
    Random random(sizeof(T));
    for (uint32_t i = 0; i < kSlot / sizeof(T); ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<float>(random.Below(17)) - 8.0f);
    }
}

/// `Mask` is a number of lanes or two words.
template <typename T, typename Mask>
void Reductions(const std::string& suffix, Mask mask, const Lanes<T>& lanes)
{
    constexpr uint32_t block = Lanes<T>::block;
    constexpr uint32_t count = Lanes<T>::count;
    const auto from = Slot::At<T>(0);
    const auto to = Slot::At<T>(1);
    A::BlockReduceSum(to, from, kRepeats, mask, 2, kBlkStride, kRepStride);
    lanes.Expected("BlockReduceSum" + suffix, ReduceType::SUM, block, 16);
    A::BlockReduceMax(to, from, kRepeats, mask, 1, kBlkStride, kRepStride);
    lanes.Expected("BlockReduceMax" + suffix, ReduceType::MAX, block, 8);
    A::BlockReduceMin(to, from, kRepeats, mask, 3, kBlkStride, kRepStride);
    lanes.Expected("BlockReduceMin" + suffix, ReduceType::MIN, block, 24);
    A::PairReduceSum(to, from, kRepeats, mask, 2, kBlkStride, kRepStride);
    lanes.Expected("PairReduceSum" + suffix, ReduceType::SUM, 2, count);
    A::WholeReduceSum(to, from, mask, kRepeats, 3, kBlkStride, kRepStride);
    lanes.Expected("WholeReduceSum" + suffix, ReduceType::SUM, count, 3);
    A::WholeReduceMax(to, from, mask, kRepeats, 2, kBlkStride, kRepStride);
    lanes.Expected("WholeReduceMax" + suffix, ReduceType::MAX, count, 4);
    lanes.ExpectedIndex("WholeReduceMax" + suffix, ReduceType::MAX, [](uint32_t r) { return Index<T>(1, 4 * r + 1); });
    A::WholeReduceMin(to, from, mask, kRepeats, 1, kBlkStride, kRepStride, ReduceOrder::ORDER_INDEX_VALUE);
    lanes.ExpectedIndex("WholeReduceMin" + suffix, ReduceType::MIN, [](uint32_t r) { return Index<T>(1, 2 * r); });

    A::ReduceDataBlock<ReduceType::SUM>(to, from, mask, kRepeats, 1, kBlkStride, kRepStride);
    lanes.Expected("ReduceDataBlock of sums" + suffix, ReduceType::SUM, block, 8);
    A::ReduceDataBlock<ReduceType::MAX>(to, from, mask, kRepeats, 2, kBlkStride, kRepStride);
    lanes.Expected("ReduceDataBlock of maxima" + suffix, ReduceType::MAX, block, 16);
    A::ReduceDataBlock<ReduceType::MIN>(to, from, mask, kRepeats, 1, kBlkStride, kRepStride);
    lanes.Expected("ReduceDataBlock of minima" + suffix, ReduceType::MIN, block, 8);
    A::ReducePairElem<ReduceType::SUM>(to, from, mask, kRepeats, 1, kBlkStride, kRepStride);
    lanes.Expected("ReducePairElem" + suffix, ReduceType::SUM, 2, count / 2);
    A::ReduceRepeat<ReduceType::SUM>(to, from, mask, kRepeats, 2, kBlkStride, kRepStride);
    lanes.Expected("ReduceRepeat of sums" + suffix, ReduceType::SUM, count, 2);
    A::ReduceRepeat<ReduceType::MAX>(to, from, mask, kRepeats, 2, kBlkStride, kRepStride);
    lanes.Expected("ReduceRepeat of maxima" + suffix, ReduceType::MAX, count, 4);
    lanes.ExpectedIndex("ReduceRepeat of maxima" + suffix, ReduceType::MAX, [](uint32_t r) { return Index<T>(1, 4 * r + 1); });
    A::ReduceRepeat<ReduceType::MIN>(to, from, mask, kRepeats, 3, kBlkStride, kRepStride, ReduceOrder::ORDER_ONLY_VALUE);
    lanes.Expected("ReduceRepeat of minima" + suffix, ReduceType::MIN, count, 3);
    // Indices alone are words of 32 bits.
    A::ReduceRepeat<ReduceType::MIN>(to, from, mask, kRepeats, 1, kBlkStride, kRepStride, ReduceOrder::ORDER_ONLY_INDEX);
    lanes.ExpectedIndex("ReduceRepeat of indices" + suffix, ReduceType::MIN, [](uint32_t r) { return Slot::Raw<uint32_t>(1)[r]; });

    // Over all repeats, which have no gaps here.
    Lanes<T> dense = lanes;
    dense.blkStride = 1;
    dense.repStride = 8;
    float sum = 0;
    Folded high;
    Folded low;
    for (uint32_t r = 0; r < kRepeats; ++r) {
        sum += dense.Fold(ReduceType::SUM, r, 0, count).value;
        const Folded max = dense.Fold(ReduceType::MAX, r, 0, count);
        const Folded min = dense.Fold(ReduceType::MIN, r, 0, count);
        high = r == 0 || max.value > high.value ? Folded{max.value, r * count + max.index, true} : high;
        low = r == 0 || min.value < low.value ? Folded{min.value, r * count + min.index, true} : low;
    }
    A::ReduceSum(to, from, Slot::At<T>(2), mask, kRepeats, 8);
    Expect(Slot::Value<T>(1, 0) == sum, "ReduceSum" + suffix);
    A::ReduceMax(to, from, Slot::At<T>(2), mask, kRepeats, 8);
    Expect(Slot::Value<T>(1, 0) == high.value, "ReduceMax" + suffix);
    A::ReduceMin(to, from, Slot::At<T>(2), mask, kRepeats, 8, false);
    Expect(Slot::Value<T>(1, 0) == low.value, "ReduceMin" + suffix);
    A::ReduceMax(to, from, Slot::At<T>(2), mask, kRepeats, 8, true);
    Expect(Slot::Value<T>(1, 0) == high.value && Index<T>(1, 1) == high.index, "ReduceMax with index" + suffix);
    A::ReduceMin(to, from, Slot::At<T>(2), mask, kRepeats, 8, true);
    Expect(Slot::Value<T>(1, 0) == low.value && Index<T>(1, 1) == low.index, "ReduceMin with index" + suffix);
}

template <typename T>
void Masks()
{
    FillSource<T>();
    const std::string type = sizeof(T) == 2 ? " of half" : " of float";
    constexpr uint32_t count = Lanes<T>::count;
    for (const uint32_t active : {1u, 2u, 31u, 64u, count - 1, count}) {
        Lanes<T> lanes{{~uint64_t{0}, ~uint64_t{0}}};
        lanes.mask[0] = active < 64 ? (uint64_t{1} << active) - 1 : ~uint64_t{0};
        lanes.mask[1] = active <= 64 ? 0 : active == 128 ? ~uint64_t{0} : (uint64_t{1} << (active - 64)) - 1;
        const std::string suffix = type + " in " + std::to_string(active) + " lanes";
        Reductions<T>(suffix, static_cast<int32_t>(active), lanes);
        A::RepeatReduceSum(Slot::At<T>(1), Slot::At<T>(0), kRepeats, static_cast<int32_t>(active), 0, kBlkStride, 2, kRepStride);
        lanes.Expected("RepeatReduceSum" + suffix, ReduceType::SUM, count, 2);
    }
    const uint64_t high = sizeof(T) == 2 ? ~uint64_t{0} : 0;
    for (const uint64_t low : {~uint64_t{0}, uint64_t{0x8000000000000001u}, uint64_t{0xA5A5000000005A5Au}}) {
        for (const uint64_t second : {high, high & 0x8000000000000000u, high & 0x00FF00FF12345678u}) {
            Lanes<T> lanes{{low, second}};
            const uint64_t* words = lanes.mask;
            Reductions<T>(type + " in lanes of two words", words, lanes);
            A::SetVectorMask<T>(second, low);
            A::ReduceDataBlock<ReduceType::SUM, T, T, false>(Slot::At<T>(1), Slot::At<T>(0), A::MASK_PLACEHOLDER_LIST, kRepeats, 1, kBlkStride, kRepStride);
            lanes.Expected("ReduceDataBlock with the mask as it is", ReduceType::SUM, Lanes<T>::block, 8);
            A::ReduceRepeat<ReduceType::SUM, T, T, false>(Slot::At<T>(1), Slot::At<T>(0), 1, kRepeats, 1, kBlkStride, kRepStride);
            lanes.Expected("ReduceRepeat with the mask as it is", ReduceType::SUM, Lanes<T>::count, 1);
        }
    }
    A::ResetMask();
}

/// So many repeats that results of results are reduced, with the extreme anywhere.
template <typename T>
void Levels()
{
    constexpr uint32_t count = Lanes<T>::count;
    Random random(11);
    for (const uint32_t repeats : {1u, 2u, 31u, 32u, 33u, 47u, 64u, 65u, 100u, 130u}) {
        const uint32_t at = random.Below(repeats * count);
        for (uint32_t i = 0; i < repeats * count; ++i) {
            Slot::Raw<T>(4)[i] = static_cast<T>(i == at ? 9.0f : i < at ? 1.0f : 2.0f);
        }
        const std::string suffix = " of " + std::to_string(repeats) + " repeats";
        const auto lanes = static_cast<int32_t>(count);
        const auto times = static_cast<int32_t>(repeats);
        A::ReduceMax(Slot::At<T>(1), Slot::At<T>(4), Slot::At<T>(2), lanes, times, 8, true);
        Expect(Slot::Value<T>(1, 0) == 9.0f && Index<T>(1, 1) == at, "ReduceMax with index" + suffix);
        A::ReduceMax(Slot::At<T>(1), Slot::At<T>(4), Slot::At<T>(2), lanes, times, 8, false);
        Expect(Slot::Value<T>(1, 0) == 9.0f, "ReduceMax" + suffix);
        // Of two lanes in each repeat.
        A::ReduceSum(Slot::At<T>(1), Slot::At<T>(4), Slot::At<T>(2), 2, times, 8);
        float sum = 0;
        for (uint32_t r = 0; r < repeats; ++r) {
            sum += Slot::Value<T>(4, r * count) + Slot::Value<T>(4, r * count + 1);
        }
        Expect(Slot::Value<T>(1, 0) == sum, "ReduceSum" + suffix);
        Slot::Raw<T>(4)[at] = static_cast<T>(-9.0f);
        A::ReduceMin(Slot::At<T>(1), Slot::At<T>(4), Slot::At<T>(2), times * lanes, true);
        Expect(Slot::Value<T>(1, 0) == -9.0f && Index<T>(1, 1) == at, "ReduceMin with index by count" + suffix);
        A::ReduceMin(Slot::At<T>(1), Slot::At<T>(4), Slot::At<T>(2), times * lanes);
        Expect(Slot::Value<T>(1, 0) == -9.0f, "ReduceMin by count" + suffix);
    }
    A::ResetMask();
}

template <typename T>
void Registers()
{
    FillSource<T>();
    Lanes<T> lanes{{~uint64_t{0}, ~uint64_t{0}}, 1, 8};
    constexpr uint32_t count = Lanes<T>::count;
    float sum = 0;
    for (uint32_t i = 0; i < count + 5; ++i) {
        sum += Slot::Value<T>(0, i);
    }
    A::ReduceSum(Slot::At<T>(1), Slot::At<T>(0), Slot::At<T>(2), static_cast<int32_t>(count + 5));
    const T want = static_cast<T>(sum);
    Expect(A::GetReduceRepeatSumSpr<T>() == want && A::GetAccVal<T>() == want && Slot::Raw<T>(1)[0] == want, "GetReduceRepeatSumSpr");
    Expect(A::GetScalarBitcodeValue(static_cast<T>(want)) == (A::GetAccVal() & (sizeof(T) == 2 ? 0xFFFFu : 0xFFFFFFFFu)), "GetAccVal");
    const auto found = [&](const char* what, uint32_t index, float value) {
        T got{};
        T at{};
        A::GetReduceRepeatMaxMinSpr(got, at);
        Expect(static_cast<float>(got) == value && A::GetScalarBitcodeValue(at) == index, what);
        T again{};
        T atAgain{};
        A::GetReduceMaxMinCount(again, atAgain);
        Expect(again == got && A::GetScalarBitcodeValue(atAgain) == index, "GetReduceMaxMinCount");
    };
    const Folded max = lanes.Fold(ReduceType::MAX, 0, 0, count);
    A::ReduceRepeat<ReduceType::MAX>(Slot::At<T>(1), Slot::At<T>(0), static_cast<int32_t>(count), 1, 1, 1, 8);
    found("register of one maximum", max.index, max.value);
    Slot::Raw<T>(0)[2 * count - 1] = static_cast<T>(100.0f);
    Slot::Raw<T>(0)[2 * count + 3] = static_cast<T>(-100.0f);
    A::ReduceRepeat<ReduceType::MAX>(Slot::At<T>(1), Slot::At<T>(0), static_cast<int32_t>(count), 3, 1, 1, 8);
    found("register of the maximum of three repeats", 2 * count - 1, 100.0f);
    A::ReduceRepeat<ReduceType::MIN>(Slot::At<T>(1), Slot::At<T>(0), static_cast<int32_t>(count), 3, 1, 1, 8);
    found("register of the minimum of three repeats", 2 * count + 3, -100.0f);
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        Masks<float>();
        Masks<half>();
        Levels<float>();
        Levels<half>();
        Registers<float>();
        Registers<half>();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    const auto empty = OnCore([] { A::WholeReduceSum(Slot::At<float>(1), Slot::At<float>(0), 64, 256, 1, 1, 8); });
    Expect(empty.first_fault.rfind("repeat_overflow", 0) == 0, "256 repeats: " + empty.first_fault);
    return Report("api_results");
}
