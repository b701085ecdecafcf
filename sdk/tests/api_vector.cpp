// Element-wise functions of the kernel API against plain arithmetic, over dtypes and odd lengths.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kRoom = 1024;

template <typename T>
A::LocalTensor<T> At(uint32_t slot)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kRoom * 8, kRoom);
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kRoom * 8);
}
template <typename T>
void Fill(uint32_t slot, Random& random, double low, double high)
{
    for (uint32_t i = 0; i < kRoom; ++i) {
        const double value = random.Real(low, high);
        Raw<T>(slot)[i] = static_cast<T>(std::is_integral<T>::value ? std::floor(value) : value);
    }
}
template <typename T>
double Value(T value)
{
    if constexpr (std::is_integral<T>::value) {
        return static_cast<double>(value);
    } else {
        return static_cast<double>(static_cast<float>(value));
    }
}
template <typename T>
double Tolerance(double expected)
{
    if (std::is_integral<T>::value) {
        return 0;
    }
    return (sizeof(T) == 2 ? 2e-3 : 2e-6) * (std::fabs(expected) + 1e-3);
}

template <typename T>
void Check(const char* what, uint32_t slot, uint32_t count, Callee<double(uint32_t)> expected)
{
    for (uint32_t i = 0; i < count; ++i) {
        const double want = expected(i);
        const double got = Value(Raw<T>(slot)[i]);
        if (!(std::fabs(got - want) <= Tolerance<T>(want))) {
            Fail(std::string(what) + " at " + std::to_string(i) + ": " + std::to_string(got) + ", expected " + std::to_string(want));
            return;
        }
    }
}

/// Runs one function and checks `count` results, and that the element behind them is untouched.
template <typename T>
void Case(const char* what, int32_t count, double low, double high, Callee<void(int32_t)> call,
          Callee<double(double, double, double)> expected)
{
    Random random(static_cast<uint64_t>(count) + sizeof(T));
    Fill<T>(0, random, low, high);
    Fill<T>(1, random, low, high);
    Fill<T>(2, random, low, high);
    std::vector<T> before(Raw<T>(2), Raw<T>(2) + kRoom);
    call(count);
    Check<T>(what, 2, static_cast<uint32_t>(count), [&](uint32_t i) {
        return expected(Value(Raw<T>(0)[i]), Value(Raw<T>(1)[i]), Value(before[i]));
    });
    Expect(std::memcmp(&Raw<T>(2)[count], &before[static_cast<size_t>(count)], sizeof(T)) == 0,
           std::string(what) + " wrote behind its count");
}

