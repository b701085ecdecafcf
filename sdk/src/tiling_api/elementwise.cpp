// Sizes of the temporaries of elementwise library functions. Most functions keep a fixed number of temporaries of the
// operand's size, at least one repeat (256 bytes) each; the number depends on whether they compute in float (then the
// operand is used as it is) or widen half first.
#include <algorithm>

#include "arithmetic.h"
#include "tiling/elementwise_buffers.h"

namespace AscendC {
using namespace tiling_api;

namespace {
bool IsFloat(uint32_t type_size)
{
    return type_size == sizeof(float);
}

// `live` temporaries of the operand's size, at least a repeat each.
void Size(const TensorShape& shape, uint32_t type_size, uint32_t live, uint32_t& max_bytes, uint32_t& min_bytes)
{
    min_bytes = live * kRepeatBytes;
    max_bytes = live * std::max(Elements(shape) * type_size, kRepeatBytes);
}

void Factor(uint32_t live, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = live;
    extra_bytes = 0;
}
} // namespace

#define SIMPLE(name, half_live, float_live)                                                                      \
    void Get##name##MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool,                \
                                  uint32_t& max_bytes, uint32_t& min_bytes)                                      \
    {                                                                                                            \
        Size(shape, type_size, IsFloat(type_size) ? (float_live) : (half_live), max_bytes, min_bytes);           \
    }                                                                                                            \
    void Get##name##TmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes) \
    {                                                                                                            \
        Factor(IsFloat(type_size) ? (float_live) : (half_live), live_tensors, extra_bytes);                      \
    }

SIMPLE(Acos, 6, 2)
SIMPLE(Asin, 6, 2)
SIMPLE(Asinh, 3, 3)
SIMPLE(Atan, 12, 5)
SIMPLE(Atanh, 4, 1)
SIMPLE(Ceil, 2, 1)
SIMPLE(Cosh, 6, 2)
SIMPLE(Erf, 8, 3)
SIMPLE(Erfc, 16, 7)
SIMPLE(Floor, 2, 0)
SIMPLE(Fmod, 8, 1)
SIMPLE(Frac, 4, 0)
SIMPLE(GeGLU, 4, 0)
SIMPLE(Hypot, 0, 0)
SIMPLE(Log, 0, 0)
SIMPLE(Log10, 0, 0)
SIMPLE(Sign, 3, 3)
SIMPLE(Sinh, 4, 1)
SIMPLE(Tan, 10, 4)
SIMPLE(Tanh, 4, 1)
SIMPLE(Trunc, 2, 1)
SIMPLE(Xor, 1, 1)
#undef SIMPLE

// Float needs one temporary less when the operand may be overwritten.
#define REUSING(name, half_live, float_live, half_factor)                                                        \
    void Get##name##MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,   \
                                  uint32_t& max_bytes, uint32_t& min_bytes)                                      \
    {                                                                                                            \
        const uint32_t live = IsFloat(type_size) ? (float_live) - (reuse_source ? 1u : 0u) : (half_live);        \
        Size(shape, type_size, live, max_bytes, min_bytes);                                                      \
    }                                                                                                            \
    void Get##name##TmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes) \
    {                                                                                                            \
        Factor(IsFloat(type_size) ? (float_live) : (half_factor), live_tensors, extra_bytes);                    \
    }

REUSING(Cos, 8, 3, 8)
REUSING(Sin, 8, 3, 8)
REUSING(Digamma, 16, 7, 16)
REUSING(Lgamma, 26, 8, 13)
#undef REUSING

#define NOTHING(name)                                                                                             \
    void Get##name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape&, const uint32_t,   \
                                  const bool, uint32_t& max_bytes, uint32_t& min_bytes)                           \
    {                                                                                                             \
        max_bytes = 0;                                                                                            \
        min_bytes = 0;                                                                                            \
    }                                                                                                             \
    void Get##name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC&, const uint32_t,                 \
                                        uint32_t& live_tensors, uint32_t& extra_bytes)                            \
    {                                                                                                             \
        Factor(0, live_tensors, extra_bytes);                                                                     \
    }

