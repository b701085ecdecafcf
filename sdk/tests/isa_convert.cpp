// Conversions in every rounding mode against searches over the destination format and exact integer arithmetic,
// and the literal 16-bit types against the same searches.
#include <algorithm>
#include <limits>

#include "isa_support.h"

using namespace isa_test;

namespace {

/// All finite values of a 16-bit format in ascending order.
template <typename H>
std::vector<H> AllFinite()
{
    std::vector<H> values;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const H value = H::FromBits(static_cast<uint16_t>(bits));
        if (std::isfinite(static_cast<float>(value)) && bits != 0x8000) {
            values.push_back(value);
        }
    }
    std::sort(values.begin(), values.end(), [](H a, H b) { return static_cast<float>(a) < static_cast<float>(b); });
    return values;
}

/// `value` rounded into the sorted values by searching for its neighbours.
template <typename H>
double Rounded(const std::vector<H>& values, double value, char mode)
{
    if (!std::isfinite(value)) {
        return value;
    }
    const auto above = std::lower_bound(values.begin(), values.end(), value,
                                        [](H a, double b) { return static_cast<double>(static_cast<float>(a)) < b; });
    const double largest = static_cast<float>(values.back());
    const double ulp = largest - static_cast<double>(static_cast<float>(values[values.size() - 2]));
    const bool over = above == values.end();
    const bool under = above == values.begin() && value < static_cast<double>(static_cast<float>(values.front()));
    const double high = over ? largest + ulp : static_cast<double>(static_cast<float>(*above));
    if (high == value) {
        return value;
    }
    const double low = under ? -largest - ulp : over ? largest : static_cast<double>(static_cast<float>(*(above - 1)));
    const auto odd = [&](double v) { return (H(v).Bits() & 1u) != 0; };
    double result = 0;
    switch (mode) {
        case 'f':
            result = low;
            break;
        case 'c':
            result = high;
            break;
        case 'z':
            result = value > 0 ? low : high;
            break;
        case 'o':
            result = over || under ? (value > 0 ? low : high) : odd(low) ? low : high;
            break;
        default: {
            const double down = value - low;
            const double up = high - value;
            if (down == up) {
                if (mode == 'a') {
                    result = value > 0 ? high : low;
                } else {
                    // The step above the largest number counts as even: its last bit would be zero.
                    result = over ? high : under ? low : odd(low) ? high : low;
                }
            } else {
                result = down < up ? low : high;
            }
        }
    }
    return std::fabs(result) > largest ? std::copysign(INFINITY, result) : result;
}

template <typename S>
std::vector<S> Sources(uint64_t seed)
{
    Random random(seed);
    std::vector<S> values;
    for (int i = 0; i < 6000; ++i) {
        switch (i % 5) {
            case 0:
                values.push_back(static_cast<S>(random.Real(-300, 300)));
                break;
            case 1:
                values.push_back(static_cast<S>(static_cast<float>(random.Below(2000)) / 2 - 500));
                break;
            case 2:
                values.push_back(static_cast<S>(random.Real(-70000, 70000)));
                break;
            case 3:
                values.push_back(static_cast<S>(std::ldexp(random.Real(-1, 1), static_cast<int>(random.Below(80)) - 40)));
                break;
            default:
                // Halfway between neighbouring halves.
                values.push_back(static_cast<S>(half::FromBits(static_cast<uint16_t>(random.Next())) * 1.00048828125f));
        }
    }
    for (double v : {0.0, -0.0, 65504.0, 65519.0, 65520.0, -65520.0, 1e10, -1e10, 1e20, -1e30, 32767.5, 2147483648.0, 127.5, -128.5, 255.5}) {
        values.push_back(static_cast<S>(static_cast<float>(v)));
    }
    return values;
}

