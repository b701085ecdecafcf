// Parts of the API floor that are no arithmetic: order between blocks, printing, slices, four-bit tensors, TopK, AscendC::Std,
// and the library internals that kernels name.
#include "kernel_operator.h"
#include "op_kernel/math_util.h"
#include "op_kernel/platform_util.h"

#include "api_slots.h"

#include <algorithm>
#include <vector>

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kSlot = 32 * 1024;
using Slot = Slots<kSlot>;

template <typename T>
A::GlobalTensor<T> Global(std::vector<T>& memory)
{
    A::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(memory.data(), memory.size());
    return tensor;
}

/// Rows of `n` in `inner`, the k first of each.
template <typename T, bool given>
void TopKOf(uint32_t rows, uint32_t inner, uint32_t n, uint32_t k, bool largest)
{
    const std::string what = "TopK " + std::to_string(k) + " of " + std::to_string(n) + (largest ? "" : " smallest");
    Random random(n + k);
    for (uint32_t i = 0; i < rows * inner; ++i) {
        Slot::Raw<T>(0)[i] = static_cast<T>(random.Real(-100, 100));
    }
    for (uint32_t i = 0; i < inner; ++i) {
        Slot::Raw<int32_t>(1)[i] = static_cast<int32_t>(1000 + i);
    }
    // The memory that host code is told to give, and no byte behind it or behind the results.
    const uint32_t bytes = 2 * inner * 8 + (given ? 0 : inner * 4);
    for (const uint32_t slot : {2, 3, 4}) {
        std::memset(Slot::Raw<uint8_t>(slot), 0x5A, kSlot);
    }
    Slot::Raw<bool>(5)[0] = false;
    Slot::Raw<bool>(5)[1] = true;
    Slot::Raw<bool>(5)[2] = false;
    const std::vector<T> before(Slot::Raw<T>(0), Slot::Raw<T>(0) + rows * inner);
    A::TopKInfo info;
    info.outter = static_cast<int32_t>(rows);
    info.inner = static_cast<int32_t>(inner);
    info.n = static_cast<int32_t>(n);
    A::TopK<T, given, true>(
        Slot::At<T>(2), Slot::At<int32_t>(3), Slot::At<T>(0), Slot::At<int32_t>(1), Slot::At<bool>(5),
        A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kSlot, bytes), static_cast<int32_t>(k), 0, info, largest);
    const uint32_t valuePitch = (k * sizeof(T) + 31) / 32 * 32 / sizeof(T);
    const uint32_t indexPitch = (k + 7) / 8 * 8;
    for (uint32_t row = 0; row < rows; ++row) {
        std::vector<float> want;
        for (uint32_t i = 0; i < n; ++i) {
            want.push_back(static_cast<float>(before[row * inner + i]));
        }
        std::stable_sort(want.begin(), want.end(), [&](float a, float b) { return largest ? a > b : a < b; });
        bool right = true;
        for (uint32_t i = 0; i < k; ++i) {
            right = right && static_cast<float>(Slot::Raw<T>(2)[row * valuePitch + i]) == want[i];
            const int32_t index = Slot::Raw<int32_t>(3)[row * indexPitch + i];
            const uint32_t at = static_cast<uint32_t>(index - (given ? 1000 : 0));
            right = right
                && (row == 1 ? index == static_cast<int32_t>(n)
                             : at < n && static_cast<float>(before[row * inner + at]) == want[i]);
        }
        Expect(right, what + ", row " + std::to_string(row));
    }
    const auto untouched = [](uint32_t slot, size_t from) {
        return std::count(Slot::Raw<uint8_t>(slot) + from, Slot::Raw<uint8_t>(slot) + from + 64, 0x5A) == 64;
    };
    Expect(untouched(2, ((rows - 1) * valuePitch + k) * sizeof(T)) && untouched(3, ((rows - 1) * indexPitch + k) * 4) && untouched(4, bytes),
           what + " writes no more than it should");
}

