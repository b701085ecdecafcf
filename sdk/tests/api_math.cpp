// Advanced mathematical functions against double precision: dtypes, odd lengths, small temporary buffers, in place,
// hostile values.
// A header of its own first: it brings what it needs.
#include "lib/math/kernel_operator_power_intf.h"

#include "kernel_operator.h"

#include <limits>

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kRoom = 2048;

template <typename T>
A::LocalTensor<T> At(uint32_t slot)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kRoom * 4, kRoom * 4 / sizeof(T));
}
A::LocalTensor<uint8_t> Temporary(uint32_t bytes) { return A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 8 * kRoom * 4, bytes); }
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kRoom * 4);
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

/// Distance in units of the last place of T at the expected value; zero for two NaN or two equal infinities.
template <typename T>
double Ulps(double got, double want)
{
    if (Same(got, want)) {
        return 0;
    }
    if (std::isnan(got) || std::isnan(want)) {
        return 1e30;
    }
    const int digits = sizeof(T) == 2 ? 11 : 24;
    const int lowest = sizeof(T) == 2 ? -14 : -126;
    const double largest = sizeof(T) == 2 ? 65504.0 : static_cast<double>(std::numeric_limits<float>::max());
    if (std::isinf(got) || std::isinf(want)) {
        return std::fabs(std::isinf(got) ? want : got) >= largest * (1 - 1e-5) && (got > 0) == (want > 0) ? 1 : 1e30;
    }
    int exponent = lowest;
    if (want != 0) {
        exponent = std::max(lowest, std::ilogb(want));
    }
    return std::fabs(got - want) / std::ldexp(1.0, exponent + 1 - digits);
}

using Call = Callee<void(uint32_t dst, uint32_t src, uint32_t count, uint32_t temporary)>;
using Reference = Callee<double(double)>;

template <typename T>
void CompareTo(const std::string& what, const T* got, const std::vector<T>& source, uint32_t count, Reference want,
               double ulps)
{
    double worst = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const double x = Value(source[i]);
        const double expected = want(x);
        const double distance = Ulps<T>(Value(got[i]), expected);
        worst = std::max(worst, distance);
        if (!(distance <= ulps)) {
            Fail(what + " of " + std::to_string(x) + ": " + std::to_string(Value(got[i])) + ", expected " +
                 std::to_string(expected) + ", " + std::to_string(distance) + " ulp");
            return;
        }
    }
    if (std::getenv("SHOW_ULPS") != nullptr) {
        std::printf("%-24s %.2f ulp\n", what.c_str(), worst);
    }
}

/// Random arguments in [low, high] and on a finer scale around zero, at several lengths; then in place with the smallest
/// temporary buffer.
template <typename T>
void Unary(const char* name, double low, double high, double ulps, uint32_t smallest, bool inPlace, Call call,
           Reference want, const std::vector<double>& hostile = {})
{
    const std::string what = std::string(name) + (sizeof(T) == 2 ? " half" : " float");
    for (const uint32_t count : {1u, 13u, 64u, 1000u, 2047u}) {
        Random random(count);
        std::vector<T> source(kRoom);
        for (uint32_t i = 0; i < kRoom; ++i) {
            double value = random.Real(low, high);
            if (i % 4 == 1 && low <= 0 && high >= 0) {
                value *= std::exp2(-random.Real(0, sizeof(T) == 2 ? 8 : 20));
            }
            source[i] = static_cast<T>(static_cast<float>(value));
        }
        for (size_t i = 0; i < hostile.size() && i < count; ++i) {
            source[i] = static_cast<T>(static_cast<float>(hostile[i]));
        }
        std::copy(source.begin(), source.end(), Raw<T>(1));
        std::memset(ascendsim::UbBase(), 0x5A, kRoom * sizeof(T));
        const T behind = Raw<T>(0)[count];
        call(0, 1, count, 64 * 1024);
        CompareTo(what, Raw<T>(0), source, count, want, ulps);
        Expect(std::memcmp(&Raw<T>(0)[count], &behind, sizeof(T)) == 0, what + " wrote behind its count");
        Expect(std::memcmp(Raw<T>(1), source.data(), kRoom * sizeof(T)) == 0, what + " changed its source");
        if (inPlace) {
            uint8_t* end = ascendsim::UbBase() + 8 * kRoom * 4 + smallest;
            std::memset(end, 0xA5, 64);
            call(1, 1, count, smallest);
            CompareTo(what + " in place", Raw<T>(1), source, count, want, ulps);
            Expect(end[0] == 0xA5 && end[63] == 0xA5, what + " wrote behind its temporary buffer");
        }
    }
}