NOTHING(BitwiseAnd)
NOTHING(BitwiseNot)
NOTHING(BitwiseOr)
NOTHING(BitwiseXor)
NOTHING(Fma)
NOTHING(IsInf)
NOTHING(IsNan)
NOTHING(LogicalAnd)
NOTHING(LogicalAnds)
NOTHING(LogicalNot)
NOTHING(LogicalOr)
NOTHING(LogicalOrs)
NOTHING(LogicalXor)
NOTHING(Rint)
NOTHING(SinCos)
NOTHING(Where)
#undef NOTHING

void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape& shape,
                           const uint32_t type_size, const bool, uint32_t& max_bytes, uint32_t& min_bytes)
{
    Size(shape, type_size, IsFloat(type_size) ? 0 : 1, max_bytes, min_bytes);
}

void GetRoundTmpBufferFactorSize(const platform_ascendc::PlatformAscendC&, const uint32_t type_size,
                                 uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 0 : 1, live_tensors, extra_bytes);
}

void GetAcoshMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool, uint32_t& max_bytes,
                           uint32_t& min_bytes)
{
    // The one function whose smallest largest size is 256 elements rather than bytes.
    const uint32_t live = IsFloat(type_size) ? 1 : 2;
    min_bytes = live * kRepeatBytes;
    max_bytes = std::max(live * Elements(shape), kRepeatBytes) * type_size;
}

void GetAcoshTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 1 : 2, live_tensors, extra_bytes);
}

void GetAxpyMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool, uint32_t& max_bytes,
                          uint32_t& min_bytes)
{
    Size(shape, type_size, IsFloat(type_size) ? 0 : 4, max_bytes, min_bytes);
}

void GetAxpyTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 1 : 4, live_tensors, extra_bytes);
}

void GetClampMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool, uint32_t& max_bytes,
                           uint32_t& min_bytes)
{
    // A byte of mask for each element.
    min_bytes = IsFloat(type_size) ? kRepeatBytes / 4 : kRepeatBytes / 2;
    max_bytes = std::max(Elements(shape), min_bytes);
}

void GetClampTmpBufferFactorSize(const uint32_t, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(1, live_tensors, extra_bytes);
}

bool GetExpMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                         uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t live = !IsFloat(type_size) ? 4 : reuse_source ? 2 : 3;
    Size(shape, sizeof(float), live, max_bytes, min_bytes);
    return true;
}

void GetExpTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 3 : 8, live_tensors, extra_bytes);
}

void GetLog2MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool, uint32_t& max_bytes,
                          uint32_t& min_bytes)
{
    Size(shape, sizeof(float), type_size == 2 ? 1 : 0, max_bytes, min_bytes);
}

void GetLog2TmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 0 : 2, live_tensors, extra_bytes);
}

void GetSinMaxMinTmpSize(const SinConfig&, const TensorShape& shape, const uint32_t type_size,
                         const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)
{
    GetSinMaxMinTmpSize(shape, type_size, reuse_source, max_bytes, min_bytes);
}

void GetSinTmpBufferFactorSize(const SinConfig&, const uint32_t type_size, uint32_t& live_tensors,
                               uint32_t& extra_bytes)
{
    GetSinTmpBufferFactorSize(type_size, live_tensors, extra_bytes);
}

void GetCosMaxMinTmpSize(const CosConfig&, const TensorShape& shape, const uint32_t type_size,
                         const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes)
{
    GetCosMaxMinTmpSize(shape, type_size, reuse_source, max_bytes, min_bytes);
}

void GetCosTmpBufferFactorSize(const CosConfig&, const uint32_t type_size, uint32_t& live_tensors,
                               uint32_t& extra_bytes)
{
    GetCosTmpBufferFactorSize(type_size, live_tensors, extra_bytes);
}

namespace {
bool IsScalar(const TensorShape& shape)
{
    return shape.GetDimNum() == 1 && shape.GetDim(0) == 1;
}

uint32_t PowerLive(bool both_tensors, bool is_integer, uint32_t type_size)
{
    if (is_integer) {
        return both_tensors ? 6 : 7;
    }
    if (IsFloat(type_size)) {
        return both_tensors ? 4 : 5;
    }
    return 14;
}
} // namespace