void TopKRefuses()
{
    const auto fault = [](uint32_t bytes, int32_t inner, int32_t n, int32_t k) {
        return OnCore([=] {
            A::TopKInfo info;
            info.outter = 1;
            info.inner = inner;
            info.n = n;
            A::TopK<float>(Slot::At<float>(2), Slot::At<int32_t>(3), Slot::At<float>(0), Slot::At<int32_t>(1), Slot::At<bool>(5),
                           A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kSlot, bytes), k, 0, info);
        }).first_fault;
    };
    Expect(fault(64 * 20, 64, 64, 64).empty() && !fault(64 * 20 - 32, 64, 64, 64).empty(), "TopK takes two records and an index of each");
    for (const auto& bad : {std::make_pair(63, 5), {65, 5}, {60, 61}}) {
        Expect(fault(8192, 64, bad.first, bad.second).empty() == (bad.first == 63), "TopK of " + std::to_string(bad.first));
    }
    Expect(!fault(8192, 48, 40, 5).empty(), "TopK of rows that are no whole runs");
}

void FourBits()
{
    for (uint32_t i = 0; i < 300; ++i) {
        Slot::Raw<half>(0)[i] = static_cast<half>(static_cast<float>(i % 23) - 11.0f);
    }
    const A::LocalTensor<A::int4b_t> packed(A::TPosition::VECCALC, 2 * kSlot, 256);
    Expect(packed.GetLength() == 128 && packed.GetSize() == 256, "size of a four-bit tensor");
    Expect(packed[64].GetPhyAddr() == packed.GetPhyAddr() + 32, "offset in a four-bit tensor");
    A::Cast(packed, Slot::At<half>(0), A::RoundMode::CAST_RINT, 256);
    A::PipeBarrier<PIPE_V>();
    A::Cast(Slot::At<half>(3), packed, A::RoundMode::CAST_NONE, 256);
    bool right = true;
    for (uint32_t i = 0; i < 256; ++i) {
        const float value = static_cast<float>(i % 23) - 11.0f;
        right = right && static_cast<float>(Slot::Raw<half>(3)[i]) == std::clamp(value, -8.0f, 7.0f);
    }
    Expect(right, "half to four bits and back");
}

void Slices()
{
    std::vector<float> memory(4 * 64);
    for (uint32_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<float>(i);
    }
    ascendsim::RegisterRegion(memory.data(), memory.size() * sizeof(float), ascendsim::RegionRole::kOther, 0);
    A::GlobalTensor<float> gm = Global(memory);
    const uint32_t whole[] = {4, 64};
    const uint32_t part[] = {2, 16};
    gm.SetShapeInfo(A::ShapeInfo(2, whole, A::DataFormat::ND));
    A::LocalTensor<float> ub = Slot::At<float>(0);
    ub.SetShapeInfo(A::ShapeInfo(2, part, A::DataFormat::ND));
    const A::SliceInfo from[] = {{1, 2, 0, 0, 4}, {8, 31, 8, 1, 64}};
    const A::SliceInfo to[] = {{0, 1, 0, 0, 2}, {0, 15, 0, 1, 16}};
    A::DataCopy(ub, gm, to, from, 2);
    bool right = true;
    for (uint32_t r = 0; r < 2; ++r) {
        for (uint32_t c = 0; c < 16; ++c) {
            const uint32_t col = c < 8 ? 8 + c : 24 + c - 8;
            right = right && Slot::Raw<float>(0)[r * 16 + c] == static_cast<float>((r + 1) * 64 + col);
        }
    }
    Expect(right, "DataCopy of a slice");
}

