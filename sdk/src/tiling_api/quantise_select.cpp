// Selection by a mask, quantisation and broadcasting on the host.
#include <algorithm>

#include "arithmetic.h"
#include "tiling/rearrange_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {
uint32_t SelectBytes(const TensorShape& first, const TensorShape& second, const TensorShape& mask, uint32_t mask_size,
                     bool reuse_mask, bool smallest)
{
    const bool first_is_scalar = first.GetDimNum() == 0 || first.GetShapeSize() == 1;
    const TensorShape& source = first_is_scalar ? second : first;
    const uint32_t size = Elements(source);
    const int64_t columns = source.GetDim(source.GetDimNum() - 1);
    const int64_t mask_columns = mask.GetDim(mask.GetDimNum() - 1);
    // Widened operands of a step, and room for the bits of the mask.
    const uint32_t step = smallest ? std::min(size, 4096u) : size;
    uint32_t bytes = std::max(1024u, RoundUp(step, kBlockBytes) * 2 + 512);
    if (mask_columns != columns && !reuse_mask && mask_columns > 1) {
        bytes += RoundUp(size * mask_size, kBlockBytes);
    }
    return bytes;
}
} // namespace

#define SELECT(name)                                                                                                  \
    uint32_t Get##name##MinTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t,               \
                                   const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask)          \
    {                                                                                                                 \
        return SelectBytes(first, second, mask, mask_size, reuse_mask, true);                                         \
    }                                                                                                                 \
    uint32_t Get##name##MaxTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t,               \
                                   const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask)          \
    {                                                                                                                 \
        return SelectBytes(first, second, mask, mask_size, reuse_mask, false);                                        \
    }                                                                                                                 \
    void Get##name##MaxMinTmpSize(const TensorShape& first, const TensorShape& second, const uint32_t,                \
                                  const TensorShape& mask, const uint32_t mask_size, const bool reuse_mask,           \
                                  uint32_t& max_bytes, uint32_t& min_bytes)                                           \
    {                                                                                                                 \
        max_bytes = SelectBytes(first, second, mask, mask_size, reuse_mask, false);                                   \
        min_bytes = SelectBytes(first, second, mask, mask_size, reuse_mask, true);                                    \
    }
SELECT(Select)
SELECT(SelectWithBytesMask)
#undef SELECT

namespace {
uint32_t ScaleElements(const TensorShape& scale)
{
    return scale.GetDimNum() == 0 ? 1 : Elements(scale);
}

// Temporaries for a scale of each channel: independent of how much is computed at once.
uint32_t ByChannel(const TensorShape& shape, uint32_t scales, bool transposed)
{
    return transposed ? 80 * scales * 4 : scales * 2 * 4 + 64 * Dim(shape, 0) * 4;
}
} // namespace

uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                      TensorDataType, TensorDataType out)
{
    if (out == ge::DT_FLOAT16) {
        return 0;
    }
    const uint32_t scales = ScaleElements(scale);
    return scales == 1 ? Elements(shape) * 4 : ByChannel(shape, scales, transposed);
}

uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                      TensorDataType, TensorDataType out)
{
    if (out == ge::DT_FLOAT16) {
        return 0;
    }
    const uint32_t scales = ScaleElements(scale);
    return scales == 1 ? 1024 : ByChannel(shape, scales, transposed);
}

void GetAscendAntiQuantMaxMinTmpSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                     TensorDataType in, TensorDataType out, uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = GetAscendAntiQuantMaxTmpSize(shape, scale, transposed, in, out);
    min_bytes = GetAscendAntiQuantMinTmpSize(shape, scale, transposed, in, out);
}

void GetAscendAntiQuantTmpBufferFactorSize(const TensorShape& shape, const TensorShape& scale, bool transposed,
                                           TensorDataType, TensorDataType out, uint32_t& live_tensors,
                                           uint32_t& extra_bytes)
{
    const uint32_t scales = ScaleElements(scale);
    live_tensors = 0;
    extra_bytes = 0;
    if (out == ge::DT_FLOAT16) {
        return;
    }
    if (scales == 1) {
        live_tensors = 1;
    } else {
        extra_bytes = ByChannel(shape, scales, transposed);
    }
}

void GetAntiQuantizeMaxMinTmpSize(const TensorShape&, const TensorShape&, bool, TensorDataType, TensorDataType,
                                  uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = 0;
    min_bytes = 0;
}