template <typename T>
void Arithmetic()
{
    const auto a = At<T>(0);
    const auto b = At<T>(1);
    const auto d = At<T>(2);
    for (int32_t n : {1, 15, 64, 127, 333, 1000}) {
        Case<T>("Add", n, -100, 100, [&](int32_t c) { A::Add(d, a, b, c); }, [](double x, double y, double) { return x + y; });
        Case<T>("Sub", n, -100, 100, [&](int32_t c) { A::Sub(d, a, b, c); }, [](double x, double y, double) { return x - y; });
        Case<T>("Mul", n, -10, 10, [&](int32_t c) { A::Mul(d, a, b, c); }, [](double x, double y, double) { return x * y; });
        Case<T>("Max", n, -100, 100, [&](int32_t c) { A::Max(d, a, b, c); }, [](double x, double y, double) { return x > y ? x : y; });
        Case<T>("Min", n, -100, 100, [&](int32_t c) { A::Min(d, a, b, c); }, [](double x, double y, double) { return x < y ? x : y; });
        Case<T>("Adds", n, -100, 100, [&](int32_t c) { A::Adds(d, a, static_cast<T>(3), c); }, [](double x, double, double) { return x + 3; });
        Case<T>("Muls", n, -100, 100, [&](int32_t c) { A::Muls(d, a, static_cast<T>(2), c); }, [](double x, double, double) { return x * 2; });
        Case<T>("Maxs", n, -100, 100, [&](int32_t c) { A::Maxs(d, a, static_cast<T>(5), c); }, [](double x, double, double) { return x > 5 ? x : 5; });
        Case<T>("Duplicate", n, 0, 9, [&](int32_t c) { A::Duplicate(d, static_cast<T>(7), c); }, [](double, double, double) { return 7.0; });
        if constexpr (!std::is_integral<T>::value) {
            Case<T>("Div", n, 1, 50, [&](int32_t c) { A::Div(d, a, b, c); }, [](double x, double y, double) { return x / y; });
            Case<T>("Exp", n, -3, 3, [&](int32_t c) { A::Exp(d, a, c); }, [](double x, double, double) { return std::exp(x); });
            Case<T>("Ln", n, 0.5, 50, [&](int32_t c) { A::Ln(d, a, c); }, [](double x, double, double) { return std::log(x); });
            Case<T>("Sqrt", n, 0, 50, [&](int32_t c) { A::Sqrt(d, a, c); }, [](double x, double, double) { return std::sqrt(x); });
            Case<T>("Abs", n, -5, 5, [&](int32_t c) { A::Abs(d, a, c); }, [](double x, double, double) { return std::fabs(x); });
            Case<T>("Relu", n, -5, 5, [&](int32_t c) { A::Relu(d, a, c); }, [](double x, double, double) { return x > 0 ? x : 0; });
            Case<T>("LeakyRelu", n, -5, 5, [&](int32_t c) { A::LeakyRelu(d, a, static_cast<T>(0.5f), c); }, [](double x, double, double) { return x > 0 ? x : 0.5 * x; });
            Case<T>("Axpy", n, 1, 5, [&](int32_t c) { A::Axpy(d, a, static_cast<T>(2.0f), c); }, [](double x, double, double z) { return 2 * x + z; });
            Case<T>("MulAddDst", n, 1, 5, [&](int32_t c) { A::MulAddDst(d, a, b, c); }, [](double x, double y, double z) { return x * y + z; });
            Case<T>("FusedMulAdd", n, 1, 5, [&](int32_t c) { A::FusedMulAdd(d, a, b, c); }, [](double x, double y, double z) { return x * z + y; });
            Case<T>("Sigmoid", n, -3, 3, [&](int32_t c) { A::Sigmoid(d, a, At<uint8_t>(4), static_cast<uint32_t>(c)); }, [](double x, double, double) { return 1 / (1 + std::exp(-x)); });
            Case<T>("Silu", n, -3, 3, [&](int32_t c) { A::Silu(d, a, static_cast<uint32_t>(c)); }, [](double x, double, double) { return x / (1 + std::exp(-x)); });
        }
    }
    A::LocalTensor<T> whole = d;
    whole.SetSize(200);
    Case<T>("operator+", 200, -100, 100, [&](int32_t) { whole = a + b; }, [](double x, double y, double) { return x + y; });
}

/// Masks with repeats and strides: every second block of the sources, every lane below the mask.
void Repeats()
{
    Random random(7);
    Fill<float>(0, random, -9, 9);
    Fill<float>(1, random, -9, 9);
    std::memset(Raw<float>(2), 0, kRoom * 4);
    A::Add(At<float>(2), At<float>(0), At<float>(1), uint64_t(20), 3, A::BinaryRepeatParams(1, 2, 1, 8, 16, 8));
    for (uint32_t r = 0; r < 3; ++r) {
        for (uint32_t lane = 0; lane < 64; ++lane) {
            const uint32_t at = r * 64 + lane;
            const float x = Raw<float>(0)[r * 128 + (lane / 8) * 16 + lane % 8];
            const float want = lane < 20 ? x + Raw<float>(1)[at] : 0.0f;
            Expect(Raw<float>(2)[at] == want, "Add with mask and strides");
        }
    }
    uint64_t mask[2] = {0x5, 0};
    std::memset(Raw<float>(2), 0, kRoom * 4);
    A::Muls(At<float>(2), At<float>(0), 2.0f, mask, 1, A::UnaryRepeatParams());
    Expect(Raw<float>(2)[0] == 2 * Raw<float>(0)[0] && Raw<float>(2)[1] == 0 && Raw<float>(2)[2] == 2 * Raw<float>(0)[2],
           "Muls with a mask array");
}

