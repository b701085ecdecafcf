// Two-source arithmetic and logic.
#include "isa/elementwise.h"

#include <limits>

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

/// Sixteen-bit integer results saturate; 32-bit ones wrap.
inline uint32_t Bits(int32_t value) { return static_cast<uint32_t>(value); }

struct AddOp {
    static float Of(float a, float b) { return a + b; }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a + b); }
    static int32_t Of(int32_t a, int32_t b) { return static_cast<int32_t>(Bits(a) + Bits(b)); }
};
struct SubOp {
    static float Of(float a, float b) { return a - b; }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a - b); }
    static int32_t Of(int32_t a, int32_t b) { return static_cast<int32_t>(Bits(a) - Bits(b)); }
};
struct MulOp {
    static float Of(float a, float b) { return a * b; }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a * b); }
    static int32_t Of(int32_t a, int32_t b) { return static_cast<int32_t>(Bits(a) * Bits(b)); }
};
struct DivOp {
    static float Of(float a, float b) { return a / b; }
};
struct MaxOp {
    static float Of(float a, float b) { return NanMax(a, b); }
    template <typename T> static T Of(T a, T b) { return a > b ? a : b; }
};
struct MinOp {
    static float Of(float a, float b) { return NanMin(a, b); }
    template <typename T> static T Of(T a, T b) { return a < b ? a : b; }
};
struct AddReluOp {
    static float Of(float a, float b) { return ReluOf(a + b); }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a + b > 0 ? a + b : 0); }
};
struct SubReluOp {
    static float Of(float a, float b) { return ReluOf(a - b); }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a - b > 0 ? a - b : 0); }
};
struct AndOp {
    static uint16_t Of(uint16_t a, uint16_t b) { return a & b; }
};
struct OrOp {
    static uint16_t Of(uint16_t a, uint16_t b) { return a | b; }
};

/// dst = F(src0, src1, dst) in float, for half or float sources and destination.
template <typename F, typename D, typename S>
void RunTernary(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    const auto* b = reinterpret_cast<const S*>(p[2]);
    ASCENDSIM_IVDEP
    for (size_t i = 0; i < n; ++i) {
        d[i] = F::Of(static_cast<float>(a[i]), static_cast<float>(b[i]), static_cast<float>(d[i]));
    }
}
template <typename F>
void RunTernaryHalf(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    const auto* b = reinterpret_cast<const half*>(p[2]);
    float x[kTile];
    float y[kTile];
    float z[kTile];
    for (size_t at = 0; at < n; at += kTile) {
        const size_t m = n - at < kTile ? n - at : kTile;
        Widen(a + at, x, m);
        Widen(b + at, y, m);
        Widen(d + at, z, m);
        for (size_t i = 0; i < m; ++i) {
            z[i] = F::Of(x[i], y[i], z[i]);
        }
        Narrow(z, d + at, m);
    }
}
struct MaddOp {
    static float Of(float a, float b, float d) { return a * d + b; }
};
struct MaddReluOp {
    static float Of(float a, float b, float d) { return ReluOf(a * d + b); }
};
struct MlaOp {
    static float Of(float a, float b, float d) { return a * b + d; }
};

/// Rounds to nearest even and saturates; NaN becomes zero.
template <typename T>
inline T Saturate(float value)
{
    const float low = static_cast<float>(std::numeric_limits<T>::min());
    const float high = static_cast<float>(std::numeric_limits<T>::max());
    const float rounded = __builtin_nearbyintf(value);
    return value != value ? T(0) : rounded < low ? std::numeric_limits<T>::min()
                               : rounded > high  ? std::numeric_limits<T>::max()
                                                 : static_cast<T>(rounded);
}

