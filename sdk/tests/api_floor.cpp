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
    Slot::Raw<bool>(5)[0] = false;
    Slot::Raw<bool>(5)[1] = true;
    Slot::Raw<bool>(5)[2] = false;
    const std::vector<T> before(Slot::Raw<T>(0), Slot::Raw<T>(0) + rows * inner);
    A::TopKInfo info;
    info.outter = static_cast<int32_t>(rows);
    info.inner = static_cast<int32_t>(inner);
    info.n = static_cast<int32_t>(n);
    A::TopK<T, given, true>(
        Slot::At<T>(2), Slot::At<int32_t>(3), Slot::At<T>(0), Slot::At<int32_t>(1), Slot::At<bool>(5), Slot::At<uint8_t>(4), static_cast<int32_t>(k), 0, info,
        largest);
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

void StandardLibrary()
{
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
    });
    Expect(ascendsim::CloseTrace(), "closing the trace");
    std::string notes;
    for (const Record& record : ReadTrace("api_floor.trace").records) {
        notes += record.message;
    }
    Expect(notes.find("value 1.500000 of 3") != std::string::npos, "printf is a note: " + notes);
    Expect(notes.find("desc 5, UB, 2 elements: 7 -8") != std::string::npos, "DumpTensor is a note: " + notes);
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
    const auto result = OnCore([] {
        A::InitSocState();
        TopKOf<float, false>(3, 64, 64, 5, true);
        TopKOf<float, true>(2, 128, 100, 100, false);
        TopKOf<half, false>(2, 32, 32, 8, true);
        TopKOf<half, true>(2, 544, 530, 17, false);
        FourBits();
        Slices();
        StandardLibrary();
        Division();
        Internals();
        OperatorBase();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    BlocksInTurn();
    return Report("api_floor");
}