#define UNARY(Name, low, high, ulpsHalf, ulpsFloat, smallestHalf, smallestFloat, inPlace, want, ...)                       \
    Unary<half>(#Name, std::max<double>(low, -60000.0), std::min<double>(high, 60000.0), ulpsHalf, smallestHalf, true,     \
        [](uint32_t d, uint32_t s, uint32_t n, uint32_t tmp) { A::Name(At<half>(d), At<half>(s), Temporary(tmp), n); },    \
        want, ##__VA_ARGS__);                                                                                              \
    Unary<float>(#Name, low, high, ulpsFloat, smallestFloat, inPlace,                                                      \
        [](uint32_t d, uint32_t s, uint32_t n, uint32_t tmp) { A::Name(At<float>(d), At<float>(s), Temporary(tmp), n); },  \
        want, ##__VA_ARGS__)

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kHostile = {0.0, kInf, -kInf, kNan, 1.0, -1.0, 0.5, 1e-7};
double Rint(double x) { return std::nearbyint(x); }
double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double FracOf(double x) { return std::isinf(x) ? kNan : x - std::trunc(x); }

void Roundings()
{
    UNARY(Floor, -3000, 3000, 0, 0, 256, 0, true, [](double x) { return std::floor(x); }, kHostile);
    UNARY(Ceil, -3000, 3000, 0, 0, 256, 256, true, [](double x) { return std::ceil(x); }, kHostile);
    UNARY(Trunc, -3000, 3000, 0, 0, 256, 256, true, [](double x) { return std::trunc(x); }, kHostile);
    UNARY(Round, -3000, 3000, 0, 0, 256, 256, true, Rint, {0.5, 1.5, 2.5, -0.5, kInf, -kInf, kNan});
    UNARY(Frac, -100, 100, 0, 0, 512, 0, false, FracOf, kHostile);
    UNARY(Sign, -3, 3, 0, 0, 384, 768, true, SignOf, {0.0, kInf, -kInf, kNan, -0.0, 1e-7});
}

// Smallest buffers are those of the documented formulas: a repeat of 256 bytes times the factor of the function.
void Trigonometry()
{
    UNARY(Sin, -65504, 65504, 1, 2.5, 1024, 512, true, [](double x) { return std::sin(x); },
          {kInf, -kInf, kNan, 0.0, 3.14159274, 65504.0, 22.0, 1e-30, 51471.85546875});
    UNARY(Cos, -65504, 65504, 1, 2.5, 1024, 512, true, [](double x) { return std::cos(x); },
          {kInf, -kInf, kNan, 0.0, 1.57079637, 65504.0, 11.0, 1e-30});
    UNARY(Tan, -65504, 65504, 1, 4, 1280, 1024, true, [](double x) { return std::tan(x); },
          {kInf, -kInf, kNan, 0.0, 1.57079637, 65504.0, 11.0, 1e-30});
    UNARY(Asin, -1, 1, 1, 3, 768, 512, true, [](double x) { return std::asin(x); }, {kInf, kNan, 0.0, 1, -1, 1.5, -2, 0.5, -0.5});
    UNARY(Acos, -1, 1, 1, 3, 768, 512, true, [](double x) { return std::acos(x); }, {kInf, kNan, 0.0, 1, -1, 1.5, -2, 0.5, -0.5});
    UNARY(Atan, -30, 30, 1, 3, 1536, 1280, true, [](double x) { return std::atan(x); }, {kInf, -kInf, kNan, 0.0, 1, -1, 1e30, 1e-30});
}

/// What is left of half a turn (or of the whole): where the rest is far more precise than the result, the result is the nearest float or
/// next to it, so that half a turn has to be known better than a float knows it.
void NearHalfTurns()
{
    constexpr uint32_t count = 256;
    const auto check = [](const char* name, double (*want)(double), Callee<double(uint32_t)> argument, void (*call)()) {
        std::vector<float> source(count);
        for (uint32_t i = 0; i < count; ++i) {
            source[i] = Raw<float>(1)[i] = static_cast<float>(argument(i));
        }
        call();
        CompareTo<float>(std::string(name) + " near half a turn", Raw<float>(0), source, count, want, 0.52);
    };
    const auto large = [](uint32_t i) { return (i % 2 == 0 ? 1e5 : -1e5) * std::exp2(i / 20.0); };
    check("Atan", std::atan, large, [] { A::Atan(At<float>(0), At<float>(1), Temporary(4096), count); });
    const auto ends = [](uint32_t i) { return (i % 2 == 0 ? 1 : -1) * (1 - std::ldexp(i / 2, -24)); };
    check("Asin", std::asin, ends, [] { A::Asin(At<float>(0), At<float>(1), Temporary(4096), count); });
    const auto lower = [](uint32_t i) { return std::ldexp(i / 2, -24) - 1; };
    check("Acos", std::acos, lower, [] { A::Acos(At<float>(0), At<float>(1), Temporary(4096), count); });
    const auto small = [](uint32_t i) { return 1e-8 * std::exp2(i / 20.0); };
    check("Acos", std::acos, small, [] { A::Acos(At<float>(0), At<float>(1), Temporary(4096), count); });
}

void Hyperbolic()
{
    UNARY(Sinh, -20, 20, 1, 4, 512, 256, true, [](double x) { return std::sinh(x); }, {kInf, -kInf, kNan, 0.0, 89.2, -89.2, 100.0, 1e-30, 1.0});
    UNARY(Cosh, -20, 20, 1, 4, 768, 512, true, [](double x) { return std::cosh(x); }, {kInf, -kInf, kNan, 0.0, 89.2, -89.2, 100.0});
    UNARY(Tanh, -5, 5, 1, 3, 512, 256, true, [](double x) { return std::tanh(x); }, {kInf, -kInf, kNan, 0.0, 100.0, -100.0, 1e-30});
    UNARY(Asinh, -1e4, 1e4, 1, 4, 768, 768, true, [](double x) { return std::asinh(x); }, {kInf, -kInf, kNan, 0.0, 1e30, -3e38, 1e-30, 0.1, 1e-4});
    UNARY(Acosh, 1, 1e4, 1, 4, 512, 512, true, [](double x) { return std::acosh(x); }, {kInf, -kInf, kNan, 0.0, 1, 3e38, 1.0001, 2});
    UNARY(Atanh, -1, 1, 1, 4, 512, 256, true, [](double x) { return std::atanh(x); }, {kInf, kNan, 0.0, 1, -1, 2, 1e-30, 0.999});
}

void Others()
{
    UNARY(Erf, -4.5, 4.5, 1, 3, 1024, 768, true, [](double x) { return std::erf(x); }, {kInf, -kInf, kNan, 0.0, 1, -1, 1e-30});
    UNARY(Erfc, -5, 9, 1.5, 12, 2048, 1792, true, [](double x) { return std::erfc(x); }, {kInf, -kInf, kNan, 0.0, 1, -1, 1e-30});
    UNARY(Log2, 0, 1000, 1, 3, 256, 0, true, [](double x) { return std::log2(x); }, {kInf, -kInf, kNan, 0.0, 1, -1, 1e-30});
    const auto log = [](double x) { return std::log(x); };
    const auto log10 = [](double x) { return std::log10(x); };
    Unary<half>("Log", 0, 1000, 1, 0, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t) { A::Log(At<half>(d), At<half>(s), n); }, log, kHostile);
    Unary<float>("Log", 0, 1000, 2, 0, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t) { A::Log(At<float>(d), At<float>(s), n); }, log, kHostile);
    Unary<half>("Log10", 0, 1000, 3, 0, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t) { A::Log10(At<half>(d), At<half>(s), n); }, log10, kHostile);
    Unary<float>("Log10", 0, 1000, 3, 0, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t) { A::Log10(At<float>(d), At<float>(s), n); }, log10, kHostile);
    const auto exp = [](double x) { return std::exp(x); };
    Unary<half>("Exp", -8, 10, 1, 1024, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t t) { A::Exp<half, 12>(At<half>(d), At<half>(s), Temporary(t), n); }, exp, kHostile);
    Unary<float>("Exp", -80, 80, 4, 768, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t t) { A::Exp<float, 12>(At<float>(d), At<float>(s), Temporary(t), n); }, exp, kHostile);
    Unary<float>("ClampMax", -3, 3, 0, 256, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t t) { A::ClampMax(At<float>(d), At<float>(s), Temporary(t), 1.5f, n); }, [](double x) { return x > 1.5 ? 1.5 : x; });
    Unary<half>("ClampMin", -3, 3, 0, 256, true, [](uint32_t d, uint32_t s, uint32_t n, uint32_t) { A::ClampMin(At<half>(d), At<half>(s), half(0.25f), n); }, [](double x) { return x < 0.25 ? 0.25 : x; });
}

