// Reductions, comparisons, selections, gathers and template keys of the kernel API.
#include "kernel_operator.h"

#include <array>

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kSlot = 40 * 1024;
using Slot = Slots<kSlot>;

void Near(const std::string& what, double got, double want, double tolerance)
{
    Expect(std::fabs(got - want) <= tolerance * (1 + std::fabs(want)),
           what + ": " + std::to_string(got) + ", expected " + std::to_string(want));
}

template <typename T>
uint32_t IndexAt(const T* at)
{
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    Bits bits;
    std::memcpy(&bits, at, sizeof(bits));
    return bits;
}

template <typename T>
void Reductions(int32_t n)
{
    const std::string suffix = " of " + std::to_string(n) + " elements of " + std::to_string(sizeof(T)) + " bytes";
    Random random(static_cast<uint64_t>(n));
    double sum = 0;
    int32_t high = 0;
    int32_t low = 0;
    for (int32_t i = 0; i < n; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(random.Real(-1, 1));
        sum += static_cast<float>(Slot::Raw<T>(0)[i]);
        high = Slot::Raw<T>(0)[i] > Slot::Raw<T>(0)[high] ? i : high;
        low = Slot::Raw<T>(0)[i] < Slot::Raw<T>(0)[low] ? i : low;
    }
    A::ReduceSum(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n);
    Near("ReduceSum" + suffix, static_cast<float>(Slot::Raw<T>(2)[0]), sum, sizeof(T) == 2 ? 0.05 : 1e-4);
    A::ReduceMax(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n, false);
    Near("ReduceMax" + suffix, static_cast<float>(Slot::Raw<T>(2)[0]), static_cast<float>(Slot::Raw<T>(0)[high]), 0);
    A::ReduceMin(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n);
    Near("ReduceMin" + suffix, static_cast<float>(Slot::Raw<T>(2)[0]), static_cast<float>(Slot::Raw<T>(0)[low]), 0);
    A::ReduceMax(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n, true);
    Near("ReduceMax with index" + suffix, static_cast<float>(Slot::Raw<T>(2)[0]), static_cast<float>(Slot::Raw<T>(0)[high]), 0);
    Near("index of ReduceMax" + suffix, IndexAt(&Slot::Raw<T>(2)[1]), high, 0);
    A::ReduceMin(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n, true);
    Near("index of ReduceMin" + suffix, IndexAt(&Slot::Raw<T>(2)[1]), low, 0);
}

/// The extreme value at one place, or at two, of which the first counts: in whole repeats, in what is left of one, and at their borders.
template <typename T>
void ExtremesAt(int32_t n, int32_t first, int32_t second)
{
    const std::string what = " of " + std::to_string(n) + " with places " + std::to_string(first) + " and " + std::to_string(second);
    for (const float extreme : {9.0f, -9.0f}) {
        for (int32_t i = 0; i < n; ++i) {
            Slot::Raw<T>(0)[i] = static_cast<T>(i == first || i == second ? extreme : static_cast<float>(i % 13) - 6.0f);
        }
        std::fill_n(Slot::Raw<T>(2), 4, static_cast<T>(77.0f));
        if (extreme > 0) {
            A::ReduceMax(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n, true);
        } else {
            A::ReduceMin(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), n, true);
        }
        Near("extreme" + what, static_cast<float>(Slot::Raw<T>(2)[0]), extreme, 0);
        Near("index" + what, IndexAt(&Slot::Raw<T>(2)[1]), std::min(first, second), 0);
        Near("behind extreme and index" + what, static_cast<float>(Slot::Raw<T>(2)[2]), 77, 0);
        // Without one asked for there is no index; of no elements there is nothing.
        constexpr int32_t lanes = 256 / sizeof(T);
        uint64_t mask[2] = {~uint64_t{0}, sizeof(T) == 2 ? ~uint64_t{0} : 0};
        const auto best = static_cast<float>(extreme > 0 ? *std::max_element(Slot::Raw<T>(0), Slot::Raw<T>(0) + lanes) : *std::min_element(Slot::Raw<T>(0), Slot::Raw<T>(0) + lanes));
        for (int kind = 0; kind < 4; ++kind) {
            std::fill_n(Slot::Raw<T>(2), 4, static_cast<T>(77.0f));
            const auto reduce = [&](auto... arguments) {
                if (extreme > 0) {
                    A::ReduceMax(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), arguments...);
                } else {
                    A::ReduceMin(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), arguments...);
                }
            };
            if (kind == 0) {
                reduce(n);
            } else if (kind == 1) {
                reduce(lanes, 1, 8);
            } else if (kind == 2) {
                reduce(static_cast<const uint64_t*>(mask), 1, 8);
            } else {
                reduce(0);
                A::ReduceSum(Slot::At<T>(2), Slot::At<T>(0), Slot::At<T>(1), 0);
            }
            Near("extreme alone" + what, static_cast<float>(Slot::Raw<T>(2)[0]), kind == 0 ? extreme : kind == 3 ? 77 : best, 0);
            Near("behind an extreme alone" + what, static_cast<float>(Slot::Raw<T>(2)[1]), 77, 0);
        }
    }
}

