// Context of shape inference. Input shapes are origin shapes.
#ifndef ASCEND_SDK_EXE_GRAPH_INFER_SHAPE_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_INFER_SHAPE_CONTEXT_H

#include <vector>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "exe_graph/runtime/shape.h"

namespace gert {
class InferShapeContext : public ExtendedKernelContext {
public:
    InferShapeContext(const ComputeNodeInfo& node, std::vector<Tensor> inputs);
    ~InferShapeContext();

    const Tensor* GetInputTensor(size_t index) const;
    const Tensor* GetDynamicInputTensor(size_t ir_index, size_t relative_index) const
    {
        size_t index = 0;
        return FindInput(ir_index, relative_index, index) ? GetInputTensor(index) : nullptr;
    }
    const Tensor* GetOptionalInputTensor(size_t ir_index) const
    {
        return GetDynamicInputTensor(ir_index, 0);
    }
    const Tensor* GetRequiredInputTensor(size_t ir_index) const
    {
        return GetDynamicInputTensor(ir_index, 0);
    }
    const Shape* GetInputShape(size_t index) const
    {
        return ShapeOf(GetInputTensor(index));
    }
    const Shape* GetDynamicInputShape(size_t ir_index, size_t relative_index) const
    {
        return ShapeOf(GetDynamicInputTensor(ir_index, relative_index));
    }
    const Shape* GetOptionalInputShape(size_t ir_index) const
    {
        return GetDynamicInputShape(ir_index, 0);
    }
    const Shape* GetRequiredInputShape(size_t ir_index) const
    {
        return GetDynamicInputShape(ir_index, 0);
    }
    Shape* GetOutputShape(size_t index);
    // Not part of the real interface: whether the function gave the output a shape. Without dimensions there are none to
    // look at, so a mark in the first unused one tells what was left alone from a scalar.
    bool HasOutputShape(size_t index) const;

private:
    static const Shape* ShapeOf(const Tensor* tensor)
    {
        return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
    }

    std::vector<Tensor> inputs_;
    std::vector<Shape> outputs_;
};
} // namespace gert

#endif