template <typename T>
double PowerOf(double a, double b)
{
    return std::pow(a, b);
}

/// All pairs of the hostile values, and random pairs; tensor and tensor, tensor and scalar, scalar and tensor.
template <typename T>
void Powers(double ulps, uint32_t smallest)
{
    const char* what = sizeof(T) == 2 ? "Power half" : "Power float";
    std::vector<double> values = {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, kInf, -kInf, kNan, 1e-5, 1000.0, 0.3333333};
    if (sizeof(T) == 4) {
        values.insert(values.end(), {1e-40, 3e38, 16777216.0, -16777217.0, 1.0000001, 0.99999994, 1e10});
    }
    std::vector<T> bases;
    std::vector<T> exponents;
    for (const double a : values) {
        for (const double b : values) {
            bases.push_back(static_cast<T>(static_cast<float>(a)));
            exponents.push_back(static_cast<T>(static_cast<float>(b)));
        }
    }
    Random random(7);
    while (bases.size() < 1733) {
        bases.push_back(static_cast<T>(static_cast<float>(random.Real(0, 20))));
        exponents.push_back(static_cast<T>(static_cast<float>(sizeof(T) == 2 ? random.Real(-3, 3) : random.Real(-25, 25))));
    }
    const uint32_t count = static_cast<uint32_t>(bases.size());
    const auto check = [&](const std::string& form, const T* got, auto base, auto exponent) {
        double worst = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const double a = Value(base(i));
            const double b = Value(exponent(i));
            const double want = Value(static_cast<T>(static_cast<float>(std::pow(a, b))));
            const double distance = Ulps<T>(Value(got[i]), want);
            worst = std::max(worst, distance);
            if (!(distance <= ulps)) {
                Fail(form + ": " + std::to_string(a) + " ^ " + std::to_string(b) + " = " + std::to_string(Value(got[i])) +
                     ", expected " + std::to_string(want));
            }
        }
        if (std::getenv("SHOW_ULPS") != nullptr) {
            std::printf("%-24s %.2f ulp\n", form.c_str(), worst);
        }
    };
    const auto base = [&](uint32_t i) { return bases[i]; };
    const auto exponent = [&](uint32_t i) { return exponents[i]; };
    for (const uint32_t bytes : {smallest, 100000u}) {
        std::copy(bases.begin(), bases.end(), Raw<T>(1));
        std::copy(exponents.begin(), exponents.end(), Raw<T>(2));
        A::Power(At<T>(0), At<T>(1), At<T>(2), Temporary(bytes), count);
        check(std::string(what) + " tensors", Raw<T>(0), base, exponent);
        A::Power(At<T>(2), At<T>(1), At<T>(2), Temporary(bytes), count);
        check(std::string(what) + " in place", Raw<T>(2), base, exponent);
        for (const float scalar : {2.0f, -0.5f, 0.0f, 3.0f, 0.3f}) {
            const T value = static_cast<T>(scalar);
            A::Power(At<T>(0), At<T>(1), value, Temporary(bytes), count);
            check(std::string(what) + " scalar exponent", Raw<T>(0), base, [&](uint32_t) { return value; });
            std::copy(exponents.begin(), exponents.end(), Raw<T>(2));
            A::Power<T>(At<T>(0), value, At<T>(2), count);
            check(std::string(what) + " scalar base", Raw<T>(0), [&](uint32_t) { return value; }, exponent);
        }
    }
}