/// Two by three rows of segments, with gaps on both sides; as many transfers as there are segments.
void SlicesOfThreeAxes()
{
    std::vector<float> memory(3 * 4 * 64, 0.0f);
    ascendsim::RegisterRegion(memory.data(), memory.size() * sizeof(float), ascendsim::RegionRole::kOther, 0);
    A::GlobalTensor<float> gm = Global(memory);
    const uint32_t inGm[] = {3, 4, 64}, inUb[] = {2, 3, 56}, all[] = {48};
    gm.SetShapeInfo(A::ShapeInfo(3, inGm, A::DataFormat::ND));
    A::LocalTensor<float> ub = Slot::At<float>(0);
    ub.SetShapeInfo(A::ShapeInfo(3, inUb, A::DataFormat::ND));
    // Three segments of eight floats, sixteen apart on the one side and twenty-four on the other.
    const A::SliceInfo there[] = {{1, 2, 0, 0, 3}, {1, 3, 0, 0, 4}, {8, 47, 8, 1, 64}};
    const A::SliceInfo here[] = {{0, 1, 0, 0, 2}, {0, 2, 0, 0, 3}, {0, 55, 16, 1, 56}};
    for (const bool out : {false, true}) {
        for (uint32_t i = 0; i < 2 * 3 * 56; ++i) {
            Slot::Raw<float>(0)[i] = out ? 1000.0f + static_cast<float>(i) : -1.0f;
        }
        for (uint32_t i = 0; i < memory.size(); ++i) {
            memory[i] = static_cast<float>(i);
        }
        if (out) {
            A::DataCopy(gm, ub, there, here, 3);
        } else {
            A::DataCopy(ub, gm, here, there, 3);
        }
        std::vector<float> want(out ? memory.size() : 336, -1.0f);
        for (uint32_t i = 0; out && i < want.size(); ++i) {
            want[i] = static_cast<float>(i);
        }
        for (uint32_t i = 0; i < 2 * 3 * 24; ++i) {
            const uint32_t outer = i / 72, row = i / 24 % 3, segment = i / 8 % 3, lane = i % 8;
            const uint32_t far = ((outer + 1) * 4 + row + 1) * 64 + 8 + segment * 16 + lane;
            const uint32_t near = (outer * 3 + row) * 56 + segment * 24 + lane;
            want[out ? far : near] = static_cast<float>(out ? 1000 + near : far);
        }
        Expect(std::equal(want.begin(), want.end(), out ? memory.data() : Slot::Raw<float>(0)), std::string("slices of three axes ") + (out ? "out" : "in"));
    }
    // One axis is what is meant where nothing is said.
    A::LocalTensor<float> line = Slot::At<float>(1);
    A::GlobalTensor<float> whole = Global(memory);
    line.SetShapeInfo(A::ShapeInfo(1, all, A::DataFormat::ND));
    whole.SetShapeInfo(A::ShapeInfo(1, all, A::DataFormat::ND));
    const A::SliceInfo first[] = {{0, 15, 0, 2, 48}}, second[] = {{16, 31, 0, 2, 48}};
    A::DataCopy(line, whole, first, second);
    Expect(std::equal(memory.begin() + 16, memory.begin() + 32, Slot::Raw<float>(1)), "a slice of one axis in");
    A::DataCopy(whole, line, first, first);
    Expect(std::equal(memory.begin(), memory.begin() + 16, Slot::Raw<float>(1)), "a slice of one axis out");
    ascendsim::UnregisterRegion(memory.data());
}

void SliceTransfers()
{
    ascendsim::OpenTrace("api_floor.trace");
    OnCore(SlicesOfThreeAxes);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    uint32_t transfers = 0;
    for (const Record& record : ReadTrace("api_floor.trace").records) {
        transfers += record.name == "copy_gm_to_ubuf" || record.name == "copy_ubuf_to_gm" ? 1 : 0;
    }
    Expect(transfers == 2 * 18 + 2, "transfers of slices: " + std::to_string(transfers));
    const auto empty = OnCore([] {
        std::vector<float> memory(64);
        A::GlobalTensor<float> gm = Global(memory);
        const A::SliceInfo none[] = {{0, 31, 8, 0, 64}};
        A::DataCopy(Slot::At<float>(0), gm, none, none, 1);
    });
    Expect(empty.first_fault.rfind("bad_argument: DataCopy: burstLen", 0) == 0, "slices of nothing: " + empty.first_fault);
}

