// One-source functions, with and without a scalar.
#include <cmath>

#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

// The hardware's reciprocals are estimates: the vendor documents that they miss 1e-4 (float) and 1e-3 (half). Keeping this many
// significant bits makes a kernel that needs an exact quotient fail here as well.
constexpr uint32_t kEstimateBitsFloat = 13;
constexpr uint32_t kEstimateBitsHalf = 9;

inline float KeepBits(float value, uint32_t bits)
{
    const uint32_t drop = 24 - bits;
    uint32_t raw = FloatBits(value);
    if ((raw & 0x7F800000u) == 0x7F800000u) {
        return value;
    }
    raw += (uint32_t{1} << (drop - 1));
    return FloatFromBits(raw & ~((uint32_t{1} << drop) - 1));
}

struct AbsOp {
    static float Of(float a) { return __builtin_fabsf(a); }
};
struct ReluOp {
    static float Of(float a) { return ReluOf(a); }
    static int32_t Of(int32_t a) { return a > 0 ? a : 0; }
};
struct ExpOp {
    static float Of(float a) { return expf(a); }
};
struct LnOp {
    static float Of(float a) { return logf(a); }
};
struct SqrtOp {
    static float Of(float a) { return __builtin_sqrtf(a); }
};
template <uint32_t kBits>
struct RsqrtOp {
    static float Of(float a) { return KeepBits(1.0f / __builtin_sqrtf(a), kBits); }
};
template <uint32_t kBits>
struct RecOp {
    static float Of(float a) { return KeepBits(1.0f / a, kBits); }
};
struct NotOp {
    static uint16_t Of(uint16_t a) { return static_cast<uint16_t>(~a); }
};
struct CopyOp {
    template <typename T> static T Of(T a) { return a; }
};

struct AddsOp {
    static float Of(float a, float b) { return a + b; }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a + b); }
    static int32_t Of(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
};
struct MulsOp {
    static float Of(float a, float b) { return a * b; }
    static int16_t Of(int16_t a, int16_t b) { return Clamp16(a * b); }
    static int32_t Of(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b)); }
};
struct MaxsOp {
    static float Of(float a, float b) { return NanMax(a, b); }
    template <typename T> static T Of(T a, T b) { return a > b ? a : b; }
};
struct MinsOp {
    static float Of(float a, float b) { return NanMin(a, b); }
    template <typename T> static T Of(T a, T b) { return a < b ? a : b; }
};
struct LreluOp {
    static float Of(float a, float b) { return a >= 0.0f || a != a ? a : a * b; }
};

/// dst = src * value + dst
template <typename D, typename S>
void RunAxpy(const void* context, uint8_t* const* p, size_t n)
{
    const float value = *static_cast<const S*>(context);
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = static_cast<D>(static_cast<float>(a[i]) * value + static_cast<float>(d[i]));
    }
}
template <>
void RunAxpy<half, half>(const void* context, uint8_t* const* p, size_t n)
{
    const float value = *static_cast<const half*>(context);
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    float x[kTile];
    float y[kTile];
    for (size_t at = 0; at < n; at += kTile) {
        const size_t m = n - at < kTile ? n - at : kTile;
        Widen(a + at, x, m);
        Widen(d + at, y, m);
        for (size_t i = 0; i < m; ++i) {
            x[i] = x[i] * value + y[i];
        }
        Narrow(x, d + at, m);
    }
}

struct ShlOp {
    // Shifting by the width or more leaves nothing.
    template <typename T> static T Of(T a, uint32_t by)
    {
        return by >= sizeof(T) * 8 ? T(0) : static_cast<T>(static_cast<uint32_t>(a) << by);
    }
};
struct Distance {
    uint32_t by;
    bool round;
};
template <typename T>
void RunShr(const void* context, uint8_t* const* p, size_t n)
{
    const Distance distance = *static_cast<const Distance*>(context);
    auto* d = reinterpret_cast<T*>(p[0]);
    const auto* a = reinterpret_cast<const T*>(p[1]);
    const uint32_t by = distance.by > 62 ? 62 : distance.by;
    const int64_t add = distance.round && by > 0 ? int64_t{1} << (by - 1) : 0;
    for (size_t i = 0; i < n; ++i) {
        d[i] = static_cast<T>((static_cast<int64_t>(a[i]) + add) >> by);
    }
}

