// Tilings of softmax that a kernel works out itself, when its rows are not those that the host tiled for.
#ifndef ASCENDC_ADV_SOFTMAX_TILING_H
#define ASCENDC_ADV_SOFTMAX_TILING_H

#include "ascendc/adv/softmax.h"

namespace AscendC {
namespace detail {
namespace softmax {

/// Rows at once by the vendor's formula for whole blocks of 64 columns and 8 rows: a divisor of all rows.
constexpr uint32_t BasicBlockRows(uint32_t floats, uint32_t rowSize, uint32_t perBlock, uint32_t m, uint32_t k)
{
    constexpr uint32_t eight = rows::BLOCK;
    uint32_t split = floats / (perBlock + (rowSize == B16_BYTE_SIZE ? k : 0) + rows::LANES);
    split = split < m ? split : m;
    if (split > eight) {
        split = split / eight * eight;
        while (m % split != 0) {
            split -= eight;
        }
        while (split * k >= rows::LANES * static_cast<uint32_t>(DEFAULT_BLOCK_SIZE)) {
            split /= 2;
        }
    }
    return split;
}

}  // namespace softmax
}  // namespace detail

/// How SoftmaxFlashV2 splits `m` rows of `k` elements of `dataTypeSize1` bytes, with sums and maxima of `dataTypeSize2`
/// bytes, to make do with `localWorkSpaceSize` floats. The name is the vendor's internal one; kernels use it.
ASC_API constexpr SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(
    const uint32_t m, const uint32_t k, const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
    const uint32_t localWorkSpaceSize, const bool isUpdate = false, const bool isBasicBlock = false,
    const bool isDataFormatNZ = false, const bool isFlashOutputBrc = false)
{
    (void)isUpdate;
    constexpr uint32_t eight = detail::rows::BLOCK;
    constexpr uint32_t lanes = detail::rows::LANES;
    const uint32_t floats = localWorkSpaceSize;
    const uint32_t perBlock = ONE_BLK_SIZE / dataTypeSize2;
    const bool narrow = dataTypeSize1 == B16_BYTE_SIZE;
    uint32_t split = 0;
    if (isDataFormatNZ) {
        split = floats / (3 * 16 + k);
    } else if (isBasicBlock && k % lanes == 0 && m % eight == 0) {
        split = detail::softmax::BasicBlockRows(floats, dataTypeSize1, perBlock, m, k);
    } else {
        split = floats / (narrow ? 2 * perBlock + k + lanes : perBlock + lanes);
    }
    const uint32_t unit = isFlashOutputBrc && narrow ? 2 * eight : eight;
    if (split < m && split > unit) {
        split = split / unit * unit;
    }
    split = split < m ? split : m;

    SoftMaxTiling tiling;
    tiling.srcM = m;
    tiling.srcK = k;
    tiling.srcSize = m * k;
    tiling.outMaxM = m;
    tiling.outMaxK = perBlock;
    tiling.outMaxSize = m * perBlock;
    tiling.splitM = split;
    tiling.splitK = k;
    tiling.splitSize = split * k;
    tiling.reduceM = split;
    tiling.reduceK = perBlock;
    tiling.reduceSize = split * perBlock;
    tiling.rangeM = split == 0 ? 0 : m / split;
    tiling.tailM = split == 0 ? 0 : m % split;
    tiling.tailSplitSize = tiling.tailM * k;
    tiling.tailReduceSize = tiling.tailM * perBlock;
    return tiling;
}

/// The same for a shape, with the size of the temporary buffer in bytes.
ASC_API constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(
    const SoftMaxShapeInfo& shapeInfo, const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
    const uint32_t localWorkSpaceSize, const bool isUpdate = false, const bool isBasicBlock = false,
    const bool isDataFormatNZ = false, const bool isFlashOutputBrc = false)
{
    return SoftMaxFlashV2TilingFuncImpl(
        shapeInfo.srcM, shapeInfo.srcK, dataTypeSize1, dataTypeSize2, localWorkSpaceSize / B32_BYTE_SIZE, isUpdate,
        isBasicBlock, isDataFormatNZ, isFlashOutputBrc);
}

}  // namespace AscendC

#endif
