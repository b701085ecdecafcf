// Language words and scalar types of Ascend C for a plain C++17 compiler.
//
// Kernels are compiled by g++ or clang++: address space and function qualifiers become empty
// macros, and the 16-bit floating-point types become literal classes.
#ifndef ASCENDSIM_TYPES_H
#define ASCENDSIM_TYPES_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Function qualifiers.
#define __aicore__
#define __global__
#define __vector__
#define __cube__
#define __mix__(...)
#define __aiv__
#define __aic__
#define __schedmode__(...)
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __sync_alias__
#define __sync_noalias__
#define __check_sync_alias__
#define __no_simd_vf_fusion__
#define __kernel_name__(...)
#define __host__
#define __host_aicore__
#define __simd_callee__
#define __simt_callee__
#define __simd_vf__
#define __simt_vf__
#define __VEC_SCOPE__
#define __sync_in__
#define __sync_out__
#define __kfc_workspace__
#define LAUNCH_BOUND(threads)
#define ASCENDC_HOST_AICORE
#define __enable_feature_for_compile_default KernelMetaType::KERNEL_TYPE_AIV_ONLY

// Address space qualifiers. GM and UB addresses are host addresses here.
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __ssbuf__
#define __biasbuf__
#define __BLOCK_LOCAL__
#define __WORKGROUP_LOCAL__
#define __block_local__
#define __workgroup_local__
// Tiling data may be read but not written, wherever it lies.
#ifndef __tiling_data_ptr__
#define __tiling_data_ptr__ const
#endif
#ifndef __disable_kernel_type_autoinfer__
#define __disable_kernel_type_autoinfer__
#endif

#define GM_ADDR __gm__ uint8_t*

// API-floor functions must be inlined: an instruction then sees a return address inside the
// kernel, and the debug information's inline frames give the kernel's own line. Who asks for no lines, as most of the SDK's
// own tests, defines it otherwise: what calls large library functions then compiles in a fraction of the time.
#ifndef ASC_API
#define ASC_API inline __attribute__((always_inline))
#endif

