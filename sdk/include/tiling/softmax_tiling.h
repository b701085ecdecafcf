// Softmax on the host: temporaries in bytes, and how many rows a step takes. A shape counts as rows times its last
// dimension; dtype sizes are bytes of an element.
#ifndef ASCEND_SDK_TILING_SOFTMAX_TILING_H
#define ASCEND_SDK_TILING_SOFTMAX_TILING_H

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/library_shape.h"
#include "tiling/library_tiling_classes.h"

namespace AscendC {
uint32_t GetSoftMaxMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source);
uint32_t GetSoftMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source);
void SoftMaxTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                       optiling::SoftMaxTiling& tiling);
void SoftMaxTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                       tiling::SoftMaxTiling& tiling);

uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape shape, const uint32_t type_size, const bool reuse_source);
uint32_t GetLogSoftMaxMinTmpSize(const TensorShape shape, const uint32_t type_size, const bool reuse_source);
void LogSoftMaxTilingFunc(const TensorShape shape, const uint32_t type_size, const uint32_t workspace,
                          optiling::LogSoftMaxTiling& tiling);
void LogSoftMaxTilingFunc(const TensorShape shape, const uint32_t type_size, const uint32_t workspace,
                          tiling::LogSoftMaxTiling& tiling);

uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool update,
                                   const bool reuse_source);
uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool update,
                                   const bool reuse_source);
void SoftMaxFlashTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                            optiling::SoftMaxTiling& tiling, const bool update = false);
void SoftMaxFlashTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                            tiling::SoftMaxTiling& tiling, const bool update = false);

uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool front,
                                  const bool reuse_source);
uint32_t GetSoftMaxGradMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool front,
                                  const bool reuse_source);
void SoftMaxGradTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                           optiling::SoftMaxTiling& tiling, const bool front = false);
void SoftMaxGradTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                           tiling::SoftMaxTiling& tiling, const bool front = false);

// The second version takes sizes of the input's and of the maximum's and sum's elements.
uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                     const bool update, const bool basic_block = false,
                                     const bool broadcast_output = false);
uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                     const bool update, const bool basic_block = false,
                                     const bool broadcast_output = false);
void SoftMaxFlashV2TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, optiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block = false, const bool broadcast_output = false);
void SoftMaxFlashV2TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, tiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block = false, const bool broadcast_output = false);

void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                    uint32_t& max_bytes, uint32_t& min_bytes, const bool update,
                                    const bool basic_block = false);
void SoftMaxFlashV3TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, optiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block = false);
void SoftMaxFlashV3TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, tiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block = false);

// Whether kernels may take the path of whole blocks of 64 columns.
bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, const uint32_t type_size = 2);
bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, const uint32_t type_size = 2);
} // namespace AscendC

#endif
