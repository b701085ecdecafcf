// Lane-by-lane vector instructions against scalar models: random operands, masks, strides and repeats, in both mask modes.
#include "isa_model.h"

using namespace isa_test;

namespace {

template <typename T>
T Saturated(double value)
{
    if (value != value) {
        return T(0);
    }
    const auto low = static_cast<double>(std::numeric_limits<T>::min());
    const auto high = static_cast<double>(std::numeric_limits<T>::max());
    return value <= low ? std::numeric_limits<T>::min() : value >= high ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

/// Arithmetic of the vector unit: floats round once from float, 16-bit integers saturate, 32-bit integers wrap.
template <typename T>
T Result(double exact, float single)
{
    if constexpr (std::is_same<T, int32_t>::value) {
        return static_cast<T>(static_cast<uint32_t>(static_cast<int64_t>(exact)));
    } else if constexpr (std::is_integral<T>::value) {
        return Saturated<T>(exact);
    } else {
        return T(single);
    }
}

float Single(double value) { return static_cast<float>(value); }

double Rounded(double value, char mode)
{
    switch (mode) {
        case 'a':
            return std::round(value);
        case 'f':
            return std::floor(value);
        case 'c':
            return std::ceil(value);
        case 'z':
            return std::trunc(value);
        default:
            return std::nearbyint(value);
    }
}

/// Narrowing by trying the neighbours of the nearest value and keeping the one that the mode asks for.
template <typename N, typename V>
N NarrowTo(V value, char mode)
{
    const N near = N(value);
    if (Wide(near) == static_cast<double>(value) || value != value || std::isinf(static_cast<double>(value))) {
        return near;
    }
    const auto step = [](N from, int by) {
        if constexpr (sizeof(N) == 2) {
            return N::FromBits(static_cast<uint16_t>(from.Bits() + by));
        } else {
            return ascendsim::FloatFromBits(ascendsim::FloatBits(from) + static_cast<uint32_t>(by));
        }
    };
    const long double exact = static_cast<long double>(value);
    const bool outward = std::fabs(static_cast<long double>(Wide(near))) > std::fabs(exact) || std::isinf(Wide(near));
    const N inner = outward ? step(near, -1) : near;
    const N outer = outward ? near : step(near, 1);
    switch (mode) {
        case 'z':
            return inner;
        case 'f':
            return value < 0 ? outer : inner;
        case 'c':
            return value < 0 ? inner : outer;
        case 'o':
            if constexpr (sizeof(N) == 2) {
                return (inner.Bits() & 1u) != 0 ? inner : outer;
            }
            return inner;
        case 'a': {
            const long double to_inner = std::fabs(exact - static_cast<long double>(Wide(inner)));
            // The step beyond the largest finite number is as wide as the one below it.
            const long double to_outer = std::isinf(Wide(outer))
                                             ? std::fabs(static_cast<long double>(Wide(inner)) - static_cast<long double>(Wide(step(inner, -1)))) - to_inner
                                             : std::fabs(static_cast<long double>(Wide(outer)) - exact);
            return to_inner < to_outer ? inner : outer;
        }
        default:
            return near;
    }
}

#define BINARY(name, D, S, tolerance, expression)                                                              \
    CheckBinary<D, S>(#name " " #S, tolerance, [](auto... a) { name(a...); },                                  \
                      []([[maybe_unused]] S a, [[maybe_unused]] S b, [[maybe_unused]] D d) -> D { return expression; });
#define UNARY(name, D, S, tolerance, expression)                                                               \
    CheckUnary<D, S>(#name " " #S, tolerance, [](auto... a) { name(a...); },                                   \
                     []([[maybe_unused]] S a, [[maybe_unused]] D d) -> D { return expression; });

template <typename T>
void CheckArithmetic()
{
    BINARY(vadd, T, T, 0, (Result<T>(Wide(a) + Wide(b), Single(Wide(a)) + Single(Wide(b)))))
    BINARY(vsub, T, T, 0, (Result<T>(Wide(a) - Wide(b), Single(Wide(a)) - Single(Wide(b)))))
    if constexpr (std::is_same<T, int32_t>::value) {
        BINARY(vmul, T, T, 0, (static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b))))
    } else {
        BINARY(vmul, T, T, 0, (Result<T>(Wide(a) * Wide(b), Single(Wide(a)) * Single(Wide(b)))))
    }
    BINARY(vmax, T, T, 0, (Wide(a) > Wide(b) ? a : b))
    BINARY(vmin, T, T, 0, (Wide(a) < Wide(b) ? a : b))
}