template <typename D, typename S, typename Fn, typename Model>
void Check(const char* name, const std::vector<S>& sources, Fn fn, Model model)
{
    OnCore([&] {
        auto* d = reinterpret_cast<D*>(ascendsim::UbBase());
        auto* a = reinterpret_cast<S*>(ascendsim::UbBase() + 64 * 1024);
        std::copy(sources.begin(), sources.end(), a);
        set_mask_count();
        set_vector_mask(0, sources.size());
        fn(d, a);
        for (size_t i = 0; i < sources.size(); ++i) {
            const auto want = model(sources[i]);
            if (!Same(static_cast<double>(d[i]), static_cast<double>(want))) {
                Fail(std::string(name) + " of " + std::to_string(static_cast<double>(sources[i])) + " is " +
                     std::to_string(static_cast<double>(d[i])) + ", not " + std::to_string(static_cast<double>(want)));
                break;
            }
        }
    });
    Expect(ascendsim::LastLaunch().faults == 0, std::string(name) + ": " + ascendsim::LastLaunch().first_fault);
}

double Integral(double v, char mode)
{
    switch (mode) {
        case 'f': return std::floor(v);
        case 'c': return std::ceil(v);
        case 'z': return std::trunc(v);
        case 'a': return std::round(v);
        default: return std::nearbyint(v);
    }
}

template <typename D>
D Clamped(double v)
{
    if (v != v) return 0;
    if (v <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (v >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(v);
}

#define CALL(name, D, S) [](D* d, S* a) { name(d, a, 1, 1, 1, sizeof(D) >= sizeof(S) ? 8 : 8 * sizeof(D) / sizeof(S), \
                                               sizeof(S) >= sizeof(D) ? 8 : 8 * sizeof(S) / sizeof(D)); }
#define TO_INT(base, m, D, S) Check<D, S>(#base #m, Sources<S>(7), CALL(base##m, D, S), [](S v) { return Clamped<D>(Integral(static_cast<double>(v), #m[0])); });
#define TO_INT5(base, D, S) TO_INT(base, r, D, S) TO_INT(base, a, D, S) TO_INT(base, f, D, S) TO_INT(base, c, D, S) TO_INT(base, z, D, S)
#define TO_HALF(base, m, D, S) Check<D, S>(#base #m, Sources<S>(9), CALL(base##m, D, S), [&](S v) { return Rounded(all_##D, static_cast<double>(v), #m[0]); });
#define TO_HALF5(base, D, S) TO_HALF(base, r, D, S) TO_HALF(base, a, D, S) TO_HALF(base, f, D, S) TO_HALF(base, c, D, S) TO_HALF(base, z, D, S)

/// Float neighbours of an integer, found with exact arithmetic.
double FloatOf(__int128 value, char mode)
{
    const long double exact = static_cast<long double>(value);
    float low = static_cast<float>(exact);
    float high = low;
    if (static_cast<long double>(low) > exact) {
        low = std::nextafter(low, -INFINITY);
    } else if (static_cast<long double>(low) < exact) {
        high = std::nextafter(high, INFINITY);
    }
    if (low == high) return low;
    const long double down = exact - low;
    const long double up = high - exact;
    switch (mode) {
        case 'f': return low;
        case 'c': return high;
        case 'z': return value > 0 ? low : high;
        case 'a': return down == up ? (value > 0 ? high : low) : down < up ? low : high;
        default: return down == up ? static_cast<double>(static_cast<float>(exact)) : down < up ? low : high;
    }
}

template <typename S>
std::vector<S> Integers()
{
    Random random(3);
    std::vector<S> values = {0, 1, -1, std::numeric_limits<S>::max(), std::numeric_limits<S>::min()};
    for (int i = 0; i < 3000; ++i) {
        values.push_back(static_cast<S>(static_cast<int64_t>(random.Next()) >> random.Below(60)));
        values.push_back(static_cast<S>((int64_t{1} << 25) + 2 * static_cast<int64_t>(random.Below(64)) + 1));
    }
    return values;
}
#define FROM_INT(base, m, S) Check<float, S>(#base #m, Integers<S>(), CALL(base##m, float, S), [](S v) { return FloatOf(v, #m[0]); });
#define FROM_INT5(base, S) FROM_INT(base, r, S) FROM_INT(base, a, S) FROM_INT(base, f, S) FROM_INT(base, c, S) FROM_INT(base, z, S)

