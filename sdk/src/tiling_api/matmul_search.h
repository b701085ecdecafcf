// The search behind the matrix tiling classes.
#ifndef ASCEND_SDK_TILING_API_MATMUL_SEARCH_H
#define ASCEND_SDK_TILING_API_MATMUL_SEARCH_H

#include "tiling/matmul_tiling.h"

namespace matmul_tiling {
constexpr int32_t kCube = 16; // rows and columns of a fractal

constexpr int32_t CeilDiv(int32_t value, int32_t unit)
{
    return unit <= 0 ? 0 : (value + unit - 1) / unit;
}

// Elements of a dtype in 32 bytes: what the cube takes along k at once.
int32_t BlockElements(DataType dtype);

// Fills `request.tiling_` and the base sizes; false where the request is not valid or nothing fits.
bool SearchMatmul(MatmulApiTilingBase& request);
} // namespace matmul_tiling

#endif