void IntegerPowers()
{
    const uint32_t count = 777;
    Random random(3);
    std::vector<int32_t> bases(count);
    std::vector<int32_t> exponents(count);
    for (uint32_t i = 0; i < count; ++i) {
        bases[i] = static_cast<int32_t>(random.Below(13)) - 6;
        exponents[i] = static_cast<int32_t>(random.Below(40)) - 8;
    }
    const auto want = [](int32_t a, int32_t b) -> int32_t {
        if (b < 0) {
            return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
        }
        uint32_t result = 1;
        for (int32_t i = 0; i < b; ++i) {
            result *= static_cast<uint32_t>(a);
        }
        return static_cast<int32_t>(result);
    };
    std::copy(bases.begin(), bases.end(), Raw<int32_t>(1));
    std::copy(exponents.begin(), exponents.end(), Raw<int32_t>(2));
    A::Power(At<int32_t>(0), At<int32_t>(1), At<int32_t>(2), Temporary(1536), count);
    for (uint32_t i = 0; i < count; ++i) {
        Expect(Raw<int32_t>(0)[i] == want(bases[i], exponents[i]),
               "Power int32 " + std::to_string(bases[i]) + " ^ " + std::to_string(exponents[i]));
    }
    A::Power(At<int32_t>(0), At<int32_t>(1), 5, count);
    for (uint32_t i = 0; i < count; ++i) {
        Expect(Raw<int32_t>(0)[i] == want(bases[i], 5), "Power int32 by a scalar");
    }
}

