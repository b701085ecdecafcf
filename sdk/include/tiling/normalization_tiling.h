// Normalisation on the host: temporaries in bytes and tilings. Shapes are [batch, sequence, hidden, ...] as each
// function says; sizes of dtypes are bytes of an element, workspaces bytes.
#ifndef ASCEND_SDK_TILING_NORMALIZATION_TILING_H
#define ASCEND_SDK_TILING_NORMALIZATION_TILING_H

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/library_shape.h"
#include "tiling/library_tiling_classes.h"

namespace AscendC {
// shape: [batch, sequence, hidden as stored, hidden].
void GetLayerNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               uint32_t& max_bytes, uint32_t& min_bytes);
void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, optiling::LayerNormTiling& tiling);
void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, tiling::LayerNormTiling& tiling);
// An old spelling that projects still use.
void GetLayerNormNDTillingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                               const bool reuse_source, optiling::LayerNormTiling& tiling);

// The variant that keeps mean and deviation apart. shape: [rows, columns].
void GetLayerNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               const bool compute_rstd, const bool only_output, uint32_t& max_bytes,
                               uint32_t& min_bytes);
void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const bool compute_rstd,
                              optiling::LayerNormSeparateTiling& tiling);
void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const bool compute_rstd,
                              tiling::LayerNormSeparateTiling& tiling);
void GetNormalizeMaxMinTmpSize(const TensorShape& shape, const uint32_t weight_size, const uint32_t type_size,
                               const bool reuse_source, const bool compute_rstd, const bool only_output,
                               uint32_t& max_bytes, uint32_t& min_bytes);
void GetWelfordUpdateMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                   const bool reuse_source, const bool in_place, uint32_t& max_bytes,
                                   uint32_t& min_bytes);
void GetWelfordFinalizeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                     uint32_t& max_bytes, uint32_t& min_bytes);

// shape: [batch, sequence, hidden as stored, hidden].
void GetLayerNormGradMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                   uint32_t& max_bytes, uint32_t& min_bytes);
void GetLayerNormGradNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                  const bool reuse_source, optiling::LayerNormGradTiling& tiling);
void GetLayerNormGradNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                  const bool reuse_source, tiling::LayerNormGradTiling& tiling);
void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                       uint32_t& max_bytes, uint32_t& min_bytes);
void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                      const bool reuse_source, optiling::LayerNormGradBetaTiling& tiling);
void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                      const bool reuse_source, tiling::LayerNormGradBetaTiling& tiling);

// shape and original: [batch, sequence, hidden], as stored and as meant. False where the kernel could not run.
bool GetRmsNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                             uint32_t& min_bytes, const bool basic_block = false);
bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                          const uint32_t type_size, optiling::RmsNormTiling& tiling, const bool basic_block = false);
bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                          const uint32_t type_size, tiling::RmsNormTiling& tiling, const bool basic_block = false);
bool GetDeepNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                              const bool basic_block, uint32_t& max_bytes, uint32_t& min_bytes);
bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                           const uint32_t type_size, const bool reuse_source, const bool basic_block,
                           optiling::DeepNormTiling& tiling);
bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                           const uint32_t type_size, const bool reuse_source, const bool basic_block,
                           tiling::DeepNormTiling& tiling);
bool GetBatchNormMaxMinTmpSize(const TensorShape& shape, const TensorShape& original, const uint32_t type_size,
                               const bool reuse_source, uint32_t& max_bytes, uint32_t& min_bytes,
                               const bool basic_block = false);
bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                              const uint32_t type_size, const bool reuse_source, optiling::BatchNormTiling& tiling,
                              const bool basic_block = false);
bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                              const uint32_t type_size, const bool reuse_source, tiling::BatchNormTiling& tiling,
                              const bool basic_block = false);

// shape: [batch, channels, height, width].
void GetGroupNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               const uint32_t groups, uint32_t& max_bytes, uint32_t& min_bytes);
void GetGroupNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const uint32_t groups, optiling::GroupNormTiling& tiling);
void GetGroupNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const uint32_t groups, tiling::GroupNormTiling& tiling);
} // namespace AscendC

#endif