/// All forms of a function of one source but that of the first elements: by bits or lanes that it sets, by those that somebody else has
/// set; with `counted` also that of the first elements, which without a mask of its own takes a repeat, or what the counter says.
template <typename T, bool counted, typename Call>
void Forms(const char* what, Call call, Callee<double(double, double)> expected)
{
    constexpr uint32_t lanes = 256 / sizeof(T), group = 32 / sizeof(T);
    uint64_t words[2] = {0x8F0F3C0F0F0F00F1, sizeof(T) == 2 ? 0x8000000000000003 : 0};
    uint64_t other[2] = {1, 0};
    const A::UnaryRepeatParams params(2, 1, 17, 9);
    for (int form = 0; form < (counted ? 6 : 4); ++form) {
        for (uint32_t i = 0; i < kRoom; ++i) {
            Raw<T>(0)[i] = static_cast<T>(static_cast<float>(i * 37 % 200) - 100);
            Raw<T>(2)[i] = static_cast<T>(static_cast<float>(i % 50));
        }
        std::vector<double> want(kRoom);
        for (uint32_t i = 0; i < kRoom; ++i) want[i] = Value(Raw<T>(2)[i]);
        for (uint32_t i = 0; i < (form == 5 ? 200 : form == 4 ? lanes : 3 * lanes); ++i) {
            const uint32_t lane = i % lanes;
            const bool bit = (words[lane / 64] >> lane % 64 & 1u) != 0;
            if (form == 5 || (form % 2 == 0 ? bit : lane < 37)) {
                const uint32_t to = form > 3 ? i : (i / lanes * 17 + lane / group * 2) * group + lane % group;
                const uint32_t from = form > 3 ? i : (i / lanes * 9 + lane / group) * group + lane % group;
                want[to] = expected(Value(Raw<T>(0)[from]), want[to]);
            }
        }
        form == 5 ? A::SetMaskCount() : A::SetMaskNorm();
        form == 2 || form == 4 ? set_vector_mask(words[1], words[0]) : set_vector_mask(0, form == 5 ? 200 : form == 3 ? (uint64_t{1} << 37) - 1 : 2);
        switch (form) {
            case 0: call(std::true_type(), words, uint8_t{3}, params); break;
            case 1: call(std::true_type(), uint64_t{37}, uint8_t{3}, params); break;
            case 2: call(std::false_type(), other, uint8_t{3}, params); break;
            case 3: call(std::false_type(), uint64_t{1}, uint8_t{3}, params); break;
            default:
                if constexpr (counted) {
                    call(std::false_type(), int32_t{5});
                }
        }
        A::SetMaskNorm();
        A::ResetMask();
        Check<T>((std::string(what) + ", form " + std::to_string(form)).c_str(), 2, kRoom, [&](uint32_t i) { return want[i]; });
    }
}

#define FORMS(Name, T, counted, expression, ...)                                      \
    Forms<T, counted>(#Name " " #T, [](auto set, auto... a) {                         \
        A::Name<T, decltype(set)::value>(At<T>(2), At<T>(0) __VA_ARGS__, a...);       \
    }, [](double x, double) -> double { return expression; })

template <typename T>
void OneSource()
{
    FORMS(Adds, T, true, x + 3, , static_cast<T>(3));
    FORMS(Muls, T, true, x * 2, , static_cast<T>(2));
    FORMS(Maxs, T, true, x > 5 ? x : 5, , static_cast<T>(5));
    FORMS(Mins, T, true, x < 5 ? x : 5, , static_cast<T>(5));
    if constexpr (std::is_integral<T>::value) {
        FORMS(ShiftLeft, T, true, x * 8, , static_cast<T>(3));
        FORMS(ShiftRight, T, true, std::floor(x / 8), , static_cast<T>(3));
    } else {
        FORMS(LeakyRelu, T, true, x > 0 ? x : x / 2, , static_cast<T>(0.5f));
        FORMS(Relu, T, false, x > 0 ? x : 0);
        FORMS(Abs, T, false, std::fabs(x));
        Forms<T, false>("Axpy", [](auto set, auto... a) { A::Axpy<T, T, decltype(set)::value>(At<T>(2), At<T>(0), static_cast<T>(2.0f), a...); },
                 [](double x, double before) { return 2 * x + before; });
    }
}