void RepeatReductions()
{
    for (uint32_t i = 0; i < 640; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
    }
    A::WholeReduceSum(Slot::At<float>(1), Slot::At<float>(0), 50, 4, 1, 1, 8);
    A::WholeReduceMax(Slot::At<float>(2), Slot::At<float>(0), 64, 4, 1, 1, 8, A::ReduceOrder::ORDER_ONLY_VALUE);
    A::BlockReduceSum(Slot::At<float>(3), Slot::At<float>(0), 2, 64, 1, 1, 8);
    for (uint32_t r = 0; r < 4; ++r) {
        float sum = 0;
        float high = -1000;
        for (uint32_t i = 0; i < 64; ++i) {
            const float value = Slot::Raw<float>(0)[r * 64 + i];
            sum += i < 50 ? value : 0;
            high = value > high ? value : high;
        }
        Near("WholeReduceSum", Slot::Raw<float>(1)[r], sum, 0);
        Near("WholeReduceMax", Slot::Raw<float>(2)[r], high, 0);
    }
    for (uint32_t b = 0; b < 16; ++b) {
        float sum = 0;
        for (uint32_t i = 0; i < 8; ++i) {
            sum += Slot::Raw<float>(0)[b * 8 + i];
        }
        Near("BlockReduceSum", Slot::Raw<float>(3)[b], sum, 0);
    }
    float all = 0;
    for (uint32_t i = 0; i < 640; ++i) {
        all += Slot::Raw<float>(0)[i];
    }
    A::ReduceSum(Slot::At<float>(2), Slot::At<float>(0), Slot::At<float>(1), 64, 10, 8);
    Near("ReduceSum with repeats", Slot::Raw<float>(2)[0], all, 1e-6);
}

/// More repeats than an instruction has.
void ManyRepeats()
{
    constexpr uint32_t count = 257 * 64;
    const A::LocalTensor<float> src(A::TPosition::VECCALC, 0, count);
    for (uint32_t i = 0; i < count; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(i % 64 % 5);
    }
    Slot::Raw<float>(0)[count - 3] = 100;
    Slot::Raw<float>(0)[count - 70] = -50;
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        sum += static_cast<double>(Slot::Raw<float>(0)[i]);
    }
    A::ReduceSum(Slot::At<float>(4), src, Slot::At<float>(2), count);
    Near("ReduceSum of many repeats", Slot::Raw<float>(4)[0], sum, 0);
    A::ReduceSum(Slot::At<float>(4), src, Slot::At<float>(2), 64, 257, 8);
    Near("ReduceSum of as many as are named", Slot::Raw<float>(4)[0], sum, 0);
    A::ResetMask();
    A::ReduceMax(Slot::At<float>(4), src, Slot::At<float>(2), count, true);
    Near("ReduceMax of many repeats", Slot::Raw<float>(4)[0], 100, 0);
    Near("its index", IndexAt(&Slot::Raw<float>(4)[1]), count - 3, 0);
    A::ReduceMin(Slot::At<float>(4), src, Slot::At<float>(2), count);
    Near("ReduceMin of many repeats", Slot::Raw<float>(4)[0], -50, 0);
}