/// Moves, and is not copied.
struct Single {
    explicit Single(int32_t number) : value(number) {}
    Single(Single&&) = default;
    Single(const Single&) = delete;
    int32_t value;
};

void StandardLibrary()
{
    A::Std::tuple<Single, int32_t> moved(Single(5), 6);
    Expect(A::Std::get<0>(moved).value == 5 && A::Std::get<1>(moved) == 6, "a tuple of what only moves");
    // Equal numbers: the first one, which zeros show.
    volatile float zero = 0.0f;
    Expect(!std::signbit(A::Std::max(float{zero}, -zero)) && std::signbit(A::Std::max(-zero, float{zero})), "max of zeros");
    Expect(!std::signbit(A::Std::min(float{zero}, -zero)) && std::signbit(A::Std::min(-zero, float{zero})), "min of zeros");
    volatile int32_t seven = 7;
    Expect(A::Std::max(int32_t{seven}, 3) == 7 && A::Std::max(int32_t{seven}, 9) == 9 && A::Std::min(int32_t{seven}, 3) == 3, "max and min");
    Expect(!std::signbit(A::Std::abs(float{zero})) && A::Std::abs(zero + 0.5f) == 0.5f && A::Std::abs(zero - 0.5f) == 0.5f, "abs");
    Expect(A::Std::ceil_division(int32_t{seven}, 3) == 3 && A::Std::ceil_division(int32_t{seven} + 2, 3) == 3 &&
               A::Std::ceil_division(int32_t{seven}, 7) == 1, "ceil_division");
    Expect(A::Std::divide(int32_t{seven}, 2) == 3, "divide");
    int32_t first = 0;
    float second = 0;
    A::Std::tie(first, second) = A::Std::make_tuple(3, 2.5f);
    Expect(first == 3 && second == 2.5f, "tie");
    A::Std::tuple<int32_t, half, uint8_t> t(1, half(2), 3);
    A::Std::get<2>(t) = 9;
    Expect(A::Std::get<0>(t) == 1 && A::Std::get<1>(t) == half(2) && A::Std::get<2>(t) == 9, "get");
    static_assert(A::Std::tuple_size_v<decltype(t)> == 3);
    static_assert(A::Std::is_same_v<A::Std::tuple_element_t<1, decltype(t)>, half>);
    static_assert(A::Std::is_floating_point_v<half> && !A::Std::is_one_of_v<int, float, half>);
    static_assert(A::Std::is_same_v<A::Std::make_index_sequence<3>, A::Std::index_sequence<0, 1, 2>>);
    static_assert(A::Std::ceil_align(65, 32) == 96 && A::Std::min(3u, 2) == 2);
}

void Division()
{
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        const uint32_t divisor = i < 70 ? static_cast<uint32_t>(i + 1) : static_cast<uint32_t>(random.Next()) | 1u;
        const uint32_t x = static_cast<uint32_t>(random.Next());
        uint32_t magic = 0;
        uint32_t shift = 0;
        A::GetUintDivMagicAndShift(magic, shift, divisor);
        const uint64_t high = uint64_t(x) * magic >> 32;
        Expect((high + x) >> shift == x / divisor, "division of " + std::to_string(x) + " by " + std::to_string(divisor));
    }
}

void Internals()
{
    for (uint32_t i = 0; i < 64; ++i) {
        Slot::Raw<float>(0)[i] = static_cast<float>(i);
    }
    A::AscendCUtils::SetMask<float>(64);
    A::BlockReduceMaxIntrinsicsImpl(Slot::Raw<float>(1), Slot::Raw<float>(0), 1, 1, 1, 8);
    Expect(Slot::Raw<float>(1)[0] == 7 && Slot::Raw<float>(1)[7] == 63, "BlockReduceMaxIntrinsicsImpl");
    A::DuplicateImpl(Slot::Raw<int32_t>(2), 5, 10);
    Expect(Slot::Raw<int32_t>(2)[9] == 5, "DuplicateImpl");
    const A::IntriInfo info = A::AscendCUtils::CalIntriInfo(4, 64 * 256 + 3);
    Expect(info.repeat == 256 && info.tail == 3 && info.repeatRounding == 1 && info.repeatRemaining == 1, "CalIntriInfo");
    int64_t index = block_idx;
    Expect(index == 0 && block_num == 1, "block_idx and block_num");
}