void Integers()
{
    for (int32_t n : {3, 130}) {
        Case<int16_t>("And", n, 0, 999, [&](int32_t c) { A::And(At<int16_t>(2), At<int16_t>(0), At<int16_t>(1), c); },
                      [](double x, double y, double) { return static_cast<int>(x) & static_cast<int>(y); });
        Case<int16_t>("Not", n, 0, 999, [&](int32_t c) { A::Not(At<int16_t>(2), At<int16_t>(0), c); },
                      [](double x, double, double) { return ~static_cast<int>(x); });
        Case<int32_t>("ShiftLeft", n, 0, 99, [&](int32_t c) { A::ShiftLeft(At<int32_t>(2), At<int32_t>(0), 3, c); },
                      [](double x, double, double) { return static_cast<int>(x) << 3; });
        Case<int32_t>("ShiftRight", n, 0, 9999, [&](int32_t c) { A::ShiftRight(At<int32_t>(2), At<int32_t>(0), 3, c); },
                      [](double x, double, double) { return static_cast<int>(x) >> 3; });
        Case<int32_t>("CreateVecIndex", n, 0, 9, [&](int32_t c) { A::CreateVecIndex(At<int32_t>(2), 5, static_cast<uint32_t>(c)); },
                      [i = 0](double, double, double) mutable { return 5 + i++; });
    }
    Case<float>("ArithProgression", 777, 0, 9, [&](int32_t c) { A::ArithProgression(At<float>(2), 1.0f, 0.5f, c); },
                [i = 0](double, double, double) mutable { return 1 + 0.5 * i++; });
}

void Conversions()
{
    Random random(11);
    for (uint32_t n : {5u, 129u, 1000u}) {
        Fill<half>(0, random, -100, 100);
        A::Cast(At<float>(2), At<half>(0), A::RoundMode::CAST_NONE, n);
        Check<float>("half to float", 2, n, [](uint32_t i) { return Value(Raw<half>(0)[i]); });
        A::Cast(At<int32_t>(3), At<float>(2), A::RoundMode::CAST_FLOOR, n);
        Check<int32_t>("float to int32", 3, n, [](uint32_t i) { return std::floor(Value(Raw<float>(2)[i])); });
        A::Cast(At<bfloat16_t>(4), At<float>(2), A::RoundMode::CAST_RINT, n);
        A::Cast(At<float>(5), At<bfloat16_t>(4), A::RoundMode::CAST_NONE, n);
        Check<float>("float to bfloat16", 5, n, [](uint32_t i) { return Value(bfloat16_t(Raw<float>(2)[i])); });
        A::Cast(At<half>(6), At<float>(2), A::RoundMode::CAST_NONE, n);
        Check<half>("float to half", 6, n, [](uint32_t i) { return Value(Raw<half>(0)[i]); });
    }
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        A::InitSocState();
        Arithmetic<half>();
        Arithmetic<float>();
        Arithmetic<int16_t>();
        Arithmetic<int32_t>();
        Repeats();
        OneSource<half>();
        OneSource<float>();
        OneSource<int16_t>();
        OneSource<int32_t>();
        FORMS(Not, int16_t, false, -1 - x);
        Forms<int16_t, false>("ShiftRight, rounded", [](auto set, auto... a) {
            A::ShiftRight<int16_t, decltype(set)::value>(At<int16_t>(2), At<int16_t>(0), int16_t{3}, a..., true);
        }, [](double x, double) { return std::floor((x + 4) / 8); });
        Integers();
        Conversions();
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    return Report("api_vector");
}