template <typename T>
void CompareAndSelect(uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(static_cast<int>(i * 5 % 17) - 8);
        Slot::Raw<T>(1)[i] = static_cast<T>(static_cast<int>(i * 3 % 13) - 6);
    }
    A::Compare(Slot::At<uint8_t>(2), Slot::At<T>(0), Slot::At<T>(1), A::CMPMODE::LT, n);
    A::Select(Slot::At<T>(3), Slot::At<uint8_t>(2), Slot::At<T>(0), Slot::At<T>(1), A::SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
    bool bits = true;
    bool least = true;
    for (uint32_t i = 0; i < n; ++i) {
        const bool less = Slot::Raw<T>(0)[i] < Slot::Raw<T>(1)[i];
        bits = bits && ((Slot::Raw<uint8_t>(2)[i / 8] >> (i % 8)) & 1) == (less ? 1 : 0);
        least = least && Slot::Raw<T>(3)[i] == (less ? Slot::Raw<T>(0)[i] : Slot::Raw<T>(1)[i]);
    }
    Expect(bits, "Compare of " + std::to_string(n));
    Expect(least, "Select from two tensors of " + std::to_string(n));
    A::CompareScalar(Slot::At<uint8_t>(2), Slot::At<T>(0), static_cast<T>(0), A::CMPMODE::GE, n);
    A::Select(Slot::At<T>(3), Slot::At<uint8_t>(2), Slot::At<T>(0), static_cast<T>(-3.0f), A::SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
    bool clipped = true;
    for (uint32_t i = 0; i < n; ++i) {
        const float value = static_cast<float>(Slot::Raw<T>(0)[i]);
        clipped = clipped && static_cast<float>(Slot::Raw<T>(3)[i]) == (value >= 0 ? value : -3.0f);
    }
    Expect(clipped, "Select from a tensor and a scalar");
}

/// Bits of memory, where a mask says how many lanes: other bits, other elements.
void SelectsByMask()
{
    for (uint32_t i = 0; i < 64; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(i);
        Slot::Raw<float>(1)[i] = -1.0f;
    }
    std::memset(Slot::Raw<uint8_t>(2), 0xFF, 32);
    std::memset(Slot::Raw<uint8_t>(2) + 32, 0, 32);
    for (const bool all : {true, false, true}) {
        const A::LocalTensor<uint8_t> bits(A::TPosition::VECCALC, 2 * kSlot + (all ? 0 : 32), 32);
        A::Select(Slot::At<float>(3), bits, Slot::At<float>(0), Slot::At<float>(1), A::SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t{64}, 1,
                  A::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        for (uint32_t i = 0; i < 64; ++i) {
            Expect(Slot::Raw<float>(3)[i] == (all ? static_cast<float>(i) : -1.0f), "Select by a mask");
        }
    }
}

void Gathers()
{
    const uint32_t n = 150;
    for (uint32_t i = 0; i < n; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(i);
        Slot::Raw<uint32_t>(1)[i] = (n - 1 - i) * 4;
    }
    A::Gather(Slot::At<float>(2), Slot::At<float>(0), Slot::At<uint32_t>(1), 0, n);
    bool reversed = true;
    for (uint32_t i = 0; i < n; ++i) {
        reversed = reversed && Slot::Raw<float>(2)[i] == static_cast<float>(n - 1 - i);
    }
    Expect(reversed, "Gather");
    uint64_t kept = 0;
    A::GatherMask(Slot::At<float>(2), Slot::At<float>(0), uint8_t(2), true, n, A::GatherMaskParams(1, 1, 8, 0), kept);
    Expect(kept == n / 2 && Slot::Raw<float>(2)[0] == 1 && Slot::Raw<float>(2)[10] == 21, "GatherMask of odd elements");
    A::Brcb(Slot::At<float>(2), Slot::At<float>(0), 1, A::BrcbRepeatParams(1, 8));
    Expect(Slot::Raw<float>(2)[0] == 0 && Slot::Raw<float>(2)[8] == 1 && Slot::Raw<float>(2)[63] == 7, "Brcb");
    for (uint32_t i = 0; i < 64; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(i * 37 % 64);
        Slot::Raw<uint32_t>(1)[i] = i;
    }
    A::Sort32(Slot::At<float>(2), Slot::At<float>(0), Slot::At<uint32_t>(1), 2);
    A::Extract(Slot::At<float>(3), Slot::At<uint32_t>(1), Slot::At<float>(2), 2);
    bool sorted = true;
    for (uint32_t i = 0; i < 64; ++i) {
        sorted = sorted && (i % 32 == 0 || Slot::Raw<float>(3)[i - 1] >= Slot::Raw<float>(3)[i])
            && Slot::Raw<float>(0)[Slot::Raw<uint32_t>(1)[i]] == Slot::Raw<float>(3)[i];
    }
    Expect(sorted, "Sort32 and Extract");
}

/// A table may be the buffer behind a larger one: which of them it lies in is said by where it begins.
void GatherFromSecondBuffer()
{
    A::TPipe pipe;
    A::TBuf<A::TPosition::VECCALC> larger, table, offsets, result;
    pipe.InitBuffer(larger, 1024);
    pipe.InitBuffer(table, 256);
    pipe.InitBuffer(offsets, 256);
    pipe.InitBuffer(result, 256);
    for (uint32_t i = 0; i < 64; ++i) {
        table.Get<float>().SetValue(i, static_cast<float>(i));
        offsets.Get<uint32_t>().SetValue(i, (63 - i) * 4);
    }
    A::Gather(result.Get<float>(), table.Get<float>(), offsets.Get<uint32_t>(), 0, 64);
    Expect(result.Get<float>().GetValue(0) == 63 && result.Get<float>().GetValue(63) == 0, "Gather from the second buffer");
    // What is left of the last repeat may lie outside of it.
    for (uint32_t i = 60; i < 64; ++i) {
        offsets.Get<uint32_t>().SetValue(i, 256 + (i - 60) * 4);
    }
    A::Gather(result.Get<float>(), table.Get<float>(), offsets.Get<uint32_t>(), 0, 64);
    Expect(result.Get<float>().GetValue(0) == 63 && result.Get<float>().GetValue(59) == 4, "Gather with a rest outside of the buffer");
}

/// Gathers from a table in its buffer: `outside` are the elements that lie elsewhere, the first at byte `first`.
void ExpectGather(const char* what, bool legal, uint32_t first, uint32_t many, Callee<uint32_t(uint32_t)> offset, bool pooled = false,
                  uint32_t count = 128)
{
    const auto result = OnCore([&] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> larger, table, behind, offsets, result;
        A::TBufPool<A::TPosition::VECCALC> pool, over;
        pipe.InitBuffer(larger, 1024);
        if (pooled) {  // buffers at one address: a table may be in the largest of them
            pipe.InitBufPool(pool, 512);
            pipe.InitBufPool(over, 512, pool);
            pool.InitBuffer(behind, 512);
            over.InitBuffer(table, 256);
        } else {
            pipe.InitBuffer(table, 512);
            pipe.InitBuffer(behind, 512);
        }
        pipe.InitBuffer(offsets, 512);
        pipe.InitBuffer(result, 512);
        A::Duplicate(larger.Get<float>(), 0.0f, 256);
        A::Duplicate(table.Get<float>(), 0.0f, pooled ? 64 : 128);
        A::Duplicate(behind.Get<float>(), 0.0f, 128);
        for (uint32_t i = 0; i < 128; ++i) {
            offsets.Get<uint32_t>().SetValue(i, offset(i));
        }
        A::Gather(result.Get<float>(), table.Get<float>(), offsets.Get<uint32_t>(), 0, count);
    });
    const std::string want = "out_of_bounds_ub: vgather: byte offset " + std::to_string(first) + " leaves the buffer of 512 bytes that the table lies in; " +
                             std::to_string(many) + " elements are read outside of it";
    Expect(legal ? result.faults == 0 : result.first_fault == want, std::string(what) + ": " + result.first_fault);
}

void GathersOutside()
{
    const auto inside = [](uint32_t i) { return i * 4; };
    ExpectGather("a table as long as its buffer", true, 0, 0, inside);
    ExpectGather("a rest of a repeat outside", true, 0, 0, [&](uint32_t i) { return i < 65 ? inside(i) : 512 + i * 4; });
    ExpectGather("a whole repeat outside", false, 512 + 64 * 4, 64, [&](uint32_t i) { return i < 64 ? inside(i) : 512 + i * 4; });
    ExpectGather("one element outside", false, 512, 1, [&](uint32_t i) { return i == 7 ? 512 : inside(i); });
    ExpectGather("one element outside, then the first one", false, 512, 1, [&](uint32_t i) { return i == 126 ? 512 : i == 127 ? 0 : inside(i); });
    ExpectGather("nothing inside", false, 516, 3, [](uint32_t i) { return 516 + i * 4; }, false, 3);
    ExpectGather("a buffer over another", true, 0, 0, inside, true);
    ExpectGather("outside of both buffers", false, 516, 2, [&](uint32_t i) { return i == 5 ? 516 : i == 6 ? 520 : inside(i); }, true);
}

void Transposes()
{
    for (uint32_t i = 0; i < 256; ++i) {
        Slot::Raw<half>(0)[i] = static_cast<half>(static_cast<int>(i));
    }
    A::Transpose(Slot::At<half>(1), Slot::At<half>(0));
    A::LocalTensor<half> from[16];
    A::LocalTensor<half> to[16];
    for (uint32_t i = 0; i < 16; ++i) {
        from[i] = Slot::At<half>(0)[i * 16];
        to[i] = Slot::At<half>(2)[i * 16];
    }
    A::TransDataTo5HD(to, from, A::TransDataTo5HDParams(false, false, 1, 0, 0));
    bool right = true;
    for (uint32_t r = 0; r < 16; ++r) {
        for (uint32_t c = 0; c < 16; ++c) {
            right = right && Slot::Raw<half>(1)[r * 16 + c] == Slot::Raw<half>(0)[c * 16 + r]
                && Slot::Raw<half>(2)[r * 16 + c] == Slot::Raw<half>(0)[c * 16 + r];
        }
    }
    Expect(right, "Transpose and TransDataTo5HD");
}

/// More repeats than an instruction takes at once: bits of all, and nothing behind them.
template <typename T>
void LongCompares()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    for (const uint32_t repeats : {252u, 260u}) {
        const uint32_t count = repeats * lanes;
        const auto tensor = [&](uint32_t byte) { return A::LocalTensor<T>(A::TPosition::VECCALC, byte, count); };
        const A::LocalTensor<T> a = tensor(0), b = tensor(66560);
        const A::LocalTensor<uint8_t> bits(A::TPosition::VECCALC, 133120, 4096 + 4096);
        auto* x = reinterpret_cast<T*>(a.GetPhyAddr());
        auto* y = reinterpret_cast<T*>(b.GetPhyAddr());
        auto* got = reinterpret_cast<uint8_t*>(bits.GetPhyAddr());
        for (uint32_t i = 0; i < count; ++i) {
            x[i] = T(static_cast<float>(i * 7 % 23));
            y[i] = T(static_cast<float>(i * 5 % 19));
        }
        const auto check = [&](const char* what, auto below) {
            for (uint32_t i = 0; i < count; ++i) {
                if ((got[i / 8] >> i % 8 & 1) != (below(i) ? 1 : 0)) {
                    return Fail(std::string(what) + ": bit " + std::to_string(i) + " of " + std::to_string(count));
                }
            }
            for (uint32_t i = count / 8; i < 8192; ++i) {
                if (got[i] != 0x5A) {
                    return Fail(std::string(what) + " behind " + std::to_string(count) + " elements");
                }
            }
        };
        std::memset(got, 0x5A, 8192);
        A::Compare(bits, a, b, A::CMPMODE::LT, count);
        check("Compare", [&](uint32_t i) { return i * 7 % 23 < i * 5 % 19; });
        std::memset(got, 0x5A, 8192);
        A::CompareScalar(bits, a, T(9.0f), A::CMPMODE::LT, count);
        check("CompareScalar", [](uint32_t i) { return i * 7 % 23 < 9; });
    }
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        A::InitSocState();
        for (int32_t n : {1, 31, 64, 65, 200, 1024, 5003, 9000}) {
            Reductions<float>(n);
            Reductions<half>(n);
        }
        for (const auto& [n, first, second] : std::vector<std::array<int32_t, 3>>{
                 {65, 64, 64}, {65, 0, 64}, {70, 66, 69}, {70, 63, 64}, {127, 126, 126}, {127, 1, 126}, {128, 127, 127}, {300, 299, 257}, {300, 255, 256},
                 {300, 256, 298}, {130, 129, 129}, {130, 128, 129}, {129, 5, 128}, {40, 39, 39}}) {
            ExtremesAt<float>(n, first, second);
            ExtremesAt<half>(n, first, second);
        }
        RepeatReductions();
        ManyRepeats();
        A::ResetMask();  // reductions with repeats leave their last mask, and comparisons do not set one
        CompareAndSelect<float>(64);
        CompareAndSelect<half>(1280);
        CompareAndSelect<float>(8192);
        SelectsByMask();
        A::ResetMask();
        Gathers();
        GatherFromSecondBuffer();
        Transposes();
        LongCompares<float>();
        LongCompares<half>();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    GathersOutside();
    const auto uneven = OnCore([] { A::Compare(Slot::At<uint8_t>(2), Slot::At<float>(0), Slot::At<float>(1), A::CMPMODE::LT, 70); });
    Expect(uneven.first_fault.rfind("misaligned: Compare", 0) == 0, "Compare of part of a repeat: " + uneven.first_fault);
    return Report("api_reduce_select");
}
