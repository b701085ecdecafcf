// Masks as lists of bits: the first number holds lanes 0 to 63, the second the others; lanes without a bit are left alone. And masks that
// somebody else has set.
#include "kernel_operator.h"

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kSlot = 2048;
using Here = Slots<kSlot>;
constexpr float kKept = 77.0f;

/// Two repeats of `lanes` lanes of D from slot 0 on; `want` is the value of lane `i` of both.
template <typename D>
void Check(const char* what, uint32_t lanes, Callee<void(uint64_t*)> call, Callee<float(uint32_t)> want)
{
    Random random(lanes);
    for (int round = 0; round < 4; ++round) {
        uint64_t mask[3] = {random.Next() | 1, lanes > 64 ? random.Next() | uint64_t{1} << 63 : 0, 0};
        mask[2] = ~mask[1];  // no part of it
        const uint64_t low = mask[0], high = mask[1];
        for (uint32_t i = 0; i < 3 * lanes; ++i) {
            Here::Raw<D>(0)[i] = D(kKept);
        }
        call(mask);
        for (uint32_t i = 0; i < 3 * lanes; ++i) {
            const uint32_t lane = i % lanes;
            const bool on = i < 2 * lanes && ((lane < 64 ? low : high) >> lane % 64 & 1) != 0;
            const float value = on ? want(i) : kKept;
            if (static_cast<float>(Here::Raw<D>(0)[i]) != value) {
                return Fail(std::string(what) + " of " + std::to_string(lanes) + " lanes: " + std::to_string(i) + " is " + std::to_string(static_cast<float>(Here::Raw<D>(0)[i])) +
                            ", expected " + std::to_string(value));
            }
        }
    }
}

/// A call with its mask and the same without one, behind the same mask by hand.
#define BOTH(Name, types, ...)                                                                                            \
    Check<D>(#Name, lanes, [&](uint64_t* mask) { A::Name(__VA_ARGS__, mask, 2, strides); }, want);                        \
    Check<D>(#Name " by another's mask", lanes, [&](uint64_t* mask) {                                                     \
        A::SetVectorMask<D>(mask[1], mask[0]);                                                                            \
        uint64_t none[2] = {0, 0};                                                                                        \
        A::Name<types, false>(__VA_ARGS__, none, 2, strides);                                                             \
        A::ResetMask();                                                                                                   \
    }, want)

