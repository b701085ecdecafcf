// Reductions, sorting, selection, quantisation, broadcasting, padding and transposition on the host: temporaries in
// bytes and tilings. Dtype sizes are bytes of an element.
#ifndef ASCEND_SDK_TILING_REARRANGE_TILING_H
#define ASCEND_SDK_TILING_REARRANGE_TILING_H

#include "kernel_tiling/kernel_tiling.h"
#include "kernel_tiling/library_choices.h"
#include "tiling/library_shape.h"
#include "tiling/library_tiling_classes.h"
#include "tiling/platform/platform_ascendc.h"

// Rows and columns of the cube unit's fractals, bytes of a block; kernels have them from their own headers.
#ifndef ASCENDC_DEFS_H
namespace AscendC {
constexpr uint32_t BLOCK_CUBE = 16;
constexpr uint32_t ONE_BLK_SIZE = 32;
}  // namespace AscendC
#endif

namespace AscendC {
// shape has two dimensions; what is not supported leaves the sizes alone.
#define ASCEND_SDK_REDUCE(name)                                                                                       \
    void GetReduce##name##MaxMinTmpSize(const TensorShape& shape, const TensorDataType dtype, ReducePattern pattern, \
                                        bool inner_padded, bool reuse_source, uint32_t& max_bytes,                    \
                                        uint32_t& min_bytes);
ASCEND_SDK_REDUCE(Prod)
ASCEND_SDK_REDUCE(Sum)
ASCEND_SDK_REDUCE(Mean)
ASCEND_SDK_REDUCE(Max)
ASCEND_SDK_REDUCE(Min)
ASCEND_SDK_REDUCE(Any)
ASCEND_SDK_REDUCE(All)
#undef ASCEND_SDK_REDUCE

void GetReduceXorSumMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                  uint32_t& max_bytes, uint32_t& min_bytes);
void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const bool reuse_source, uint32_t& max_bytes,
                         uint32_t& min_bytes);
void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t type_size, const uint32_t accumulator_size,
                          const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes);
void GetMeanTmpBufferFactorSize(const uint32_t type_size, uint32_t& live_tensors, uint32_t& extra_bytes);

enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
    SortType type = SortType::RADIX_SORT;
    bool isDescend = false;
    bool hasSrcIndex = false;
    bool hasDstIndex = false;
};
uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC& platform, const uint32_t count,
                          const uint32_t type_size);
uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC& platform, const uint32_t count,
                        const uint32_t type_size);
// For architectures that sort by digits; leaves the sizes alone on this one.
void GetSortMaxMinTmpSize(const TensorShape& shape, TensorDataType value_type, TensorDataType index_type,
                          bool reuse_source, const SortConfig& config, uint32_t& max_bytes, uint32_t& min_bytes);

bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, const int32_t inner, const int32_t outer,
                          const bool reuse_source, const bool has_index, enum TopKMode mode, const bool largest,
                          const uint32_t type_size, uint32_t& max_bytes, uint32_t& min_bytes);
// For architectures that select by digits; false on this one.
bool GetTopKMaxMinTmpSize(const int32_t inner, const int32_t outer, const int32_t k, const bool reuse_source,
                          const bool has_index, enum TopKMode mode, const bool largest, TensorDataType dtype,
                          const TopKConfig& config, uint32_t& max_bytes, uint32_t& min_bytes);
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& platform, const int32_t inner, const int32_t outer,
                    const int32_t k, const uint32_t type_size, const bool has_index, enum TopKMode mode,
                    const bool largest, optiling::TopkTiling& tiling);
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& platform, const int32_t inner, const int32_t outer,
                    const int32_t k, const uint32_t type_size, const bool has_index, enum TopKMode mode,
                    const bool largest, tiling::TopkTiling& tiling);

#define ASCEND_SDK_SELECT(name)                                                                                       \
    uint32_t Get##name##MinTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t type_size,     \
                                   const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask);         \
    uint32_t Get##name##MaxTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t type_size,     \
                                   const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask);         \
    void Get##name##MaxMinTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t type_size,      \
                                  const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask,           \
                                  uint32_t& max_bytes, uint32_t& min_bytes);
ASCEND_SDK_SELECT(Select)
ASCEND_SDK_SELECT(SelectWithBytesMask)
#undef ASCEND_SDK_SELECT

uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                      TensorDataType in, TensorDataType out);
uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                      TensorDataType in, TensorDataType out);
void GetAscendAntiQuantMaxMinTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                     TensorDataType in, TensorDataType out, uint32_t& max_bytes, uint32_t& min_bytes);
void GetAscendAntiQuantTmpBufferFactorSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                           TensorDataType in, TensorDataType out, uint32_t& live_tensors,
                                           uint32_t& extra_bytes);
void GetAntiQuantizeMaxMinTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                  TensorDataType in, TensorDataType out, uint32_t& max_bytes, uint32_t& min_bytes);
void GetAntiQuantizeTmpBufferFactorSize(const TensorShape& shape, const TensorShape& scale, TensorDataType in,
                                        TensorDataType out, uint32_t& live_tensors, uint32_t& extra_bytes);
void GetAscendDequantMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                                   uint32_t& min_bytes);
void GetAscendDequantTmpBufferFactorSize(const TensorShape& shape, uint32_t& live_tensors, uint32_t& extra_bytes);
void GetDequantizeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                                uint32_t& min_bytes);
void GetDequantizeTmpBufferFactorSize(const TensorShape& shape, uint32_t& live_tensors, uint32_t& extra_bytes);
void GetAscendQuantMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                                 uint32_t& min_bytes);
void GetAscendQuantTmpBufferFactorSize(uint32_t& live_tensors, uint32_t& extra_bytes);
void GetQuantizeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                              uint32_t& min_bytes);
void GetQuantizeTmpBufferFactorSize(uint32_t& live_tensors, uint32_t& extra_bytes);

void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, const TensorShape& source,
                               const TensorShape& destination, uint32_t type_size, const bool reuse_source,
                               uint32_t& max_bytes, uint32_t& min_bytes);

void GetPadMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes, uint32_t& min_bytes);
void PadTilingFunc(const TensorShape shape, const TensorShape original, const uint32_t workspace,
                   const uint32_t type_size, optiling::PadTiling& tiling);
void PadTilingFunc(const TensorShape shape, const TensorShape original, const uint32_t workspace,
                   const uint32_t type_size, tiling::PadTiling& tiling);
void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC& platform, const TensorShape& shape,
                           const uint32_t type_size, uint32_t& max_bytes, uint32_t& min_bytes);
void UnPadTilingFunc(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                     optiling::UnPadTiling& tiling);
void UnPadTilingFunc(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                     tiling::UnPadTiling& tiling);

// `kind` is the number of a TransposeType of the kernel API.
void GetTransposeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t kind,
                               uint32_t& max_bytes, uint32_t& min_bytes);
void GetTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                            const uint32_t kind, optiling::ConfusionTransposeTiling& tiling);
void GetTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                            const uint32_t kind, tiling::ConfusionTransposeTiling& tiling);
void GetConfusionTransposeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t kind,
                                        uint32_t& max_bytes, uint32_t& min_bytes);
void GetConfusionTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                     const uint32_t kind, optiling::ConfusionTransposeTiling& tiling);
void GetConfusionTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                     const uint32_t kind, tiling::ConfusionTransposeTiling& tiling);
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                         optiling::ConfusionTransposeTiling& tiling);
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                         tiling::ConfusionTransposeTiling& tiling);
} // namespace AscendC

#endif
