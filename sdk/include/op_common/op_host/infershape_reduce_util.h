// Shape inference of reductions.
#ifndef ASCEND_SDK_OPBASE_INFERSHAPE_REDUCE_UTIL_H
#define ASCEND_SDK_OPBASE_INFERSHAPE_REDUCE_UTIL_H

#include <cstdint>
#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"
#include "op_common/log/log.h"
#include "op_common/op_host/util/opbase_export.h"
#include "op_common/op_host/util/shape_util.h"

namespace Ops {
namespace Base {
namespace Detail {
// Reduces the `count` axes given; false when one is out of range.
bool ReduceAxes(const gert::Shape& input, const int64_t* axes, size_t count, bool keep_dims, gert::Shape& output);
} // namespace Detail

template <typename T>
ge::graphStatus ReduceDims(const gert::Shape* xShape, const T* axesDims, int32_t axesSize, bool keepDims,
                           gert::Shape* outputShape)
{
    if (axesDims == nullptr && axesSize > 0) {
        return ge::GRAPH_FAILED;
    }
    std::vector<int64_t> axes;
    for (int32_t i = 0; i < axesSize; ++i) {
        axes.push_back(static_cast<int64_t>(axesDims[i]));
    }
    const bool done = Detail::ReduceAxes(*xShape, axes.data(), axes.size(), keepDims, *outputShape);
    return done ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

template <typename T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape* xShape, const T* axesDims, int32_t axesSize,
                                       gert::Shape* outputShape)
{
    return ReduceDims<T>(xShape, axesDims, axesSize, true, outputShape);
}

template <typename T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape* xShape, const T* axesDims, int32_t axesSize,
                                          gert::Shape* outputShape)
{
    return ReduceDims<T>(xShape, axesDims, axesSize, false, outputShape);
}

template <typename T>
ge::graphStatus ReduceDims(const gert::Shape* xShape, const gert::Tensor* axesTensor, int32_t axesSize,
                           const bool keepDims, gert::Shape* outputShape)
{
    return ReduceDims<T>(xShape, axesTensor->GetData<T>(), axesSize, keepDims, outputShape);
}

// Input 1 holds the axes, attribute 0 says whether reduced axes stay with size 1.
OPBASE_API ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context);
} // namespace Base
} // namespace Ops

#endif