template <typename T>
void CheckFloats()
{
    const double loose = sizeof(T) == 2 ? 1.0 / 1024 : 1e-6;
    const double estimate = sizeof(T) == 2 ? 1.0 / 256 : 1.0 / 4096;
    BINARY(vdiv, T, T, loose, (T(Single(Wide(a)) / Single(Wide(b)))))
    BINARY(vaddrelu, T, T, 0, (T(std::fmax(0.0f, Single(Wide(a)) + Single(Wide(b))))))
    BINARY(vsubrelu, T, T, 0, (T(std::fmax(0.0f, Single(Wide(a)) - Single(Wide(b))))))
    UNARY(vabs, T, T, 0, (T(std::fabs(Single(Wide(a))))))
    UNARY(vrelu, T, T, 0, (T(Wide(a) > 0 ? Single(Wide(a)) : 0.0f)))
    UNARY(vexp, T, T, loose, (T(Single(std::exp(Wide(a))))))
    UNARY(vln, T, T, loose * 4, (T(Single(std::log(Wide(a))))))
    UNARY(vsqrt, T, T, loose, (T(Single(std::sqrt(Wide(a))))))
    UNARY(vrsqrt, T, T, estimate, (T(Single(1 / std::sqrt(Wide(a))))))
    UNARY(vrec, T, T, estimate, (T(1.0f / Single(Wide(a)))))
}

#define SCALAR(name, T, value, expression)                                                                                \
    {                                                                                                                     \
        const T v = value;                                                                                                \
        CheckUnary<T, T>(#name " " #T, 0,                                                                                 \
                         [v](T* d, T* s, uint32_t r, uint32_t db, uint32_t sb, uint32_t ds, uint32_t ss) {                \
                             name(d, s, v, static_cast<uint8_t>(r), static_cast<uint16_t>(db), static_cast<uint16_t>(sb), \
                                  static_cast<uint16_t>(ds), static_cast<uint16_t>(ss));                                  \
                         },                                                                                               \
                         [v](T a, [[maybe_unused]] T d) -> T { return expression; });                                     \
    }

template <typename T>
void CheckScalars()
{
    SCALAR(vadds, T, Draw<T>(), (Result<T>(Wide(a) + Wide(v), Single(Wide(a)) + Single(Wide(v)))))
    if constexpr (std::is_same<T, int32_t>::value) {
        SCALAR(vmuls, T, Draw<T>(), (static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(v))))
    } else {
        SCALAR(vmuls, T, Draw<T>(), (Result<T>(Wide(a) * Wide(v), Single(Wide(a)) * Single(Wide(v)))))
    }
    SCALAR(vmaxs, T, Draw<T>(), (Wide(a) > Wide(v) ? a : v))
    SCALAR(vmins, T, Draw<T>(), (Wide(a) < Wide(v) ? a : v))
}

