// Conversions between element types in every rounding mode. Integers saturate; NaN becomes zero.
#include <cmath>
#include <limits>

#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

inline uint16_t BitsOf(half value) { return value.Bits(); }
inline uint16_t BitsOf(bfloat16_t value) { return value.Bits(); }
inline uint32_t BitsOf(float value) { return FloatBits(value); }
inline half FromBitsOf(half, uint16_t bits) { return half::FromBits(bits); }
inline bfloat16_t FromBitsOf(bfloat16_t, uint16_t bits) { return bfloat16_t::FromBits(bits); }
inline float FromBitsOf(float, uint32_t bits) { return FloatFromBits(bits); }

template <typename N>
inline N Step(N value, int by)
{
    return FromBitsOf(value, static_cast<decltype(BitsOf(value))>(BitsOf(value) + by));
}

/// `value` in the narrower format N, rounded by mode a, f, c, z or o. One by one and for all modes, which kernels seldom ask for.
template <typename N, typename V>
__attribute__((noinline)) N Directed(char mode, V value)
{
    const N near = N(value);
    const V back = static_cast<V>(static_cast<float>(near));
    if (back == value || value != value || value - value != 0) {
        return near;
    }
    const V size = value < 0 ? -value : value;
    // The neighbour towards zero; formats are sign and magnitude, so it is one less as a number.
    const N inner = (back < 0 ? -back : back) > size ? Step(near, -1) : near;
    switch (mode) {
        case 'z':
            return inner;
        case 'f':
            return value < 0 ? Step(inner, 1) : inner;
        case 'c':
            return value > 0 ? Step(inner, 1) : inner;
        case 'o':
            return FromBitsOf(inner, static_cast<decltype(BitsOf(inner))>(BitsOf(inner) | 1u));
        default: {
            const V low = std::fabs(static_cast<V>(static_cast<float>(inner)));
            const float above = static_cast<float>(Step(inner, 1));
            // The step above the largest number is as wide as the one below it.
            const V high = std::isinf(above) ? 2 * low - std::fabs(static_cast<V>(static_cast<float>(Step(inner, -1))))
                                             : std::fabs(static_cast<V>(above));
            return size - low >= high - size ? Step(inner, 1) : inner;
        }
    }
}

template <char kMode>
inline float Integral(float value)
{
    switch (kMode) {
        case 'f':
            return __builtin_floorf(value);
        case 'c':
            return __builtin_ceilf(value);
        case 'z':
            return __builtin_truncf(value);
        case 'a':
            return __builtin_roundf(value);
        default:
            return __builtin_nearbyintf(value);
    }
}

template <char kMode>
__attribute__((noinline)) void MakeIntegral(const float* from, float* to, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        to[i] = Integral<kMode>(from[i]);
    }
}

/// Integers, given as floats, in a type that they may not fit into.
template <typename D>
__attribute__((noinline)) void Saturate(const float* from, D* to, size_t n)
{
    // The upper bound is a power of two and exact in float, unlike the largest integer.
    const float bound = -2.0f * static_cast<float>(std::numeric_limits<D>::min() / 2);
    const float low = std::is_signed<D>::value ? -bound : 0.0f;
    const float high = std::is_signed<D>::value ? bound : static_cast<float>(uint64_t{1} << (8 * sizeof(D) % 64));
    const auto one = [low, high](float value) -> D {
        if (value != value) {
            return D(0);
        }
        if (value < low) {
            return std::numeric_limits<D>::min();
        }
        return value >= high ? std::numeric_limits<D>::max() : static_cast<D>(value);
    };
    for (size_t i = 0; i < n; ++i) {
        to[i] = one(from[i]);
    }
}

/// Elements that go through float together: many at a time cost a fraction of one by one.
constexpr size_t kPiece = 256;

inline size_t PieceAt(size_t done, size_t n) { return n - done < kPiece ? n - done : kPiece; }

/// Rounded and then converted, so that a way of rounding and a type are compiled once each, and not each for each.
template <typename D, typename S, char kMode>
void RunToInteger(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    float piece[kPiece];
    for (size_t done = 0; done < n; done += kPiece) {
        const size_t count = PieceAt(done, n);
        if constexpr (sizeof(S) == sizeof(half)) {
            Widen(a + done, piece, count);
            MakeIntegral<kMode>(piece, piece, count);
        } else {
            MakeIntegral<kMode>(a + done, piece, count);
        }
        Saturate(piece, d + done, count);
    }
}

template <typename D, typename S, char kMode>
void RunToFloat(const void*, uint8_t* const* p, size_t n)
{
    using V = std::conditional_t<sizeof(S) == 8, long double, double>;
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    for (size_t i = 0; i < n; ++i) {
        if constexpr (kMode == 'r') {
            d[i] = D(static_cast<V>(a[i]));
        } else {
            d[i] = Directed<D>(kMode, static_cast<V>(a[i]));
        }
    }
}

template <char kMode>
void RunIntegral(const void*, uint8_t* const* p, size_t n)
{
    MakeIntegral<kMode>(reinterpret_cast<const float*>(p[1]), reinterpret_cast<float*>(p[0]), n);
}

/// Exact widening, and narrowing with saturation, between integers.
template <typename D, typename S>
void RunInteger(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    for (size_t i = 0; i < n; ++i) {
        const auto value = static_cast<int64_t>(a[i]);
        const int64_t low = std::numeric_limits<D>::min();
        const int64_t high = std::numeric_limits<D>::max();
        d[i] = static_cast<D>(value < low ? low : value > high ? high : value);
    }
}

template <typename S>
void RunWiden(const void*, uint8_t* const* p, size_t n)
{
    Widen(reinterpret_cast<const S*>(p[1]), reinterpret_cast<float*>(p[0]), n);
}