/// Each block adds its number to what the one before it left.
void BlocksInTurn()
{
    std::vector<int32_t> flags(8 * 8, 0);
    std::vector<int32_t> sum(8, 0);
    ascendsim::RegisterRegion(flags.data(), flags.size() * 4, ascendsim::RegionRole::kOther, 0);
    ascendsim::RegisterRegion(sum.data(), sum.size() * 4, ascendsim::RegionRole::kOther, 0);
    const auto chain = OnCore(
        [&] {
            A::TPipe pipe;
            A::GlobalTensor<int32_t> gm = Global(flags);
            A::GlobalTensor<int32_t> total = Global(sum);
            const int32_t self = static_cast<int32_t>(A::GetBlockIdx());
            if (self > 0) {
                A::IBWait(gm, Slot::At<int32_t>(0), self - 1, 0);
            }
            A::DataCopy(Slot::At<int32_t>(1), total, 8);
            A::PipeBarrier<PIPE_ALL>();
            A::Adds(Slot::At<int32_t>(1), Slot::At<int32_t>(1), self * 10 + (Slot::At<int32_t>(1).GetValue(0) == self ? 1 : 100), 8);
            A::PipeBarrier<PIPE_ALL>();
            Slot::At<int32_t>(1).SetValue(0, self + 1);
            A::PipeBarrier<PIPE_ALL>();
            A::DataCopy(total, Slot::At<int32_t>(1), 8);
            A::PipeBarrier<PIPE_ALL>();
            if (self + 1 < A::GetBlockNum()) {
                A::IBSet(gm, Slot::At<int32_t>(0), self, 0);
            }
        },
        5);
    Expect(chain.completed && chain.faults == 0, "IBSet and IBWait: " + chain.first_fault);
    Expect(sum[0] == 5 && sum[1] == 10 * (1 + 2 + 3 + 4) + 5, "blocks in turn: " + std::to_string(sum[1]));

    std::fill(flags.begin(), flags.end(), -1);
    std::vector<int32_t> order(16, 0);
    size_t next = 0;
    const auto rounds = OnCore(
        [&] {
            A::TPipe pipe;
            A::GlobalTensor<int32_t> gm = Global(flags);
            A::LocalTensor<int32_t> ub = Slot::At<int32_t>(0);
            A::InitDetermineComputeWorkspace(gm, ub);
            A::SyncAll();
            for (int round = 0; round < 2; ++round) {
                A::WaitPreBlock(gm, ub);
                order[next++] = static_cast<int32_t>(A::GetBlockIdx());
                A::NotifyNextBlock(gm, ub);
            }
        },
        4);
    Expect(rounds.completed && rounds.faults == 0, "deterministic order: " + rounds.first_fault);
    Expect(flags[0] == 0 && flags[8] == 0 && flags[24] == 0, "flags of a finished round");
    // The first block's flag while the second has its turn: the number of the round, which begins with one.
    std::vector<int32_t> seen;
    OnCore(
        [&] {
            A::GlobalTensor<int32_t> gm = Global(flags);
            A::LocalTensor<int32_t> ub = Slot::At<int32_t>(0);
            A::InitDetermineComputeWorkspace(gm, ub);
            A::SyncAll();
            for (int round = 0; round < 3; ++round) {
                A::WaitPreBlock(gm, ub);
                if (A::GetBlockIdx() == 1) seen.push_back(flags[0]);
                A::NotifyNextBlock(gm, ub);
            }
        },
        2);
    Expect(seen == std::vector<int32_t>({1, 2, 3}), "numbers of rounds");
    // A block alone finds a workspace that nobody has cleared.
    std::fill(flags.begin(), flags.end(), -1);
    const auto alone = OnCore([&] {
        A::GlobalTensor<int32_t> gm = Global(flags);
        A::LocalTensor<int32_t> ub = Slot::At<int32_t>(0);
        A::InitDetermineComputeWorkspace(gm, ub);
        A::WaitPreBlock(gm, ub);
        A::NotifyNextBlock(gm, ub);
    });
    Expect(alone.completed && alone.faults == 0 && flags[0] == 0 && flags[8] == -1, "one block in its turn: " + alone.first_fault);
    // Flags of blocks and events lie apart: eight words for each block of an event.
    for (const bool wait : {false, true}) {
        std::fill(flags.begin(), flags.end(), 0);
        const auto set = OnCore(
            [&] {
                A::GlobalTensor<int32_t> gm = Global(flags);
                if (A::GetBlockIdx() == 0) {
                    A::IBSet(gm, Slot::At<int32_t>(0), 1, 1);
                    A::IBSet<false>(gm, Slot::At<int32_t>(0), 0, 2);
                } else if (wait) {
                    A::IBWait(gm, Slot::At<int32_t>(0), 1, 1);
                }
            },
            2);
        for (size_t i = 0; i < flags.size(); ++i) {
            Expect(flags[i] == (i == 32 || (i == 24 && !wait) ? 1 : 0), "a flag between blocks at " + std::to_string(i));
        }
        Expect(set.faults == 0, "IBSet and IBWait of one block: " + set.first_fault);
    }
    Expect(std::equal(order.begin(), order.begin() + 8, std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3}.begin()),
           "blocks take their turns in order");
}