template <typename D>
void Floats()
{
    using namespace A;
    constexpr uint32_t lanes = 256 / sizeof(D);
    for (uint32_t i = 0; i < 3 * lanes; ++i) {
        Here::Raw<D>(1)[i] = D(static_cast<float>(i % 50) - 20.0f);
        Here::Raw<D>(2)[i] = D(i % 3 == 0 ? 2.0f : 4.0f);
    }
    const auto a = [](uint32_t i) { return static_cast<float>(Here::Raw<D>(1)[i]); };
    const auto b = [](uint32_t i) { return static_cast<float>(Here::Raw<D>(2)[i]); };
    {
        const BinaryRepeatParams strides;
        std::function<float(uint32_t)> want = [&](uint32_t i) { return a(i) + b(i); };
        BOTH(Add, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return a(i) - b(i); };
        BOTH(Sub, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return a(i) * b(i); };
        BOTH(Mul, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return a(i) / b(i); };
        BOTH(Div, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return std::fmax(a(i), b(i)); };
        BOTH(Max, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return std::fmin(a(i), b(i)); };
        BOTH(Min, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        want = [&](uint32_t i) { return std::fmax(a(i) + b(i), 0.0f); };
        BOTH(AddRelu, D, Here::At<D>(0), Here::At<D>(1), Here::At<D>(2));
        // A bit for each lane: every third one takes the first.
        std::memset(Here::Raw<uint8_t>(3), 0, kSlot);
        for (uint32_t i = 0; i < 2 * lanes; i += 3) {
            Here::Raw<uint8_t>(3)[i / 8] = static_cast<uint8_t>(Here::Raw<uint8_t>(3)[i / 8] | 1u << i % 8);
        }
        Check<D>("Select of tensors", lanes, [&](uint64_t* mask) {
            Select(Here::At<D>(0), Here::At<uint8_t>(3), Here::At<D>(1), Here::At<D>(2), SELMODE::VSEL_TENSOR_TENSOR_MODE, mask, 2, strides);
        }, [&](uint32_t i) { return i % 3 == 0 ? a(i) : b(i); });
        Check<D>("Select of a scalar", lanes, [&](uint64_t* mask) {
            Select(Here::At<D>(0), Here::At<uint8_t>(3), Here::At<D>(1), D(9.0f), SELMODE::VSEL_TENSOR_SCALAR_MODE, mask, 2, strides);
        }, [&](uint32_t i) { return i % 3 == 0 ? a(i) : 9.0f; });
    }
    {
        const UnaryRepeatParams strides;
        std::function<float(uint32_t)> want = [&](uint32_t i) { return std::fabs(a(i)); };
        BOTH(Abs, D, Here::At<D>(0), Here::At<D>(1));
        want = [&](uint32_t i) { return std::fmax(a(i), 0.0f); };
        BOTH(Relu, D, Here::At<D>(0), Here::At<D>(1));
        want = [&](uint32_t i) { return a(i) + 3.0f; };
        BOTH(Adds, D, Here::At<D>(0), Here::At<D>(1), D(3.0f));
        want = [&](uint32_t i) { return a(i) * 3.0f; };
        BOTH(Muls, D, Here::At<D>(0), Here::At<D>(1), D(3.0f));
        want = [&](uint32_t i) { return std::fmax(a(i), 3.0f); };
        BOTH(Maxs, D, Here::At<D>(0), Here::At<D>(1), D(3.0f));
        want = [&](uint32_t i) { return std::fmin(a(i), 3.0f); };
        BOTH(Mins, D, Here::At<D>(0), Here::At<D>(1), D(3.0f));
    }
    {
        const CopyRepeatParams strides(1, 1, 8, 8);
        const std::function<float(uint32_t)> want = a;
        BOTH(Copy, D, Here::At<D>(0), Here::At<D>(1));
    }
    Check<D>("Duplicate", lanes, [&](uint64_t* mask) { Duplicate(Here::At<D>(0), D(5.0f), mask, 2, 1, 8); }, [](uint32_t) { return 5.0f; });
    for (uint32_t i = 0; i < 2 * lanes; ++i) {
        Here::Raw<uint32_t>(4)[i] = (2 * lanes - 1 - i) * static_cast<uint32_t>(sizeof(D));
    }
    Check<D>("Gather", lanes, [&](uint64_t* mask) { Gather(Here::At<D>(0), Here::At<D>(1), Here::At<uint32_t>(4), 0, mask, 2, 8); }, [&](uint32_t i) { return a(2 * lanes - 1 - i); });
}

void Others()
{
    using namespace A;
    for (uint32_t i = 0; i < 384; ++i) {
        Here::Raw<int16_t>(1)[i] = static_cast<int16_t>(i * 37);
        Here::Raw<int16_t>(2)[i] = static_cast<int16_t>(i * 91 + 5);
    }
    const BinaryRepeatParams strides;
    Check<int16_t>("And", 128, [&](uint64_t* mask) { And(Here::At<int16_t>(0), Here::At<int16_t>(1), Here::At<int16_t>(2), mask, 2, strides); },
                   [](uint32_t i) { return static_cast<float>(Here::Raw<int16_t>(1)[i] & Here::Raw<int16_t>(2)[i]); });
    Check<int16_t>("Or", 128, [&](uint64_t* mask) { Or(Here::At<int16_t>(0), Here::At<int16_t>(1), Here::At<int16_t>(2), mask, 2, strides); },
                   [](uint32_t i) { return static_cast<float>(Here::Raw<int16_t>(1)[i] | Here::Raw<int16_t>(2)[i]); });
    // A repeat has as many lanes as the wider side.
    for (uint32_t i = 0; i < 128; ++i) {
        Here::Raw<float>(1)[i] = static_cast<float>(i) + 0.25f;
        Here::Raw<half>(2)[i] = half(static_cast<float>(i) + 0.5f);
        Here::Raw<float>(4)[i] = static_cast<float>(i % 7);
    }
    Check<half>("Cast to half", 64, [](uint64_t* mask) { Cast(Here::At<half>(0), Here::At<float>(1), RoundMode::CAST_NONE, mask, 2, UnaryRepeatParams(1, 1, 4, 8)); },
                [](uint32_t i) { return static_cast<float>(half(static_cast<float>(i) + 0.25f)); });
    Check<float>("Cast to float", 64, [](uint64_t* mask) { Cast(Here::At<float>(0), Here::At<half>(2), RoundMode::CAST_NONE, mask, 2, UnaryRepeatParams(1, 1, 8, 4)); },
                 [](uint32_t i) { return static_cast<float>(i) + 0.5f; });
    Check<int32_t>("Cast to integers", 64, [](uint64_t* mask) { Cast(Here::At<int32_t>(0), Here::At<float>(1), RoundMode::CAST_CEIL, mask, 2, UnaryRepeatParams()); },
                   [](uint32_t i) { return static_cast<float>(i + 1); });
    Check<half>("AddReluCast", 64, [](uint64_t* mask) { AddReluCast(Here::At<half>(0), Here::At<float>(1), Here::At<float>(4), mask, 2, BinaryRepeatParams(1, 1, 1, 4, 8, 8)); },
                [](uint32_t i) { return static_cast<float>(half(static_cast<float>(i) + 0.25f + static_cast<float>(i % 7))); });
}

/// Casts of as many lanes as a repeat has, and of one more, with the API's mask and with the kernel's.
template <typename D, typename S>
void CastLanes(uint64_t lanes)
{
    for (const uint64_t mask : {lanes - 1, lanes, lanes + 1}) {
        for (const bool own : {true, false}) {
            const auto result = OnCore([&] {
                A::SetVectorMask<half>(0, 0xFF);
                if (own) {
                    A::Cast<D, S>(Here::At<D>(0), Here::At<S>(1), A::RoundMode::CAST_NONE, mask, 1, A::UnaryRepeatParams());
                } else {
                    A::Cast<D, S, false>(Here::At<D>(0), Here::At<S>(1), A::RoundMode::CAST_NONE, mask, 1, A::UnaryRepeatParams());
                }
            });
            const std::string begin = "bad_argument: Cast: a mask of " + std::to_string(mask) + " lanes: a repeat of the wider side has " + std::to_string(lanes);
            Expect(own && mask > lanes ? result.first_fault.rfind(begin, 0) == 0 : result.faults == 0,
                   "Cast of " + std::to_string(mask) + " lanes" + (own ? ": " : " by the kernel's mask: ") + result.first_fault);
        }
    }
}

void Refused(const std::string& what, const char* begin, Callee<void()> body)
{
    const std::string got = OnCore(body).first_fault;
    Expect(begin == nullptr ? got.empty() : got.rfind(begin, 0) == 0, what + ": " + got);
}

/// As many lanes as a repeat has, and one more; lanes that only elements of 16 bits have.
template <typename T>
void Lanes(int32_t lanes)
{
    const std::string of = " of elements of " + std::to_string(sizeof(T)) + " bytes";
    for (const int32_t mask : {lanes, lanes + 1}) {
        Refused(std::to_string(mask) + " lanes" + of, mask > lanes ? "bad_argument: a mask of" : nullptr, [mask] {
            A::Adds(Here::At<T>(0), Here::At<T>(1), static_cast<T>(1.0f), static_cast<uint64_t>(mask), 1, A::UnaryRepeatParams());
        });
    }
    for (const uint64_t low : {uint64_t{0}, uint64_t{1}}) {
        for (const uint64_t high : {uint64_t{0}, uint64_t{1}, uint64_t{2}}) {
            Refused("lanes of two words" + of, sizeof(T) == 4 && low == 0 && high != 0 ? "bad_argument: the second word" : nullptr, [=] {
                uint64_t mask[2] = {low, high};
                A::Adds(Here::At<T>(0), Here::At<T>(1), static_cast<T>(1.0f), mask, 1, A::UnaryRepeatParams());
            });
        }
    }
}

void Borders()
{
    Lanes<float>(64);
    Lanes<int32_t>(64);
    Lanes<half>(128);
    Lanes<int16_t>(128);
    for (const int32_t repeats : {-1, 0, 255, 256}) {
        Refused("a reduction of " + std::to_string(repeats) + " repeats", repeats < 0 || repeats > 255 ? "repeat_overflow: repeatTime is " : nullptr,
                [=] { A::WholeReduceSum(Here::At<float>(0), Here::At<float>(4), 64, repeats, 1, 1, 0); });
    }
    for (const int32_t stride : {-1, 0, 65535, 65536}) {
        Refused("a reduction with stride " + std::to_string(stride), stride < 0 || stride > 65535 ? "bad_argument: a stride is " : nullptr,
                [=] { A::WholeReduceSum(Here::At<float>(0), Here::At<float>(1), 64, 1, 1, 1, stride); });
    }
    for (const uint8_t pattern : {0, 1, 7, 8}) {
        uint64_t kept = 77;
        const bool known = pattern != 0 && pattern != 8;
        Refused("pattern " + std::to_string(pattern), known ? nullptr : "bad_argument: GatherMask: the pattern is", [&] {
            A::GatherMask(Here::At<float>(0), Here::At<float>(1), pattern, true, 16, A::GatherMaskParams(1, 1, 8, 0), kept);
        });
        Expect(kept == (pattern == 1 ? 8 : pattern == 7 ? 16 : 0), "elements of pattern " + std::to_string(pattern) + ": " + std::to_string(kept));
    }
    for (const int32_t distance : {-1, 0, 16, 17, 32, 33}) {
        const auto begin = [=](int32_t most) { return distance < 0 || distance > most ? "bad_argument: " : nullptr; };
        Refused("16 bits by " + std::to_string(distance), begin(16), [=] { A::ShiftLeft(Here::At<uint16_t>(0), Here::At<uint16_t>(1), static_cast<uint16_t>(distance), 16); });
        Refused("32 bits by " + std::to_string(distance), begin(32), [=] { A::ShiftRight(Here::At<int32_t>(0), Here::At<int32_t>(1), distance, 16); });
    }
    for (const auto mode : {A::CMPMODE::EQ, A::CMPMODE::LT, A::CMPMODE::NE}) {
        const char* const begin = mode == A::CMPMODE::EQ ? nullptr : "dtype_unsupported: Compare";
        Refused("Compare of integers", begin, [=] { A::Compare(Here::At<uint8_t>(0), Here::At<int32_t>(1), Here::At<int32_t>(2), mode, 64); });
        Refused("CompareScalar of integers", begin, [=] { A::CompareScalar(Here::At<uint8_t>(0), Here::At<int32_t>(1), 5, mode, 64); });
    }
}

}  // namespace

int main()
{
    Borders();
    CastLanes<float, half>(64);
    CastLanes<half, float>(64);
    CastLanes<half, uint8_t>(128);
    const auto result = OnCore([] {
        Floats<half>();
        Floats<float>();
        Others();
    });
    Expect(result.completed && result.faults == 0, result.first_fault);
    return Report("api_masks");
}
