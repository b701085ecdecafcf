// Temporary bytes that elementwise library functions need in the Unified Buffer: the largest useful and the smallest
// possible size for a shape, and how many temporaries of the operand's size are alive at once.
#ifndef ASCEND_SDK_TILING_ELEMENTWISE_BUFFERS_H
#define ASCEND_SDK_TILING_ELEMENTWISE_BUFFERS_H

#include "tiling/library_shape.h"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC {
// type_size is that of an element in bytes; reuse_source says that the operand may be overwritten.
#define ASCEND_SDK_ELEMENTWISE(name)                                                                                \
    void Get##name##MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,      \
                                  uint32_t& max_bytes, uint32_t& min_bytes);                                        \
    void Get##name##TmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes);

ASCEND_SDK_ELEMENTWISE(Acos)
ASCEND_SDK_ELEMENTWISE(Acosh)
ASCEND_SDK_ELEMENTWISE(Asin)
ASCEND_SDK_ELEMENTWISE(Asinh)
ASCEND_SDK_ELEMENTWISE(Atan)
ASCEND_SDK_ELEMENTWISE(Atanh)
ASCEND_SDK_ELEMENTWISE(Axpy)
ASCEND_SDK_ELEMENTWISE(Ceil)
ASCEND_SDK_ELEMENTWISE(Clamp)
ASCEND_SDK_ELEMENTWISE(Cos)
ASCEND_SDK_ELEMENTWISE(Cosh)
ASCEND_SDK_ELEMENTWISE(Digamma)
ASCEND_SDK_ELEMENTWISE(Erf)
ASCEND_SDK_ELEMENTWISE(Erfc)
ASCEND_SDK_ELEMENTWISE(Floor)
ASCEND_SDK_ELEMENTWISE(Fmod)
ASCEND_SDK_ELEMENTWISE(Frac)
ASCEND_SDK_ELEMENTWISE(Hypot)
ASCEND_SDK_ELEMENTWISE(Lgamma)
ASCEND_SDK_ELEMENTWISE(Log)
ASCEND_SDK_ELEMENTWISE(Log2)
ASCEND_SDK_ELEMENTWISE(Log10)
ASCEND_SDK_ELEMENTWISE(Sign)
ASCEND_SDK_ELEMENTWISE(Sin)
ASCEND_SDK_ELEMENTWISE(Sinh)
ASCEND_SDK_ELEMENTWISE(Tan)
ASCEND_SDK_ELEMENTWISE(Tanh)
ASCEND_SDK_ELEMENTWISE(Trunc)
ASCEND_SDK_ELEMENTWISE(Xor)
ASCEND_SDK_ELEMENTWISE(GeGLU)
#undef ASCEND_SDK_ELEMENTWISE

bool GetExpMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                         uint32_t& max_bytes, uint32_t& min_bytes);
void GetExpTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes);

// Functions that work in registers: on this architecture they need nothing.
#define ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(name)                                                                   \
    void Get##name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, const TensorShape& shape,     \
                                  const uint32_t type_size, const bool reuse_source, uint32_t& max_bytes,          \
                                  uint32_t& min_bytes);                                                            \
    void Get##name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC& platform, const uint32_t type_size, \
                                        uint32_t& live_tensors, uint32_t& extra_bytes);

ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(BitwiseAnd)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(BitwiseNot)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(BitwiseOr)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(BitwiseXor)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(Fma)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(IsInf)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(IsNan)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalAnd)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalAnds)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalNot)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalOr)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalOrs)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(LogicalXor)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(Rint)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(Round)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(SinCos)
ASCEND_SDK_ELEMENTWISE_ON_PLATFORM(Where)
#undef ASCEND_SDK_ELEMENTWISE_ON_PLATFORM

// How an architecture with vector registers computes sine and cosine. Here it makes no difference.
enum class SinAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION };
enum class CosAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION };
struct SinConfig {
    SinAlgo algo = SinAlgo::POLYNOMIAL_APPROXIMATION;
};
struct CosConfig {
    CosAlgo algo = CosAlgo::POLYNOMIAL_APPROXIMATION;
};
void GetSinMaxMinTmpSize(const SinConfig& config, const TensorShape& shape, const uint32_t type_size,
                         const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes);
void GetSinTmpBufferFactorSize(const SinConfig& config, const uint32_t type_size, uint32_t& live_tensors,
                               uint32_t& extra_bytes);
void GetCosMaxMinTmpSize(const CosConfig& config, const TensorShape& shape, const uint32_t type_size,
                         const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes);
void GetCosTmpBufferFactorSize(const CosConfig& config, const uint32_t type_size, uint32_t& live_tensors,
                               uint32_t& extra_bytes);

// Base and exponent are tensors or, with the shape [1], scalars.
void GetPowerMaxMinTmpSize(const TensorShape& base, const TensorShape& exponent, const bool is_integer,
                           const uint32_t type_size, const bool reuse_source, uint32_t& max_bytes,
                           uint32_t& min_bytes);
void GetPowerTmpBufferFactorSize(const bool base_is_tensor, const bool exponent_is_tensor, const bool is_integer,
                                 const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes);

// shape is [rows, columns]; sums run along the columns' index when last_axis is set.
void GetCumSumMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool last_axis,
                            const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes);

// Activation functions.
uint32_t GetGeluMinTmpSize(const TensorShape& shape, const uint32_t type_size);
uint32_t GetGeluMaxTmpSize(const TensorShape& shape, const uint32_t type_size);
void GetGeluMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                          uint32_t& min_bytes);
void GetReGluMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                           uint32_t& max_bytes, uint32_t& min_bytes);
void GetSigmoidMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, bool reuse_source,
                             uint32_t& max_bytes, uint32_t& min_bytes);
void GetSiluTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source, uint32_t& max_bytes,
                    uint32_t& min_bytes);
void GetSwishTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source, uint32_t& max_bytes,
                     uint32_t& min_bytes);
void GetSwiGLUMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                            uint32_t& min_bytes, const bool reuse_source);
void GetSwiGLUTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes);

uint32_t GetDropOutMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source);
uint32_t GetDropOutMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source);
void GetDropOutMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                             uint32_t& max_bytes, uint32_t& min_bytes);

void GetArangeMaxMinTmpSize(uint32_t& max_bytes, uint32_t& min_bytes);
void GetArithProgressionMaxMinTmpSize(uint32_t& max_bytes, uint32_t& min_bytes);
} // namespace AscendC

#endif