void Printing()
{
    ascendsim::OpenTrace("api_floor.trace");
    OnCore([] {
        A::printf("value %f of %d\n", half(1.5f), 3);
        Slot::At<int32_t>(0).SetValue(0, 7);
        Slot::At<int32_t>(0).SetValue(1, -8);
        A::DumpTensor(Slot::At<int32_t>(0), 5, 2);
        Slot::At<int32_t>(0).SetValue(2, 0);
        A::DumpTensor(Slot::At<int32_t>(0), 6, 3);
    });
    Expect(ascendsim::CloseTrace(), "closing the trace");
    std::string notes;
    for (const Record& record : ReadTrace("api_floor.trace").records) {
        notes += record.message;
    }
    Expect(notes.find("value 1.500000 of 3") != std::string::npos, "printf is a note: " + notes);
    Expect(notes.find("desc 5, UB, 2 elements: 7 -8DumpTensor: desc 6, UB, 3 elements: 7 -8 0") != std::string::npos, "DumpTensor is a note: " + notes);
    // What does not fit into 1024 bytes with the end of the text is left out.
    for (const int32_t value : {10, 100}) {
        A::detail::DumpText text;
        std::string want;
        for (int i = 0; i < 400; ++i) {
            text.AddElement(value);
            want += " " + std::to_string(value);
        }
        Expect(text.Text() == want.substr(0, 1023), "a text that is too long");
    }
}

// What kernels take from the operator base library.
void OperatorBase()
{
    namespace B = Ops::Base;
    Expect(B::GetUbBlockSize() == 32 && B::GetVRegSize() == 256, "sizes of the vector core");
    Expect(B::CeilDiv(7, 2) == 4 && B::FloorDiv(7, 2) == 3 && B::CeilAlign(33, 32) == 64 && B::FloorAlign(33, 32) == 32 &&
               B::CeilDiv<uint32_t>(5, 0) == 5,
           "division and rounding");
}

}  // namespace

int main()
{
    Printing();
    SliceTransfers();
    TopKRefuses();
    const auto result = OnCore([] {
        A::InitSocState();
        TopKOf<float, false>(3, 64, 64, 5, true);
        TopKOf<float, true>(2, 128, 100, 100, false);
        TopKOf<half, false>(2, 32, 32, 8, true);
        TopKOf<half, true>(2, 544, 530, 17, false);
        FourBits();
        Slices();
        SlicesOfThreeAxes();
        StandardLibrary();
        Division();
        Internals();
        OperatorBase();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    BlocksInTurn();
    return Report("api_floor");
}