void Pairs()
{
    const uint32_t count = 333;
    Random random(5);
    for (uint32_t i = 0; i < kRoom; ++i) {
        Raw<uint16_t>(1)[i] = static_cast<uint16_t>(random.Next());
        Raw<uint16_t>(2)[i] = static_cast<uint16_t>(random.Next());
    }
    A::Xor(At<uint16_t>(0), At<uint16_t>(1), At<uint16_t>(2), Temporary(256), count);
    for (uint32_t i = 0; i < count; ++i) {
        Expect(Raw<uint16_t>(0)[i] == (Raw<uint16_t>(1)[i] ^ Raw<uint16_t>(2)[i]), "Xor");
    }
    for (uint32_t i = 0; i < kRoom; ++i) {
        Raw<half>(1)[i] = half(static_cast<float>(random.Real(-50, 50)));
        Raw<half>(2)[i] = half(static_cast<float>(random.Real(1, 9)));
        Raw<half>(3)[i] = half(static_cast<float>(random.Real(-5, 5)));
    }
    std::vector<half> before(Raw<half>(3), Raw<half>(3) + kRoom);
    A::Fmod(At<half>(0), At<half>(1), At<half>(2), Temporary(1536), count);
    A::Axpy(At<half>(3), At<half>(1), half(0.75f), Temporary(1024), count);
    for (uint32_t i = 0; i < count; ++i) {
        const double a = Value(Raw<half>(1)[i]);
        Expect(Ulps<half>(Value(Raw<half>(0)[i]), std::fmod(a, Value(Raw<half>(2)[i]))) <= 1, "Fmod half");
        Expect(Ulps<half>(Value(Raw<half>(3)[i]), Value(before[i]) + a * 0.75) <= 0.51, "Axpy half");
    }
    for (uint32_t i = 0; i < count; ++i) {
        Raw<float>(1)[i] = static_cast<float>(random.Real(-50, 50));
        Raw<float>(2)[i] = static_cast<float>(random.Real(1, 9));
    }
    std::fill_n(Raw<float>(3), count, 0.25f);
    A::Axpy(At<float>(3), At<float>(1), 0.75f, Temporary(0), count);  // floats take no temporary buffer
    for (uint32_t i = 0; i < count; ++i) {
        Expect(Ulps<float>(Value(Raw<float>(3)[i]), 0.25 + Value(Raw<float>(1)[i]) * 0.75) <= 1, "Axpy float");
    }
    A::Fmod(At<float>(0), At<float>(1), At<float>(2), count);
    for (uint32_t i = 0; i < count; ++i) {
        const double want = std::fmod(Value(Raw<float>(1)[i]), Value(Raw<float>(2)[i]));
        Expect(std::fabs(Value(Raw<float>(0)[i]) - want) < 1e-5, "Fmod float");
    }
}