void RunNarrow(const void*, uint8_t* const* p, size_t n)
{
    Narrow(reinterpret_cast<const float*>(p[1]), reinterpret_cast<half*>(p[0]), n);
}

/// Plain conversion by the language: exact, or to nearest even.
template <typename D, typename S>
void RunPlain(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    ASCENDSIM_IVDEP
    for (size_t i = 0; i < n; ++i) {
        d[i] = static_cast<D>(a[i]);
    }
}

/// Integers that float holds exactly, to the nearest half.
template <typename S>
void RunIntegerToHalf(const void*, uint8_t* const* p, size_t n)
{
    static_assert(sizeof(S) <= 2, "every value is a float");
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    float piece[kPiece];
    for (size_t done = 0; done < n; done += kPiece) {
        const size_t count = PieceAt(done, n);
        for (size_t i = 0; i < count; ++i) {
            piece[i] = static_cast<float>(a[done + i]);
        }
        Narrow(piece, d + done, count);
    }
}

void RunDequant(const void* context, uint8_t* const* p, size_t n)
{
    const double scale = static_cast<float>(*static_cast<const half*>(context));
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const int32_t*>(p[1]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = half(static_cast<double>(a[i]) * scale);
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define BODY(name, D, S, run)                                                  \
    void name ASCENDSIM_ARGS1(D, S)                                            \
    {                                                                          \
        ASCENDSIM_ISSUE1(name, D, sizeof(D), S, sizeof(S), ascendsim::kWrite)  \
        Elementwise(issue, run, nullptr);                                      \
    }
#define BODY5(name, D, S, run)             \
    BODY(name##r, D, S, (run<D, S, 'r'>))  \
    BODY(name##a, D, S, (run<D, S, 'a'>))  \
    BODY(name##f, D, S, (run<D, S, 'f'>))  \
    BODY(name##c, D, S, (run<D, S, 'c'>))  \
    BODY(name##z, D, S, (run<D, S, 'z'>))
#define BODY4(name, D, S, run)             \
    BODY(name##a, D, S, (run<D, S, 'a'>))  \
    BODY(name##f, D, S, (run<D, S, 'f'>))  \
    BODY(name##c, D, S, (run<D, S, 'c'>))  \
    BODY(name##z, D, S, (run<D, S, 'z'>))

BODY(vconv_f162f32, float, half, RunWiden<half>)
BODY(vconv_bf162f32, float, bfloat16_t, RunWiden<bfloat16_t>)
BODY5(vconv_bf162s32, int32_t, bfloat16_t, RunToInteger)
BODY5(vconv_f162s16, int16_t, half, RunToInteger)
BODY5(vconv_f162s32, int32_t, half, RunToInteger)
BODY(vconv_f162s8, int8_t, half, (RunToInteger<int8_t, half, 'r'>))
BODY5(vconv_f162s8, int8_t, half, RunToInteger)
BODY(vconv_f162u8, uint8_t, half, (RunToInteger<uint8_t, half, 'r'>))
BODY5(vconv_f162u8, uint8_t, half, RunToInteger)
BODY(vconv_f322bf16r, bfloat16_t, float, (RunPlain<bfloat16_t, float>))
BODY4(vconv_f322bf16, bfloat16_t, float, RunToFloat)
BODY(vconv_f322f16, half, float, RunNarrow)
BODY(vconv_f322f16r, half, float, RunNarrow)
BODY4(vconv_f322f16, half, float, RunToFloat)
BODY(vconv_f322f16o, half, float, (RunToFloat<half, float, 'o'>))
BODY(vconv_f322f32r, float, float, RunIntegral<'r'>)
BODY(vconv_f322f32a, float, float, RunIntegral<'a'>)
BODY(vconv_f322f32f, float, float, RunIntegral<'f'>)
BODY(vconv_f322f32c, float, float, RunIntegral<'c'>)
BODY(vconv_f322f32z, float, float, RunIntegral<'z'>)
BODY5(vconv_f322s16, int16_t, float, RunToInteger)
BODY5(vconv_f322s32, int32_t, float, RunToInteger)
BODY5(vconv_f322s64, int64_t, float, RunToInteger)
BODY(vconv_s162f16, half, int16_t, RunIntegerToHalf<int16_t>)
BODY5(vconv_s162f16, half, int16_t, RunToFloat)
BODY(vconv_s162f32, float, int16_t, (RunPlain<float, int16_t>))
BODY(vconv_s322f32, float, int32_t, (RunPlain<float, int32_t>))
BODY5(vconv_s322f32, float, int32_t, RunToFloat)
BODY(vconv_s322s16, int16_t, int32_t, (RunInteger<int16_t, int32_t>))
BODY(vconv_s322s64, int64_t, int32_t, (RunInteger<int64_t, int32_t>))
BODY5(vconv_s642f32, float, int64_t, RunToFloat)
BODY(vconv_s642s32, int32_t, int64_t, (RunInteger<int32_t, int64_t>))
BODY(vconv_s82f16, half, int8_t, RunIntegerToHalf<int8_t>)
BODY(vconv_u82f16, half, uint8_t, RunIntegerToHalf<uint8_t>)
#undef BODY
#undef BODY5
#undef BODY4

void vconv_deq ASCENDSIM_ARGS1(half, int32_t)
{
    ASCENDSIM_ISSUE1(vconv_deq, half, sizeof(half), int32_t, sizeof(int32_t), ascendsim::kWrite)
    const half scale = half::FromBits(Current().deq_scale);
    Elementwise(issue, RunDequant, &scale);
}

void set_deqscale(half scale)
{
    NoteValue(Current(), scale);
    Current().deq_scale = scale.Bits();
}