#define TO_INTEGER(name, D, S)                                                      \
    UNARY(name##r, D, S, 0, (Saturated<D>(Rounded(Wide(a), 'r'))))                  \
    UNARY(name##a, D, S, 0, (Saturated<D>(Rounded(Wide(a), 'a'))))                  \
    UNARY(name##f, D, S, 0, (Saturated<D>(Rounded(Wide(a), 'f'))))                  \
    UNARY(name##c, D, S, 0, (Saturated<D>(Rounded(Wide(a), 'c'))))                  \
    UNARY(name##z, D, S, 0, (Saturated<D>(Rounded(Wide(a), 'z'))))
#define NARROW(name, D, S)                                                          \
    UNARY(name##r, D, S, 0, (NarrowTo<D>(a, 'r')))                                  \
    UNARY(name##a, D, S, 0, (NarrowTo<D>(a, 'a')))                                  \
    UNARY(name##f, D, S, 0, (NarrowTo<D>(a, 'f')))                                  \
    UNARY(name##c, D, S, 0, (NarrowTo<D>(a, 'c')))                                  \
    UNARY(name##z, D, S, 0, (NarrowTo<D>(a, 'z')))

void CheckConversions()
{
    UNARY(vconv_f162f32, float, half, 0, (Single(Wide(a))))
    UNARY(vconv_bf162f32, float, bfloat16_t, 0, (Single(Wide(a))))
    TO_INTEGER(vconv_bf162s32, int32_t, bfloat16_t)
    TO_INTEGER(vconv_f162s16, int16_t, half)
    TO_INTEGER(vconv_f162s32, int32_t, half)
    TO_INTEGER(vconv_f162s8, int8_t, half)
    TO_INTEGER(vconv_f162u8, uint8_t, half)
    TO_INTEGER(vconv_f322s16, int16_t, float)
    TO_INTEGER(vconv_f322s32, int32_t, float)
    TO_INTEGER(vconv_f322s64, int64_t, float)
    NARROW(vconv_f322bf16, bfloat16_t, float)
    NARROW(vconv_f322f16, half, float)
    UNARY(vconv_f322f16o, half, float, 0, (NarrowTo<half>(a, 'o')))
    NARROW(vconv_s162f16, half, int16_t)
    NARROW(vconv_s322f32, float, int32_t)
    NARROW(vconv_s642f32, float, int64_t)
    UNARY(vconv_f322f32r, float, float, 0, (Single(Rounded(Wide(a), 'r'))))
    UNARY(vconv_f322f32a, float, float, 0, (Single(Rounded(Wide(a), 'a'))))
    UNARY(vconv_f322f32f, float, float, 0, (Single(Rounded(Wide(a), 'f'))))
    UNARY(vconv_f322f32c, float, float, 0, (Single(Rounded(Wide(a), 'c'))))
    UNARY(vconv_f322f32z, float, float, 0, (Single(Rounded(Wide(a), 'z'))))
    UNARY(vconv_f162s8, int8_t, half, 0, (Saturated<int8_t>(Rounded(Wide(a), 'r'))))
    UNARY(vconv_f162u8, uint8_t, half, 0, (Saturated<uint8_t>(Rounded(Wide(a), 'r'))))
    UNARY(vconv_f322f16, half, float, 0, (half(a)))
    UNARY(vconv_s162f16, half, int16_t, 0, (half(Single(a))))
    UNARY(vconv_s162f32, float, int16_t, 0, (Single(a)))
    UNARY(vconv_s322f32, float, int32_t, 0, (Single(a)))
    UNARY(vconv_s322s16, int16_t, int32_t, 0, (Saturated<int16_t>(a)))
    UNARY(vconv_s322s64, int64_t, int32_t, 0, (a))
    UNARY(vconv_s642s32, int32_t, int64_t, 0, (static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(a, INT32_MIN), INT32_MAX))))
    UNARY(vconv_s82f16, half, int8_t, 0, (half(Single(a))))
    UNARY(vconv_u82f16, half, uint8_t, 0, (half(Single(a))))
    set_deqscale(half(0.25f));
    UNARY(vconv_deq, half, int32_t, 0, (half(Single(static_cast<double>(a) * 0.25))))
}

/// Nibbles and half blocks: lanes of the 16-bit side, sixteen to a block, on both sides of the layout's strides.
void CheckNarrow()
{
    for (int round = 0; round < 24; ++round) {
        const Layout layout = DrawLayout(128);
        const auto nibble_at = [&](int operand, uint32_t step, uint32_t lane) {
            return (size_t{step} * layout.stride[operand] + size_t{lane / 64} * layout.block[operand]) * 32 + lane % 64 / 2;
        };
        FillWith<half>(0);
        FillWith<uint8_t>(1);
        std::vector<uint8_t> want = Image();
        EachLane(layout, 128, [&](uint32_t step, uint32_t lane) {
            const int nibble = want[kArea + nibble_at(1, step, lane)] >> (lane % 2 * 4) & 15;
            const half value(static_cast<float>(nibble > 7 ? nibble - 16 : nibble));
            std::memcpy(&want[At(layout, 0, step, lane, 2)], &value, 2);
        });
        SetMask(layout);
        vconv_s42f16(Operand<half>(0), Operand<uint8_t>(1), static_cast<uint8_t>(layout.repeat), layout.block[0], layout.block[1],
                     layout.stride[0], layout.stride[1]);
        Compare<half>(want, 0, "vconv_s42f16", layout);

        constexpr char kModes[] = {'r', 'r', 'a', 'f', 'c', 'z'};
        using Convert = void (*)(void*, half*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t);
        constexpr Convert kCalls[] = {vconv_f162s4, vconv_f162s4r, vconv_f162s4a, vconv_f162s4f, vconv_f162s4c, vconv_f162s4z};
        const int mode = round % 6;
        FillWith<uint8_t>(0);
        FillWith<half>(1);
        want = Image();
        EachLane(layout, 128, [&](uint32_t step, uint32_t lane) {
            const double value = Rounded(Wide(Read<half>(want, 1, At(layout, 1, step, lane, 2))), kModes[mode]);
            const int whole = static_cast<int>(std::min(std::max(value, -8.0), 7.0));
            uint8_t& byte = want[nibble_at(0, step, lane)];
            byte = static_cast<uint8_t>(lane % 2 == 0 ? (byte & 0xF0) | (whole & 15) : (byte & 0x0F) | (whole & 15) << 4);
        });
        kCalls[mode](Operand<uint8_t>(0), Operand<half>(1), static_cast<uint8_t>(layout.repeat), layout.block[0], layout.block[1],
                     layout.stride[0], layout.stride[1]);
        Compare<uint8_t>(want, 0, "vconv_f162s4", layout);

        const bool high = round % 2 == 0;
        const bool table = round % 4 < 2;
        const bool is_signed = round % 3 == 0;
        uint64_t words[16];
        for (auto& word : words) {
            word = ascendsim::FloatBits(static_cast<float>(g_random.Real(-0.2, 0.7))) | uint64_t{g_random.Below(512)} << 37 | uint64_t{is_signed} << 46;
        }
        std::memcpy(Operand<uint8_t>(3), words, sizeof(words));
        set_deqscale(table ? reinterpret_cast<uint64_t>(Operand<uint8_t>(3)) : words[0]);
        FillWith<uint8_t>(0);
        FillWith<int16_t>(1);
        want = Image();
        EachLane(layout, 128, [&](uint32_t step, uint32_t lane) {
            const uint64_t word = words[table ? lane % 16 : 0];
            const float scaled = Single(Read<int16_t>(want, 1, At(layout, 1, step, lane, 2))) * ascendsim::FloatFromBits(static_cast<uint32_t>(word));
            int offset = static_cast<int>(word >> 37 & 511);
            offset = offset > 255 ? offset - 512 : offset;
            const double sum = std::nearbyint(std::min(std::max(Wide(scaled), -256.0), 255.0)) + offset;
            const size_t to = (size_t{step} * layout.stride[0] + size_t{lane / 16} * layout.block[0]) * 32 + lane % 16 + (high ? 16 : 0);
            want[to] = is_signed ? static_cast<uint8_t>(Saturated<int8_t>(sum)) : Saturated<uint8_t>(sum);
        });
        using Deq = void (*)(uint8_t*, int16_t*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t);
        constexpr Deq kDeq[2][2] = {{vconv_deqs162b8l, vconv_deqs162b8h}, {vconv_vdeqs162b8l, vconv_vdeqs162b8h}};
        const Deq convert = kDeq[table ? 1 : 0][high ? 1 : 0];
        convert(Operand<uint8_t>(0), Operand<int16_t>(1), static_cast<uint8_t>(layout.repeat), layout.block[0], layout.block[1],
                layout.stride[0], layout.stride[1]);
        Compare<uint8_t>(want, 0, "vconv_deqs162b8", layout);
    }
}

void CheckExchange()
{
    const uint32_t pixels = 16 * (1 + g_random.Below(8));
    const uint32_t channels = 2 * (1 + g_random.Below(20));
    FillWith<uint16_t>(0);
    FillWith<uint16_t>(1);
    std::vector<uint8_t> want = Image();
    for (uint32_t pixel = 0; pixel < pixels; ++pixel) {
        for (uint32_t channel = 0; channel < channels; ++channel) {
            const auto value = Read<uint16_t>(want, 1, (channel * pixels + pixel) * 2);
            std::memcpy(&want[(pixel * channels + channel) * 2], &value, 2);
        }
    }
    v4dtrans(Operand<uint16_t>(0), Operand<uint16_t>(1), static_cast<uint16_t>(pixels), static_cast<uint16_t>(channels), false);
    Compare<uint16_t>(want, 0, "v4dtrans", Layout{});
    v4dtrans(Operand<uint16_t>(2), Operand<uint16_t>(0), static_cast<uint16_t>(pixels), static_cast<uint16_t>(channels), true);
    Expect(std::memcmp(Operand<uint8_t>(2), Operand<uint8_t>(1), size_t{pixels} * channels * 2) == 0, "v4dtrans and back");
}

/// The packed spellings do what the long ones do.
void CheckPackedForms()
{
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    FillWith<half>(0);
    FillWith<half>(1);
    FillWith<half>(2);
    const uint64_t two = uint64_t{3} << 56 | uint64_t{10} << 40 | uint64_t{9} << 32 | uint64_t{8} << 24 | 1u << 16 | 1u << 8 | 1u;
    vadd(Operand<half>(0), Operand<half>(1), Operand<half>(2), two);
    const std::vector<uint8_t> packed = Image();
    vadd(Operand<half>(0), Operand<half>(1), Operand<half>(2), uint8_t{3}, uint8_t{1}, uint8_t{1}, uint8_t{1}, uint8_t{8}, uint8_t{9}, uint8_t{10});
    Expect(packed == Image(), "packed vadd");
    const uint64_t one = uint64_t{2} << 56 | uint64_t{9} << 44 | uint64_t{8} << 32 | 2u << 16 | 1u;
    vabs(Operand<half>(0), Operand<half>(1), one);
    const std::vector<uint8_t> abs_packed = Image();
    vabs(Operand<half>(0), Operand<half>(1), uint8_t{2}, uint16_t{1}, uint16_t{2}, uint16_t{8}, uint16_t{9});
    Expect(abs_packed == Image(), "packed vabs");
    vcadd(Operand<half>(0), Operand<half>(1), uint64_t{3} << 56 | uint64_t{8} << 32 | 1u << 16 | 2u, false);
    const std::vector<uint8_t> sum_packed = Image();
    vcadd(Operand<half>(0), Operand<half>(1), 3, 2, 1, 8, false);
    Expect(sum_packed == Image(), "packed vcadd");
    vcadd(Operand<half>(0), Operand<half>(1), 3, 2, 1, 8);
    Expect(sum_packed == Image(), "vcadd without a mode");
}

void CheckScalarConversions()
{
    for (int i = 0; i < 2000; ++i) {
        const float value = i % 3 == 0 ? static_cast<float>(static_cast<int>(g_random.Below(100)) - 50) + 0.5f
                                       : static_cast<float>(g_random.Real(-3e9, 3e9) * std::pow(10, -static_cast<double>(g_random.Below(8))));
        Expect(conv_f322s32r(value) == Saturated<int32_t>(Rounded(Wide(value), 'r')), "conv_f322s32r");
        Expect(conv_f322s32a(value) == Saturated<int32_t>(Rounded(Wide(value), 'a')), "conv_f322s32a");
        Expect(conv_f322s32f(value) == Saturated<int32_t>(Rounded(Wide(value), 'f')), "conv_f322s32f");
        Expect(conv_f322s32c(value) == Saturated<int32_t>(Rounded(Wide(value), 'c')), "conv_f322s32c");
        const float small = static_cast<float>(g_random.Real(-70000, 70000));
        if (std::fabs(small) < 65504) {
            Expect(conv_f322f16o(small).Bits() == NarrowTo<half>(small, 'o').Bits(), "conv_f322f16o");
        }
    }
}

}  // namespace

int main()
{
    CheckArithmetic<half>();
    CheckArithmetic<float>();
    CheckArithmetic<int16_t>();
    CheckArithmetic<int32_t>();
    CheckFloats<half>();
    CheckFloats<float>();
    CheckScalars<half>();
    CheckScalars<float>();
    CheckScalars<int16_t>();
    CheckScalars<int32_t>();
    BINARY(vand, int16_t, int16_t, 0, (static_cast<int16_t>(a & b)))
    BINARY(vor, uint16_t, uint16_t, 0, (static_cast<uint16_t>(a | b)))
    BINARY(vaddrelu, int16_t, int16_t, 0, (Saturated<int16_t>(std::max(0, a + b))))
    BINARY(vsubrelu, int16_t, int16_t, 0, (Saturated<int16_t>(std::max(0, a - b))))
    BINARY(vmadd, float, float, 0, (a * d + b))
    BINARY(vmla, float, float, 0, (a * b + d))
    BINARY(vmaddrelu, float, float, 0, (std::fmax(0.0f, a * d + b)))
    UNARY(vrelu, int32_t, int32_t, 0, (a > 0 ? a : 0))
    UNARY(vnot, int16_t, int16_t, 0, (static_cast<int16_t>(~a)))
    UNARY(vnot, uint16_t, uint16_t, 0, (static_cast<uint16_t>(~a)))
    const auto copy = [](auto... a) { vcopy(a...); };
    CheckUnary<int16_t, int16_t>("vcopy int16_t", 0, copy, [](int16_t a, int16_t) { return a; }, true);
    CheckUnary<uint32_t, uint32_t>("vcopy uint32_t", 0, copy, [](uint32_t a, uint32_t) { return a; }, true);
    UNARY(vabs, int16_t, int16_t, 0, (static_cast<int16_t>(a < 0 ? std::min(-a, 32767) : a)))
    BINARY(vmadd, half, half, 0, (half(Single(Wide(a)) * Single(Wide(d)) + Single(Wide(b)))))
    BINARY(vmla, float, half, 0, (Single(Wide(a)) * Single(Wide(b)) + d))
    BINARY(vmulconv_f162s8, int8_t, half, 0, (Saturated<int8_t>(Rounded(Wide(half(Single(Wide(a)) * Single(Wide(b)))), 'r'))))
    BINARY(vmulconv_f162u8, uint8_t, half, 0, (Saturated<uint8_t>(Rounded(Wide(half(Single(Wide(a)) * Single(Wide(b)))), 'r'))))
    BINARY(vaddreluconv_f162s8, int8_t, half, 0, (Saturated<int8_t>(Rounded(std::max(0.0, Wide(half(Single(Wide(a)) + Single(Wide(b))))), 'r'))))
    BINARY(vsubreluconv_f162s8, int8_t, half, 0, (Saturated<int8_t>(Rounded(std::max(0.0, Wide(half(Single(Wide(a)) - Single(Wide(b))))), 'r'))))
    BINARY(vaddreluconv_f322f16, half, float, 0, (half(std::fmax(0.0f, a + b))))
    BINARY(vsubreluconv_f322f16, half, float, 0, (half(std::fmax(0.0f, a - b))))
    BINARY(vaddreluconv_s162s8, int8_t, int16_t, 0, (Saturated<int8_t>(std::max(0, a + b))))
    BINARY(vsubreluconv_s162s8, int8_t, int16_t, 0, (Saturated<int8_t>(std::max(0, a - b))))
    CheckConversions();
    CheckNarrow();
    for (int round = 0; round < 8; ++round) {
        CheckExchange();
    }
    CheckPackedForms();
    CheckScalarConversions();
    return Report("isa_differential");
}
