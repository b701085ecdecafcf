// Context of data type inference.
#ifndef ASCEND_SDK_EXE_GRAPH_INFER_DATATYPE_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_INFER_DATATYPE_CONTEXT_H

#include <vector>

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {
class InferDataTypeContext : public ExtendedKernelContext {
public:
    explicit InferDataTypeContext(const ComputeNodeInfo& node);
    ~InferDataTypeContext();

    ge::DataType GetInputDataType(size_t index) const
    {
        return TypeOf(GetInputDesc(index));
    }
    ge::DataType GetOptionalInputDataType(size_t ir_index) const
    {
        return TypeOf(GetOptionalInputDesc(ir_index));
    }
    ge::DataType GetRequiredInputDataType(size_t ir_index) const
    {
        return TypeOf(GetRequiredInputDesc(ir_index));
    }
    ge::DataType GetDynamicInputDataType(size_t ir_index, size_t relative_index) const
    {
        return TypeOf(GetDynamicInputDesc(ir_index, relative_index));
    }
    ge::DataType GetOutputDataType(size_t index) const;
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType data_type);

private:
    static ge::DataType TypeOf(const CompileTimeTensorDesc* desc)
    {
        return desc == nullptr ? ge::DT_UNDEFINED : desc->GetDataType();
    }

    std::vector<ge::DataType> outputs_;
};
} // namespace gert

#endif