void CheckTypes(const std::vector<half>& all_half, const std::vector<bfloat16_t>& all_bfloat16_t)
{
    static_assert(std::is_trivial<half>::value && std::is_standard_layout<half>::value, "half goes into unions and arrays");
    constexpr half table[3] = {1.5f, half(2), -3};
    static_assert(static_cast<float>(table[0] + table[1]) == 3.5f, "half arithmetic is a constant expression");
    static_assert(std::is_same<decltype(half() + half()), half>::value, "half + half is half");
    static_assert(std::is_same<decltype(half() * 2.0f), float>::value, "half * float is float");
    static_assert(std::is_same<decltype(half() + 1), half>::value, "integers do not widen half");
    for (float v : Sources<float>(11)) {
        Expect(Same(static_cast<float>(half(v)), Rounded(all_half, v, 'r')), "half(" + std::to_string(v) + ")");
        Expect(Same(static_cast<float>(bfloat16_t(v)), Rounded(all_bfloat16_t, v, 'r')), "bfloat16_t(" + std::to_string(v) + ")");
    }
    Random random(5);
    for (int i = 0; i < 20000; ++i) {
        const double v = std::ldexp(random.Real(-1, 1), static_cast<int>(random.Below(40)) - 22);
        Expect(Same(static_cast<float>(half(v)), Rounded(all_half, v, 'r')), "half of the double " + std::to_string(v));
    }
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const half h = half::FromBits(static_cast<uint16_t>(bits));
        const float f = h;
        Expect(f != f || half(f).Bits() == bits, "half bits " + std::to_string(bits));
        Expect((h == h) == (f == f) && (h < half(1)) == (f < 1) && (h >= 0.5) == (f >= 0.5), "half comparison");
    }
}

}  // namespace

int main()
{
    const std::vector<half> all_half = AllFinite<half>();
    const std::vector<bfloat16_t> all_bfloat16_t = AllFinite<bfloat16_t>();
    CheckTypes(all_half, all_bfloat16_t);
    TO_HALF5(vconv_f322f16, half, float)
    TO_HALF(vconv_f322f16, o, half, float)
    TO_HALF5(vconv_f322bf16, bfloat16_t, float)
    TO_INT5(vconv_f162s8, int8_t, half)
    TO_INT5(vconv_f162u8, uint8_t, half)
    TO_INT5(vconv_f162s16, int16_t, half)
    TO_INT5(vconv_f162s32, int32_t, half)
    TO_INT5(vconv_f322s16, int16_t, float)
    TO_INT5(vconv_f322s32, int32_t, float)
    TO_INT5(vconv_f322s64, int64_t, float)
    TO_INT5(vconv_bf162s32, int32_t, bfloat16_t)
    FROM_INT5(vconv_s322f32, int32_t)
    FROM_INT5(vconv_s642f32, int64_t)
    std::vector<int16_t> shorts;
    for (int v = -32768; v < 32768; v += 3) shorts.push_back(static_cast<int16_t>(v));
    for (char mode : std::string("rafcz")) {
        Check<half, int16_t>("vconv_s162f16", shorts, [mode](half* d, int16_t* a) {
            switch (mode) {
                case 'r': return vconv_s162f16r(d, a, 1, 1, 1, 8, 8);
                case 'a': return vconv_s162f16a(d, a, 1, 1, 1, 8, 8);
                case 'f': return vconv_s162f16f(d, a, 1, 1, 1, 8, 8);
                case 'c': return vconv_s162f16c(d, a, 1, 1, 1, 8, 8);
                default: return vconv_s162f16z(d, a, 1, 1, 1, 8, 8);
            }
        }, [&](int16_t v) { return Rounded(all_half, v, mode); });
    }
    Check<int16_t, int32_t>("vconv_s322s16", Integers<int32_t>(), CALL(vconv_s322s16, int16_t, int32_t), [](int32_t v) { return Clamped<int16_t>(v); });
    Check<int32_t, int64_t>("vconv_s642s32", Integers<int64_t>(), CALL(vconv_s642s32, int32_t, int64_t), [](int64_t v) { return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(v, INT32_MIN), INT32_MAX)); });
    std::vector<half> some_half;
    for (size_t i = 0; i < all_half.size(); i += 5) some_half.push_back(all_half[i]);
    Check<float, half>("vconv_f162f32", some_half, CALL(vconv_f162f32, float, half), [](half v) { return static_cast<float>(v); });
    return Report("isa_convert");
}
