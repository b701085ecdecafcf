// Shapes and dtypes as the functions take them that size library buffers.
#ifndef ASCEND_SDK_TILING_LIBRARY_SHAPE_H
#define ASCEND_SDK_TILING_LIBRARY_SHAPE_H

#include "graph/tensor.h"
#include "graph/types.h"

namespace AscendC {
using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;
} // namespace AscendC

#endif
