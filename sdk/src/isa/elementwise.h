// Turns float functions over arrays into instruction bodies for half and float, and builds issues. Internal to the library.
#ifndef ASCENDSIM_ELEMENTWISE_H
#define ASCENDSIM_ELEMENTWISE_H

#include "isa/engine.h"
#include "isa/float16.h"

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

constexpr size_t kTile = 512;

/// The nearest value that two bytes hold.
inline int16_t Clamp16(int32_t value)
{
    return static_cast<int16_t>(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/// `F` computes one lane: R operator()(A, B). Context is unused.
template <typename F, typename D, typename S>
void RunBinary(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    const auto* b = reinterpret_cast<const S*>(p[2]);
    ASCENDSIM_IVDEP
    for (size_t i = 0; i < n; ++i) {
        d[i] = F::Of(a[i], b[i]);
    }
}

/// The half form: widened, computed in float by the same lane function, rounded once.
template <typename F>
void RunBinaryHalf(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    const auto* b = reinterpret_cast<const half*>(p[2]);
    float x[kTile];
    float y[kTile];
    for (size_t at = 0; at < n; at += kTile) {
        const size_t m = n - at < kTile ? n - at : kTile;
        Widen(a + at, x, m);
        Widen(b + at, y, m);
        for (size_t i = 0; i < m; ++i) {
            x[i] = F::Of(x[i], y[i]);
        }
        Narrow(x, d + at, m);
    }
}

template <typename F, typename D, typename S>
void RunUnary(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    ASCENDSIM_IVDEP
    for (size_t i = 0; i < n; ++i) {
        d[i] = F::Of(a[i]);
    }
}

template <typename F>
void RunUnaryHalf(const void*, uint8_t* const* p, size_t n)
{
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    float x[kTile];
    for (size_t at = 0; at < n; at += kTile) {
        const size_t m = n - at < kTile ? n - at : kTile;
        Widen(a + at, x, m);
        for (size_t i = 0; i < m; ++i) {
            x[i] = F::Of(x[i]);
        }
        Narrow(x, d + at, m);
    }
}

/// Context points to the scalar.
template <typename F, typename D, typename S, typename V>
void RunScalar(const void* context, uint8_t* const* p, size_t n)
{
    const V value = *static_cast<const V*>(context);
    auto* d = reinterpret_cast<D*>(p[0]);
    const auto* a = reinterpret_cast<const S*>(p[1]);
    ASCENDSIM_IVDEP
    for (size_t i = 0; i < n; ++i) {
        d[i] = F::Of(a[i], value);
    }
}

template <typename F>
void RunScalarHalf(const void* context, uint8_t* const* p, size_t n)
{
    const float value = *static_cast<const half*>(context);
    auto* d = reinterpret_cast<half*>(p[0]);
    const auto* a = reinterpret_cast<const half*>(p[1]);
    float x[kTile];
    for (size_t at = 0; at < n; at += kTile) {
        const size_t m = n - at < kTile ? n - at : kTile;
        Widen(a + at, x, m);
        for (size_t i = 0; i < m; ++i) {
            x[i] = F::Of(x[i], value);
        }
        Narrow(x, d + at, m);
    }
}

inline float NanMax(float a, float b) { return a > b || a != a ? a : b; }
inline float NanMin(float a, float b) { return a < b || a != a ? a : b; }
inline float ReluOf(float a) { return a > 0.0f || a != a ? a : 0.0f; }

#define ASCENDSIM_ISSUE2(name, D, S)                                                                       \
    const ascendsim::isa::Issue issue = {                                                                  \
        ascendsim::kOp_##name, ascendsim::isa::DtypeOf<S>::value, repeat, ASCENDSIM_SITE(), 3,             \
        {{dst, sizeof(D), dstBlockStride, dstRepeatStride, ascendsim::kWrite},                             \
         {src0, sizeof(S), src0BlockStride, src0RepeatStride, ascendsim::kRead},                           \
         {src1, sizeof(S), src1BlockStride, src1RepeatStride, ascendsim::kRead}}};
#define ASCENDSIM_ARGS2(D, S)                                                                              \
    (D * dst, S * src0, S * src1, uint8_t repeat, uint8_t dstBlockStride, uint8_t src0BlockStride,         \
     uint8_t src1BlockStride, uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride)

#define ASCENDSIM_ISSUE1(name, D, DS, S, SS, access)                                                       \
    const ascendsim::isa::Issue issue = {                                                                  \
        ascendsim::kOp_##name, ascendsim::isa::DtypeOf<S>::value, repeat, ASCENDSIM_SITE(), 2,             \
        {{dst, DS, dstBlockStride, dstRepeatStride, access},                                               \
         {src, SS, srcBlockStride, srcRepeatStride, ascendsim::kRead}}};
#define ASCENDSIM_ARGS1(D, S)                                                                              \
    (D * dst, S * src, uint8_t repeat, uint16_t dstBlockStride, uint16_t srcBlockStride,                   \
     uint16_t dstRepeatStride, uint16_t srcRepeatStride)
#define ASCENDSIM_ARGS1S(D, S, V)                                                                          \
    (D * dst, S * src, V value, uint8_t repeat, uint16_t dstBlockStride, uint16_t srcBlockStride,          \
     uint16_t dstRepeatStride, uint16_t srcRepeatStride)

}  // namespace isa
}  // namespace ascendsim

#endif