/// What a fault says that a temporary buffer takes at least is enough, and a byte less is not.
void LeastBuffers()
{
    const std::pair<const char*, void (*)(uint32_t)> all[] = {
        {"Sign", [](uint32_t bytes) { A::Sign(At<half>(0), At<half>(1), Temporary(bytes), 100); }},
        {"Sign", [](uint32_t bytes) { A::Sign(At<float>(0), At<float>(1), Temporary(bytes), 100); }},
        {"Xor", [](uint32_t bytes) { A::Xor(At<int16_t>(0), At<int16_t>(1), At<int16_t>(2), Temporary(bytes), 100); }},
        {"Fmod", [](uint32_t bytes) { A::Fmod(At<half>(0), At<half>(1), At<half>(2), Temporary(bytes), 100); }},
        {"Axpy", [](uint32_t bytes) { A::Axpy(At<half>(0), At<half>(1), half(0.75f), Temporary(bytes), 100); }},
        {"Atan", [](uint32_t bytes) { A::Atan(At<half>(0), At<half>(1), Temporary(bytes), 100); }},
        {"Atan", [](uint32_t bytes) { A::Atan(At<float>(0), At<float>(1), Temporary(bytes), 100); }},
        {"Cosh", [](uint32_t bytes) { A::Cosh(At<float>(0), At<float>(1), Temporary(bytes), 100); }},
        {"Power", [](uint32_t bytes) { A::Power(At<float>(0), At<float>(1), At<float>(2), Temporary(bytes), 100); }},
    };
    for (const auto& [name, call] : all) {
        const auto with = [call = call](uint32_t bytes, bool& written) {
            return OnCore([&] {
                std::fill_n(Raw<half>(0), 200, half(0.375f));
                std::fill_n(Raw<half>(1), 400, half(2.0f));
                std::fill_n(Raw<half>(2), 400, half(2.0f));
                const std::vector<half> before(Raw<half>(0), Raw<half>(0) + 200);
                call(bytes);
                written = std::memcmp(Raw<half>(0), before.data(), 200) != 0;
            });
        };
        bool written = false;
        const std::string none = with(0, written).first_fault;
        const size_t at = none.find(" bytes is too small; it takes at least ");
        const uint32_t least = at == std::string::npos ? 0 : static_cast<uint32_t>(std::atoi(none.c_str() + at + 39));
        Expect(least > 0 && !written && none.rfind(std::string("bad_argument: ") + name + ": a temporary buffer of 0", 0) == 0, std::string(name) + " without a buffer: " + none);
        const auto enough = with(least, written);
        Expect(enough.faults == 0 && written, std::string(name) + " with " + std::to_string(least) + " bytes: " + enough.first_fault);
        const auto less = with(least - 1, written);
        Expect(less.faults == 1 && !written, std::string(name) + " with a byte less than " + std::to_string(least) + ": " + less.first_fault);
    }
}

/// What the caller did wrong is recorded and nothing is computed.
void Faults()
{
    const char* path = "api_math.trace";
    setenv("ASCEND_SIM_TRACE", path, 1);
    OnCore([] {
        A::Tanh(At<float>(0), At<float>(1), Temporary(32), 8);
        A::Frac(At<float>(1), At<float>(1), Temporary(0), 8);
    });
    unsetenv("ASCEND_SIM_TRACE");
    const Trace trace = ReadTrace(path);
    std::remove(path);
    uint32_t faults = 0;
    for (const Record& record : trace.records) {
        faults += record.name == "fault" ? 1 : 0;
    }
    Expect(faults == 2, "a buffer that is too small and a destination that is the source are faults");
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    Faults();
    LeastBuffers();
    OnCore([] {
        // What the calls without a temporary buffer take lies behind what the pipe has given out.
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> operands;
        pipe.InitBuffer(operands, 8 * kRoom * 4);
        Roundings();
        Trigonometry();
        NearHalfTurns();
        Hyperbolic();
        Others();
        Powers<half>(1, 2048);
        Powers<float>(2, 1280);
        IntegerPowers();
        Pairs();
    });
    return Report("api_math");
}