/// The fused forms round the half result before they convert it.
template <typename F, typename D>
void RunFusedHalf(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    const auto* b = reinterpret_cast<const half*>(p[2]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = Saturate<D>(half(F::Of(static_cast<float>(a[i]), static_cast<float>(b[i]))));
    }
}
template <typename F>
void RunFusedFloat(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const float*>(p[1]);
    const auto* b = reinterpret_cast<const float*>(p[2]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = half(F::Of(a[i], b[i]));
    }
}
template <typename F>
void RunFusedInt(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<int8_t*>(p[0]);
    const auto* a = reinterpret_cast<const int16_t*>(p[1]);
    const auto* b = reinterpret_cast<const int16_t*>(p[2]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = Saturate<int8_t>(static_cast<float>(F::Of(a[i], b[i])));
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define BODY(name, D, S, run)                    \
    void name ASCENDSIM_ARGS2(D, S)              \
    {                                            \
        ASCENDSIM_ISSUE2(name, D, S)             \
        Elementwise(issue, run, nullptr);        \
    }
#define BODY_FLOATS(name, F)                           \
    BODY(name, half, half, RunBinaryHalf<F>)           \
    BODY(name, float, float, (RunBinary<F, float, float>))
#define BODY_ALL(name, F)                                            \
    BODY_FLOATS(name, F)                                             \
    BODY(name, int16_t, int16_t, (RunBinary<F, int16_t, int16_t>))   \
    BODY(name, int32_t, int32_t, (RunBinary<F, int32_t, int32_t>))
#define BODY_BITS(name, F)                                              \
    BODY(name, int16_t, int16_t, (RunBinary<F, uint16_t, uint16_t>))    \
    BODY(name, uint16_t, uint16_t, (RunBinary<F, uint16_t, uint16_t>))
// The destination is a source too.
#define BODY_ACC(name, D, S, run)                           \
    void name ASCENDSIM_ARGS2(D, S)                         \
    {                                                       \
        ASCENDSIM_ISSUE2(name, D, S)                        \
        Issue both = issue;                                 \
        both.lanes[0].access = ascendsim::kReadWrite;       \
        Elementwise(both, run, nullptr);                    \
    }

BODY_ALL(vadd, AddOp)
BODY_ALL(vsub, SubOp)
BODY_ALL(vmul, MulOp)
BODY_ALL(vmax, MaxOp)
BODY_ALL(vmin, MinOp)
BODY_FLOATS(vdiv, DivOp)
BODY_BITS(vand, AndOp)
BODY_BITS(vor, OrOp)
BODY_FLOATS(vaddrelu, AddReluOp)
BODY(vaddrelu, int16_t, int16_t, (RunBinary<AddReluOp, int16_t, int16_t>))
BODY_FLOATS(vsubrelu, SubReluOp)
BODY(vsubrelu, int16_t, int16_t, (RunBinary<SubReluOp, int16_t, int16_t>))
BODY_ACC(vmadd, half, half, RunTernaryHalf<MaddOp>)
BODY_ACC(vmadd, float, float, (RunTernary<MaddOp, float, float>))
BODY_ACC(vmaddrelu, half, half, RunTernaryHalf<MaddReluOp>)
BODY_ACC(vmaddrelu, float, float, (RunTernary<MaddReluOp, float, float>))
BODY_ACC(vmla, half, half, RunTernaryHalf<MlaOp>)
BODY_ACC(vmla, float, float, (RunTernary<MlaOp, float, float>))
BODY_ACC(vmla, float, half, (RunTernary<MlaOp, float, half>))
BODY(vmulconv_f162s8, int8_t, half, (RunFusedHalf<MulOp, int8_t>))
BODY(vmulconv_f162u8, uint8_t, half, (RunFusedHalf<MulOp, uint8_t>))
BODY(vaddreluconv_f162s8, int8_t, half, (RunFusedHalf<AddReluOp, int8_t>))
BODY(vaddreluconv_f322f16, half, float, RunFusedFloat<AddReluOp>)
BODY(vaddreluconv_s162s8, int8_t, int16_t, RunFusedInt<AddReluOp>)
BODY(vsubreluconv_f162s8, int8_t, half, (RunFusedHalf<SubReluOp, int8_t>))
BODY(vsubreluconv_f322f16, half, float, RunFusedFloat<SubReluOp>)
BODY(vsubreluconv_s162s8, int8_t, int16_t, RunFusedInt<SubReluOp>)
#undef BODY
#undef BODY_FLOATS
#undef BODY_ALL
#undef BODY_BITS
#undef BODY_ACC