namespace ascendsim {

/// Bits of an IEEE binary16 nearest to `bits` (a binary32), ties to even.
constexpr uint16_t HalfBitsFromFloatBits(uint32_t bits)
{
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t mag = bits & 0x7FFFFFFFu;
    if (mag > 0x7F800000u) {
        // Keep the upper payload bits and quieten the NaN, as the F16C instructions do.
        return static_cast<uint16_t>(sign | 0x7E00u | ((mag >> 13) & 0x3FFu));
    }
    if (mag >= 0x477FF000u) {  // 65520 and above round to infinity
        return static_cast<uint16_t>(sign | 0x7C00u);
    }
    if (mag >= 0x38800000u) {  // normal result: rebias, round on the 13 bits that go
        const uint32_t rebased = mag - 0x38000000u;
        return static_cast<uint16_t>(sign | ((rebased + 0xFFFu + ((rebased >> 13) & 1u)) >> 13));
    }
    if (mag < 0x33000000u) {  // below half of the smallest subnormal
        return static_cast<uint16_t>(sign);
    }
    const uint32_t shift = 126u - (mag >> 23);
    const uint32_t mant = (mag & 0x7FFFFFu) | 0x800000u;
    const uint32_t kept = mant >> shift;
    const uint32_t rest = mant & ((1u << shift) - 1u);
    const uint32_t tie = 1u << (shift - 1u);
    const uint32_t up = (rest > tie || (rest == tie && (kept & 1u) != 0u)) ? 1u : 0u;
    return static_cast<uint16_t>(sign | (kept + up));
}

/// Binary32 bits of a binary16 (exact).
constexpr uint32_t FloatBitsFromHalfBits(uint16_t bits)
{
    const uint32_t sign = (static_cast<uint32_t>(bits) & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 0x1Fu;
    uint32_t mant = bits & 0x3FFu;
    if (exponent == 0x1Fu) {
        return sign | 0x7F800000u | (mant << 13) | (mant != 0u ? 0x400000u : 0u);
    }
    if (exponent == 0u) {
        if (mant == 0u) {
            return sign;
        }
        uint32_t rebased = 113u;
        while ((mant & 0x400u) == 0u) {
            mant <<= 1;
            --rebased;
        }
        return sign | (rebased << 23) | ((mant & 0x3FFu) << 13);
    }
    return sign | ((exponent + 112u) << 23) | (mant << 13);
}

/// Bits of a bfloat16 nearest to `bits` (a binary32), ties to even.
constexpr uint16_t BrainBitsFromFloatBits(uint32_t bits)
{
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return static_cast<uint16_t>((bits >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

constexpr uint32_t FloatBits(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float FloatFromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Float with the last bit set when `value` does not fit: rounding that to 16 bits afterwards
/// gives the same result as rounding `value` at once.
constexpr float StickyFloat(double value)
{
    const float near = static_cast<float>(value);
    const double back = static_cast<double>(near);
    if (back == value || value != value || near - near != 0.0f) {
        return near;
    }
    uint32_t bits = FloatBits(near);
    const bool outward = value > 0 ? back > value : back < value;
    if (outward) {
        --bits;
    }
    return FloatFromBits(bits | 1u);
}

template <typename T>
using EnableArithmetic = std::enable_if_t<std::is_arithmetic<T>::value, int>;

template <typename T>
constexpr float FloatForRounding(T value)
{
    if constexpr (std::is_same<T, float>::value) {
        return value;
    } else {
        return StickyFloat(static_cast<double>(value));
    }
}

}  // namespace ascendsim

class bfloat16_t;

/// IEEE binary16. Arithmetic between halves is computed in binary32 and rounded once.
class half {
public:
    half() = default;
    template <typename T, ascendsim::EnableArithmetic<T> = 0>
    constexpr half(T value)
        : bits_(ascendsim::HalfBitsFromFloatBits(ascendsim::FloatBits(ascendsim::FloatForRounding(value))))
    {}
    explicit constexpr half(bfloat16_t value);

    constexpr operator float() const { return ascendsim::FloatFromBits(ascendsim::FloatBitsFromHalfBits(bits_)); }

    /// The half whose representation is `bits`.
    static constexpr half FromBits(uint16_t bits)
    {
        half value{};
        value.bits_ = bits;
        return value;
    }
    constexpr uint16_t Bits() const { return bits_; }
    constexpr float ToFloat() const { return static_cast<float>(*this); }

private:
    uint16_t bits_;
};

/// bfloat16: the upper half of a binary32.
class bfloat16_t {
public:
    bfloat16_t() = default;
    template <typename T, ascendsim::EnableArithmetic<T> = 0>
    constexpr bfloat16_t(T value)
        : bits_(ascendsim::BrainBitsFromFloatBits(ascendsim::FloatBits(ascendsim::FloatForRounding(value))))
    {}
    explicit constexpr bfloat16_t(half value)
        : bits_(ascendsim::BrainBitsFromFloatBits(ascendsim::FloatBits(static_cast<float>(value))))
    {}

    constexpr operator float() const { return ascendsim::FloatFromBits(static_cast<uint32_t>(bits_) << 16); }

    /// The bfloat16 whose representation is `bits`.
    static constexpr bfloat16_t FromBits(uint16_t bits)
    {
        bfloat16_t value{};
        value.bits_ = bits;
        return value;
    }
    constexpr uint16_t Bits() const { return bits_; }
    constexpr float ToFloat() const { return static_cast<float>(*this); }

private:
    uint16_t bits_;
};

constexpr half::half(bfloat16_t value)
    : bits_(ascendsim::HalfBitsFromFloatBits(ascendsim::FloatBits(static_cast<float>(value))))
{}

namespace ascendsim {
/// Type of `H op T`: floating-point partners win, integers do not widen a 16-bit float.
template <typename H, typename T>
using Promoted = std::conditional_t<std::is_floating_point<T>::value, T, H>;
}  // namespace ascendsim

#define ASCENDSIM_ARITHMETIC(H, op)                                                          \
    constexpr H operator op(H a, H b) { return H(static_cast<float>(a) op static_cast<float>(b)); } \
    template <typename T, ascendsim::EnableArithmetic<T> = 0>                                \
    constexpr ascendsim::Promoted<H, T> operator op(H a, T b)                                \
    {                                                                                        \
        using R = ascendsim::Promoted<H, T>;                                                 \
        using C = std::conditional_t<std::is_floating_point<T>::value, T, float>;            \
        return R(static_cast<C>(static_cast<float>(a)) op static_cast<C>(b));                \
    }                                                                                        \
    template <typename T, ascendsim::EnableArithmetic<T> = 0>                                \
    constexpr ascendsim::Promoted<H, T> operator op(T a, H b)                                \
    {                                                                                        \
        using R = ascendsim::Promoted<H, T>;                                                 \
        using C = std::conditional_t<std::is_floating_point<T>::value, T, float>;            \
        return R(static_cast<C>(a) op static_cast<C>(static_cast<float>(b)));                \
    }                                                                                        \
    template <typename T>                                                                    \
    constexpr H& operator op##=(H& a, T b)                                                   \
    {                                                                                        \
        a = static_cast<H>(a op b);                                                          \
        return a;                                                                            \
    }

#define ASCENDSIM_COMPARISON(H, op)                                                          \
    constexpr bool operator op(H a, H b) { return static_cast<float>(a) op static_cast<float>(b); } \
    template <typename T, ascendsim::EnableArithmetic<T> = 0>                                \
    constexpr bool operator op(H a, T b)                                                     \
    {                                                                                        \
        return static_cast<double>(static_cast<float>(a)) op static_cast<double>(b);         \
    }                                                                                        \
    template <typename T, ascendsim::EnableArithmetic<T> = 0>                                \
    constexpr bool operator op(T a, H b)                                                     \
    {                                                                                        \
        return static_cast<double>(a) op static_cast<double>(static_cast<float>(b));         \
    }

#define ASCENDSIM_OPERATORS(H)                                                               \
    ASCENDSIM_ARITHMETIC(H, +)                                                               \
    ASCENDSIM_ARITHMETIC(H, -)                                                               \
    ASCENDSIM_ARITHMETIC(H, *)                                                               \
    ASCENDSIM_ARITHMETIC(H, /)                                                               \
    ASCENDSIM_COMPARISON(H, ==)                                                              \
    ASCENDSIM_COMPARISON(H, !=)                                                              \
    ASCENDSIM_COMPARISON(H, <)                                                               \
    ASCENDSIM_COMPARISON(H, <=)                                                              \
    ASCENDSIM_COMPARISON(H, >)                                                               \
    ASCENDSIM_COMPARISON(H, >=)                                                              \
    constexpr H operator-(H a) { return H::FromBits(static_cast<uint16_t>(a.Bits() ^ 0x8000u)); } \
    constexpr H operator+(H a) { return a; }                                                 \
    constexpr H& operator++(H& a)                                                            \
    {                                                                                        \
        a = a + H(1);                                                                        \
        return a;                                                                            \
    }                                                                                        \
    constexpr H& operator--(H& a)                                                            \
    {                                                                                        \
        a = a - H(1);                                                                        \
        return a;                                                                            \
    }                                                                                        \
    constexpr H operator++(H& a, int)                                                        \
    {                                                                                        \
        const H before = a;                                                                  \
        ++a;                                                                                 \
        return before;                                                                       \
    }                                                                                        \
    constexpr H operator--(H& a, int)                                                        \
    {                                                                                        \
        const H before = a;                                                                  \
        --a;                                                                                 \
        return before;                                                                       \
    }

ASCENDSIM_OPERATORS(half)
ASCENDSIM_OPERATORS(bfloat16_t)

#undef ASCENDSIM_OPERATORS
#undef ASCENDSIM_COMPARISON
#undef ASCENDSIM_ARITHMETIC

// The device compiler's own name of the type. A word of clang that this target does not have.
#define __bf16 bfloat16_t

using float16_t = half;
using float32_t = float;

// Types of later architectures that headers name. They hold bits; architecture 2201 computes with none of them.
#define ASCENDSIM_STORAGE(name)                                               \
    struct name {                                                             \
        uint8_t val;                                                          \
        constexpr bool operator==(name other) const { return val == other.val; } \
        constexpr bool operator!=(name other) const { return val != other.val; } \
    };
ASCENDSIM_STORAGE(fp8_e5m2_t)
ASCENDSIM_STORAGE(fp8_e4m3fn_t)
ASCENDSIM_STORAGE(fp8_e8m0_t)
ASCENDSIM_STORAGE(hifloat8_t)
ASCENDSIM_STORAGE(fp4x2_e2m1_t)
ASCENDSIM_STORAGE(fp4x2_e1m2_t)
#undef ASCENDSIM_STORAGE
/// Two four-bit integers, the first in the lower half.
struct int4x2_t {
    uint8_t data;
    constexpr bool operator==(int4x2_t other) const { return data == other.data; }
    constexpr bool operator!=(int4x2_t other) const { return data != other.data; }
};

/// Execution units. The numbers are the toolkit's, because kernels use them as template arguments.
enum pipe_t {
    PIPE_S = 0,
    PIPE_V = 1,
    PIPE_M = 2,
    PIPE_MTE1 = 3,
    PIPE_MTE2 = 4,
    PIPE_MTE3 = 5,
    PIPE_ALL = 6,
    PIPE_MTE4 = 7,
    PIPE_MTE5 = 8,
    PIPE_V2 = 9,
    PIPE_FIX = 10
};

enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

enum mem_dsb_t { DSB_ALL = 0, DSB_DDR, DSB_UB, DSB_SEQ };
enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum Order_t { VALUE_INDEX = 0, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
enum ub_addr8_t { VA0 = 0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
enum vpart_t { L128 = 0, H128 };

// Device code calls these unqualified at global scope. They are templates so that the
// non-template overloads of a C math header, where one is included, stay preferred.
template <typename A, typename B, ascendsim::EnableArithmetic<A> = 0, ascendsim::EnableArithmetic<B> = 0>
constexpr std::common_type_t<A, B> min(A a, B b)
{
    using C = std::common_type_t<A, B>;
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <typename A, typename B, ascendsim::EnableArithmetic<A> = 0, ascendsim::EnableArithmetic<B> = 0>
constexpr std::common_type_t<A, B> max(A a, B b)
{
    using C = std::common_type_t<A, B>;
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}
constexpr half min(half a, half b) { return b < a ? b : a; }
constexpr half max(half a, half b) { return a < b ? b : a; }
template <typename T, ascendsim::EnableArithmetic<T> = 0>
constexpr T abs(T value)
{
    return value < T(0) ? static_cast<T>(-value) : value;
}
constexpr half abs(half value) { return half::FromBits(static_cast<uint16_t>(value.Bits() & 0x7FFFu)); }
template <typename T, std::enable_if_t<std::is_same<T, float>::value || std::is_same<T, half>::value, int> = 0>
inline T sqrt(T value)
{
    return static_cast<T>(__builtin_sqrtf(static_cast<float>(value)));
}

#endif