void GetPowerMaxMinTmpSize(const TensorShape& base, const TensorShape& exponent, const bool is_integer,
                           const uint32_t type_size, const bool, uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t live = PowerLive(!IsScalar(base) && !IsScalar(exponent), is_integer, type_size);
    const uint32_t bytes = Elements(IsScalar(base) ? exponent : base) * type_size;
    const uint32_t one = IsFloat(type_size) ? kRepeatBytes : kRepeatBytes / 2;
    const uint32_t extra = is_integer ? 0 : kRepeatBytes;
    // The smallest size of half counts half a repeat for each temporary, that of integers a whole one.
    min_bytes = live * (is_integer ? kRepeatBytes : one) + extra;
    max_bytes = live * std::max(bytes, one) + extra;
}

void GetPowerTmpBufferFactorSize(const bool base_is_tensor, const bool exponent_is_tensor, const bool is_integer,
                                 const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = PowerLive(base_is_tensor && exponent_is_tensor, is_integer, type_size);
    extra_bytes = is_integer ? 0 : kRepeatBytes;
}

void GetCumSumMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool last_axis, const bool,
                            uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t rows = static_cast<uint32_t>(shape.GetDim(0));
    const uint32_t columns = static_cast<uint32_t>(shape.GetDim(1));
    const bool half = type_size == 2;
    if (!last_axis) {
        max_bytes = half ? rows * columns * static_cast<uint32_t>(sizeof(float)) : 0;
        min_bytes = max_bytes;
        return;
    }
    // Rows are transposed sixteen at a time, there and back; half keeps a widened copy as well.
    constexpr uint32_t kTogether = 16;
    const uint32_t per_row = columns * type_size * 2 + (half ? columns * 2 : 0);
    min_bytes = kTogether * per_row;
    max_bytes = (rows + kTogether - 1) / kTogether * kTogether * per_row;
}

uint32_t GetGeluMinTmpSize(const TensorShape&, const uint32_t)
{
    return 3 * kRepeatBytes;
}

uint32_t GetGeluMaxTmpSize(const TensorShape& shape, const uint32_t)
{
    uint32_t max_bytes = 0;
    uint32_t min_bytes = 0;
    Size(shape, sizeof(float), 3, max_bytes, min_bytes);
    return max_bytes;
}

void GetGeluMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = GetGeluMaxTmpSize(shape, type_size);
    min_bytes = GetGeluMinTmpSize(shape, type_size);
}

void GetReGluMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool, uint32_t& max_bytes,
                           uint32_t& min_bytes)
{
    if (IsFloat(type_size)) {
        max_bytes = kRepeatBytes;
        min_bytes = kRepeatBytes;
        return;
    }
    Size(shape, type_size, 6, max_bytes, min_bytes);
}

void GetSigmoidMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, bool, uint32_t& max_bytes,
                             uint32_t& min_bytes)
{
    Size(shape, type_size, 1, max_bytes, min_bytes);
}

void GetSiluTmpSize(const TensorShape&, const uint32_t, const bool, uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = 0;
    min_bytes = 0;
}

void GetSwishTmpSize(const TensorShape&, const uint32_t, const bool, uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = 0;
    min_bytes = 0;
}

void GetSwiGLUMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                            uint32_t& min_bytes, const bool)
{
    Size(shape, type_size, IsFloat(type_size) ? 0 : 6, max_bytes, min_bytes);
}

void GetSwiGLUTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    Factor(IsFloat(type_size) ? 0 : 6, live_tensors, extra_bytes);
}

uint32_t GetDropOutMinTmpSize(const TensorShape&, const uint32_t, const bool)
{
    return 2 * kRepeatBytes;
}

uint32_t GetDropOutMaxTmpSize(const TensorShape& shape, const uint32_t, const bool)
{
    uint32_t max_bytes = 0;
    uint32_t min_bytes = 0;
    Size(shape, sizeof(float), 2, max_bytes, min_bytes);
    return max_bytes;
}

void GetDropOutMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                             uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = GetDropOutMaxTmpSize(shape, type_size, reuse_source);
    min_bytes = GetDropOutMinTmpSize(shape, type_size, reuse_source);
}

void GetArangeMaxMinTmpSize(uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = 0;
    min_bytes = 0;
}

void GetArithProgressionMaxMinTmpSize(uint32_t& max_bytes, uint32_t& min_bytes)
{
    GetArangeMaxMinTmpSize(max_bytes, min_bytes);
}
} // namespace AscendC
