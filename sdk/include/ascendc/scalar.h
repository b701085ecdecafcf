// Scalar arithmetic helpers.
#ifndef ASCENDC_SCALAR_H
#define ASCENDC_SCALAR_H

#include "ascendc/defs.h"
#include "ascendsim/isa.h"

namespace AscendC {

ASC_API constexpr uint32_t DivCeil(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
ASC_API constexpr int32_t CeilDivision(int32_t num1, int32_t num2) { return num2 == 0 ? 0 : (num1 + num2 - 1) / num2; }
ASC_API constexpr uint32_t Ceil(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
ASC_API constexpr uint32_t AlignUp(uint32_t a, uint32_t b) { return Ceil(a, b) * b; }
ASC_API constexpr int32_t CeilNoLog(int32_t num1, int32_t num2) { return num2 == 0 ? 0 : (num1 + num2 - 1) / num2; }

/// Kernels call it for other dtypes too, in branches that only bfloat16_t takes.
template <typename T>
ASC_API float ToFloat(const T& value)
{
    return static_cast<float>(value);
}
ASC_API bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }
ASC_API half ToHalf(const float& value) { return half(value); }

namespace detail {
ASC_API float RoundFloat(float value, RoundMode mode)
{
    switch (mode) {
        case RoundMode::CAST_NONE: // where something is lost
        case RoundMode::CAST_RINT: return __builtin_rintf(value);
        case RoundMode::CAST_FLOOR: return __builtin_floorf(value);
        case RoundMode::CAST_CEIL: return __builtin_ceilf(value);
        case RoundMode::CAST_ROUND: return __builtin_roundf(value);
        default: return __builtin_truncf(value);
    }
}

/// What does not fit becomes the nearest that does, NaN 0, as the conversions of the vector unit.
ASC_API int32_t SaturatedInt(float value)
{
    if (value != value) {
        return 0;
    }
    constexpr float limit = 2147483648.0f;
    return value >= limit ? INT32_MAX : (value < -limit ? INT32_MIN : static_cast<int32_t>(value));
}

/// 16-bit float with an odd last bit when `value` does not fit exactly.
ASC_API half OddHalf(float value)
{
    const half near(value);
    if (static_cast<float>(near) == value || value != value) {
        return near;
    }
    // The neighbour towards zero has the smaller magnitude; setting its last bit gives the odd one of the two.
    const float magnitude = value < 0 ? -value : value;
    const float rounded = near < half(0) ? -static_cast<float>(near) : static_cast<float>(near);
    const uint16_t below = static_cast<uint16_t>(rounded > magnitude ? near.Bits() - 1 : near.Bits());
    return half::FromBits(static_cast<uint16_t>(below | 1u));
}
}  // namespace detail

/// Scalar conversion with a rounding mode: float to half or int32, half to int32, int32 to float and half.
template <typename T, typename U, RoundMode roundMode>
ASC_API U ScalarCast(T valueIn)
{
    static_assert(
        SupportType<Tuple<T, U>, Tuple<float, half>, Tuple<float, int32_t>, Tuple<half, int32_t>,
                    Tuple<int32_t, float>, Tuple<int32_t, half>>(),
        "ScalarCast: this pair of dtypes is not available on NPU architecture 2201");
    ascendsim::ScalarOps(1);
    if constexpr (std::is_same<U, half>::value && std::is_same<T, float>::value) {
        if constexpr (roundMode == RoundMode::CAST_ODD) {
            return detail::OddHalf(valueIn);
        }
        return half(valueIn);
    } else if constexpr (std::is_same<U, int32_t>::value) {
        return detail::SaturatedInt(detail::RoundFloat(static_cast<float>(valueIn), roundMode));
    } else {
        return static_cast<U>(valueIn);
    }
}
template <typename T, typename U, RoundMode roundMode>
ASC_API U Cast(T valueIn)
{
    return ScalarCast<T, U, roundMode>(valueIn);
}
ASC_API bfloat16_t Cast(const float& value) { return bfloat16_t(value); }
ASC_API float Cast(const bfloat16_t& value) { return static_cast<float>(value); }

/// Number of bits of `value` that equal countValue.
template <int countValue>
ASC_API int64_t ScalarGetCountOfValue(uint64_t value)
{
    ascendsim::ScalarOps(1);
    return countValue == 1 ? bcnt1(value) : bcnt0(value);
}
ASC_API int64_t ScalarCountLeadingZero(uint64_t value)
{
    ascendsim::ScalarOps(1);
    return clz(value);
}
ASC_API int64_t CountBitsCntSameAsSignBit(int64_t value)
{
    ascendsim::ScalarOps(1);
    return sflbits(value);
}
/// Position of the lowest bit that equals countValue.
template <int countValue>
ASC_API int64_t ScalarGetSFFValue(uint64_t value)
{
    ascendsim::ScalarOps(1);
    return countValue == 1 ? sff1(value) : sff0(value);
}

// The newer names of the same.
template <int countValue>
ASC_API int64_t GetBitCount(uint64_t value)
{
    return ScalarGetCountOfValue<countValue>(value);
}
ASC_API int64_t CountLeadingZero(uint64_t value) { return ScalarCountLeadingZero(value); }
template <int countValue>
ASC_API int64_t GetSFFValue(uint64_t value)
{
    return ScalarGetSFFValue<countValue>(value);
}

/// Numbers that turn division of an unsigned x by `divisor` into ((x * magic >> bits) + x) >> shift, where the sum has one
/// more bit than T and bits is the width of T.
template <typename T>
ASC_API void GetUintDivMagicAndShift(T& magic, T& shift, T divisor)
{
    static_assert(SupportType<T, uint32_t, uint64_t>(), "GetUintDivMagicAndShift: takes uint32_t and uint64_t");
    using Wide = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;
    constexpr uint32_t bits = sizeof(T) * 8;
    T power = 0;
    while (power < bits && (Wide(1) << power) < divisor) {
        ++power;
    }
    shift = power;
    magic = divisor == 0 ? T(0) : static_cast<T>((Wide(1) << bits) * ((Wide(1) << power) - divisor) / divisor + 1);
}

/// Past the scalar unit's data cache.
template <typename T>
ASC_API void WriteGmByPassDCache(__gm__ T* addr, T value)
{
    static_assert(sizeof(T) <= 8, "WriteGmByPassDCache: takes scalars");
    using Word = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    Word word;
    __builtin_memcpy(&word, &value, sizeof(T));
    st_dev(word, reinterpret_cast<__gm__ Word*>(addr), 0);
}
template <typename T>
ASC_API T ReadGmByPassDCache(__gm__ T* addr)
{
    static_assert(sizeof(T) <= 8, "ReadGmByPassDCache: takes scalars");
    using Word = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    const Word word = ld_dev(reinterpret_cast<__gm__ Word*>(addr), 0);
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &word, sizeof(T));
    return value;
}

/// The bits of a scalar in the low end of a word.
template <typename T>
ASC_API uint64_t GetScalarBitcodeValue(T value)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace AscendC

#endif