void GetAntiQuantizeTmpBufferFactorSize(const TensorShape&, const TensorShape&, TensorDataType, TensorDataType,
                                        uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = 0;
    extra_bytes = 0;
}

void GetAscendDequantMaxMinTmpSize(const TensorShape& shape, const uint32_t, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (shape.GetDimNum() != 1 && shape.GetDimNum() != 2) {
        return;
    }
    const uint32_t rows = shape.GetDimNum() == 2 ? Dim(shape, 0) : 1;
    const uint32_t columns = Dim(shape, shape.GetDimNum() - 1);
    // A repeat, the scales with a block to spare, and as many widened rows as are computed at once.
    const uint32_t fixed = 64 + columns + 8;
    max_bytes = (fixed + rows * columns) * 4;
    min_bytes = (fixed + columns) * 4;
}

void GetAscendDequantTmpBufferFactorSize(const TensorShape& shape, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = 0;
    extra_bytes = 0;
    if (shape.GetDimNum() == 2) {
        live_tensors = 1;
        extra_bytes = 72 + Dim(shape, 1);
    } else if (shape.GetDimNum() == 1) {
        live_tensors = 2;
        extra_bytes = 72;
    }
}

void GetDequantizeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                                uint32_t& min_bytes)
{
    GetAscendDequantMaxMinTmpSize(shape, type_size, max_bytes, min_bytes);
}

void GetDequantizeTmpBufferFactorSize(const TensorShape& shape, uint32_t& live_tensors, uint32_t& extra_bytes)
{
    GetAscendDequantTmpBufferFactorSize(shape, live_tensors, extra_bytes);
}

void GetAscendQuantMaxMinTmpSize(const TensorShape& shape, const uint32_t, uint32_t& max_bytes, uint32_t& min_bytes)
{
    min_bytes = 2 * kRepeatBytes;
    max_bytes = RoundUp(std::max(Elements(shape) * 2, min_bytes), kBlockBytes);
}

void GetAscendQuantTmpBufferFactorSize(uint32_t& live_tensors, uint32_t& extra_bytes)
{
    live_tensors = 2;
    extra_bytes = 0;
}

void GetQuantizeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                              uint32_t& min_bytes)
{
    GetAscendQuantMaxMinTmpSize(shape, type_size, max_bytes, min_bytes);
}

void GetQuantizeTmpBufferFactorSize(uint32_t& live_tensors, uint32_t& extra_bytes)
{
    GetAscendQuantTmpBufferFactorSize(live_tensors, extra_bytes);
}

void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape& source,
                               const TensorShape& destination, uint32_t type_size, const bool, uint32_t& max_bytes,
                               uint32_t& min_bytes)
{
    const size_t dims = destination.GetDimNum();
    if (dims == 0 || dims > 2 || source.GetDimNum() != dims || type_size == 0 || type_size > kBlockBytes) {
        return;
    }
    for (size_t i = 0; i < dims; ++i) {
        if (source.GetDim(i) != destination.GetDim(i) && source.GetDim(i) != 1) {
            return;
        }
    }
    // Bytes are widened to half, both the operand and the result.
    uint32_t cast = 0;
    const bool widened = type_size == 1;
    if (widened) {
        type_size = 2;
        cast = (RoundUp(Elements(source), 16) + RoundUp(Elements(destination), 16)) * type_size;
    }
    const bool same = source.GetShapeSize() == destination.GetShapeSize() || source.GetShapeSize() == 1;
    if (same || source.GetDim(1) != 1) {
        const uint32_t bytes = same && !widened ? 0 : cast + kBlockBytes;
        max_bytes = bytes;
        min_bytes = bytes;
        return;
    }
    // A column: each element fills a block, and rows that are no whole blocks are put together elsewhere.
    const uint32_t per_block = kBlockBytes / type_size;
    const uint32_t rows = Dim(destination, 0);
    const uint32_t columns = Dim(destination, 1);
    min_bytes = per_block * kBlockBytes + cast;
    max_bytes = RoundUp(rows, 8) * kBlockBytes + cast;
    if (columns % per_block != 0) {
        min_bytes += per_block * RoundUp(columns, per_block) * type_size;
        max_bytes += rows * RoundUp(columns, per_block) * type_size;
    }
}
} // namespace AscendC