template <typename T>
void RunFill(const void* context, uint8_t* const* p, size_t n)
{
    const T value = *static_cast<const T*>(context);
    auto* d = reinterpret_cast<T*>(p[0]);
    for (size_t i = 0; i < n; ++i) {
        d[i] = value;
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
#define BODY_FLOATS(name, F)                  \
    BODY(name, half, half, RunUnaryHalf<F>)   \
    BODY(name, float, float, (RunUnary<F, float, float>))
#define BODY_S(name, D, S, V, acc, run)                                        \
    void name ASCENDSIM_ARGS1S(D, S, V)                                        \
    {                                                                          \
        ASCENDSIM_ISSUE1(name, D, sizeof(D), S, sizeof(S), acc)                \
        NoteValue(Current(), value);                                           \
        Elementwise(issue, run, &value);                                       \
    }
#define BODY_ALL_S(name, F)                                                                                           \
    BODY_S(name, half, half, half, ascendsim::kWrite, RunScalarHalf<F>)                                              \
    BODY_S(name, float, float, float, ascendsim::kWrite, (RunScalar<F, float, float, float>))                        \
    BODY_S(name, int16_t, int16_t, int16_t, ascendsim::kWrite, (RunScalar<F, int16_t, int16_t, int16_t>))            \
    BODY_S(name, int32_t, int32_t, int32_t, ascendsim::kWrite, (RunScalar<F, int32_t, int32_t, int32_t>))

BODY_FLOATS(vabs, AbsOp)
BODY_FLOATS(vrelu, ReluOp)
BODY(vrelu, int32_t, int32_t, (RunUnary<ReluOp, int32_t, int32_t>))
BODY_FLOATS(vexp, ExpOp)
BODY_FLOATS(vln, LnOp)
BODY_FLOATS(vsqrt, SqrtOp)
BODY(vrsqrt, half, half, RunUnaryHalf<RsqrtOp<kEstimateBitsHalf>>)
BODY(vrsqrt, float, float, (RunUnary<RsqrtOp<kEstimateBitsFloat>, float, float>))
BODY(vrec, half, half, RunUnaryHalf<RecOp<kEstimateBitsHalf>>)
BODY(vrec, float, float, (RunUnary<RecOp<kEstimateBitsFloat>, float, float>))
BODY(vnot, int16_t, int16_t, (RunUnary<NotOp, uint16_t, uint16_t>))
BODY(vnot, uint16_t, uint16_t, (RunUnary<NotOp, uint16_t, uint16_t>))
BODY(vcopy, int16_t, int16_t, (RunUnary<CopyOp, int16_t, int16_t>))
BODY(vcopy, uint16_t, uint16_t, (RunUnary<CopyOp, uint16_t, uint16_t>))
BODY(vcopy, int32_t, int32_t, (RunUnary<CopyOp, int32_t, int32_t>))
BODY(vcopy, uint32_t, uint32_t, (RunUnary<CopyOp, uint32_t, uint32_t>))
BODY_ALL_S(vadds, AddsOp)
BODY_ALL_S(vmuls, MulsOp)
BODY_ALL_S(vmaxs, MaxsOp)
BODY_ALL_S(vmins, MinsOp)
BODY_S(vlrelu, half, half, half, ascendsim::kWrite, RunScalarHalf<LreluOp>)
BODY_S(vlrelu, float, float, float, ascendsim::kWrite, (RunScalar<LreluOp, float, float, float>))
BODY_S(vaxpy, half, half, half, ascendsim::kReadWrite, (RunAxpy<half, half>))
BODY_S(vaxpy, float, float, float, ascendsim::kReadWrite, (RunAxpy<float, float>))
BODY_S(vaxpy, float, half, half, ascendsim::kReadWrite, (RunAxpy<float, half>))
BODY_S(vshl, int16_t, int16_t, uint32_t, ascendsim::kWrite, (RunScalar<ShlOp, int16_t, int16_t, uint32_t>))
BODY_S(vshl, uint16_t, uint16_t, uint32_t, ascendsim::kWrite, (RunScalar<ShlOp, uint16_t, uint16_t, uint32_t>))
BODY_S(vshl, int32_t, int32_t, uint32_t, ascendsim::kWrite, (RunScalar<ShlOp, int32_t, int32_t, uint32_t>))
BODY_S(vshl, uint32_t, uint32_t, uint32_t, ascendsim::kWrite, (RunScalar<ShlOp, uint32_t, uint32_t, uint32_t>))

#define BODY_SHR(T, V)                                                                                     \
    void vshr(T* dst, T* src, V distance, uint8_t repeat, uint16_t dstBlockStride, uint16_t srcBlockStride, \
              uint16_t dstRepeatStride, uint16_t srcRepeatStride, bool round)                              \
    {                                                                                                      \
        ASCENDSIM_ISSUE1(vshr, T, sizeof(T), T, sizeof(T), ascendsim::kWrite)                              \
        const Distance by = {static_cast<uint32_t>(distance), round};                                      \
        NoteValue(Current(), uint64_t{by.by} << 1 | (by.round ? 1 : 0));                                   \
        Elementwise(issue, RunShr<T>, &by);                                                                \
    }
BODY_SHR(int16_t, int32_t)
BODY_SHR(int32_t, int32_t)
BODY_SHR(uint16_t, uint32_t)
BODY_SHR(uint32_t, uint32_t)

// The source strides of a fill mean nothing: there is no source in memory.
#define BODY_DUP(T)                                                                                           \
    void vector_dup(T* dst, T value, uint8_t repeat, uint16_t dstBlockStride, uint16_t, uint16_t dstRepeatStride, \
                    uint16_t)                                                                                 \
    {                                                                                                         \
        const Issue issue = {ascendsim::kOp_vector_dup, DtypeOf<T>::value, repeat, ASCENDSIM_SITE(), 1,       \
                             {{dst, sizeof(T), dstBlockStride, dstRepeatStride, ascendsim::kWrite}}};         \
        NoteValue(Current(), value);                                                                          \
        Elementwise(issue, RunFill<T>, &value);                                                               \
    }
BODY_DUP(half)
BODY_DUP(bfloat16_t)
BODY_DUP(float)
BODY_DUP(int16_t)
BODY_DUP(uint16_t)
BODY_DUP(int32_t)
BODY_DUP(uint32_t)
#undef BODY
#undef BODY_FLOATS
#undef BODY_S
#undef BODY_ALL_S
#undef BODY_SHR
#undef BODY_DUP
