// Context of shape range inference. The runner never calls it (all shapes are known here); it exists so that
// sources with such a function compile and register.
#ifndef ASCEND_SDK_EXE_GRAPH_INFER_SHAPE_RANGE_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_INFER_SHAPE_RANGE_CONTEXT_H

#include <vector>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/range.h"
#include "exe_graph/runtime/runtime_tensor.h"

namespace gert {
using TensorRange = Range<Tensor>;

class InferShapeRangeContext : public ExtendedKernelContext {
public:
    InferShapeRangeContext(const ComputeNodeInfo& node, std::vector<Range<Shape>> inputs,
                           std::vector<Range<Shape>> outputs, std::vector<TensorRange> tensors);
    ~InferShapeRangeContext();

    const Range<Shape>* GetInputShapeRange(size_t index) const;
    const Range<Shape>* GetOptionalInputShapeRange(size_t ir_index) const
    {
        return GetDynamicInputShapeRange(ir_index, 0);
    }
    const Range<Shape>* GetRequiredInputShapeRange(size_t ir_index) const
    {
        return GetDynamicInputShapeRange(ir_index, 0);
    }
    const Range<Shape>* GetDynamicInputShapeRange(size_t ir_index, size_t relative_index) const
    {
        size_t index = 0;
        return FindInput(ir_index, relative_index, index) ? GetInputShapeRange(index) : nullptr;
    }
    const TensorRange* GetInputTensorRange(size_t index) const;
    const TensorRange* GetOptionalInputTensorRange(size_t ir_index) const
    {
        size_t index = 0;
        return FindInput(ir_index, 0, index) ? GetInputTensorRange(index) : nullptr;
    }
    Range<Shape>* GetOutputShapeRange(size_t index);

private:
    std::vector<Range<Shape>> inputs_;
    std::vector<Range<Shape>> outputs_;
    std::vector<TensorRange> tensors_;
};
} // namespace gert

#endif
