// What is known of a node before any data: its name and type, its inputs and outputs, its attributes.
//
// IR inputs are those of the operator definition; instances are what a concrete call passes. An optional input
// that is absent has no instance, a dynamic input has as many as tensors were passed.
#ifndef ASCEND_SDK_EXE_GRAPH_COMPUTE_NODE_INFO_H
#define ASCEND_SDK_EXE_GRAPH_COMPUTE_NODE_INFO_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_format.h"
#include "graph/types.h"

namespace gert {
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(uint32_t instance_start, uint32_t instance_num) : start_(instance_start), num_(instance_num) {}
    size_t GetInstanceNum() const
    {
        return num_;
    }
    size_t GetInstanceStart() const
    {
        return start_;
    }
    void SetInstanceStart(uint32_t start)
    {
        start_ = start;
    }
    void SetInstantiationNum(uint32_t num)
    {
        num_ = num;
    }

private:
    uint32_t start_ = 0;
    uint32_t num_ = 0;
};

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const
    {
        return data_type_;
    }
    const StorageFormat& GetFormat() const
    {
        return format_;
    }
    ge::Format GetOriginFormat() const
    {
        return format_.GetOriginFormat();
    }
    ge::Format GetStorageFormat() const
    {
        return format_.GetStorageFormat();
    }
    ExpandDimsType GetExpandDimsType() const
    {
        return format_.GetExpandDimsType();
    }
    void SetDataType(ge::DataType data_type)
    {
        data_type_ = data_type;
    }
    void SetStorageFormat(ge::Format format)
    {
        format_.SetStorageFormat(format);
    }
    void SetOriginFormat(ge::Format format)
    {
        format_.SetOriginFormat(format);
    }
    void SetExpandDimsType(const ExpandDimsType& type)
    {
        format_.SetExpandDimsType(type);
    }

private:
    ge::DataType data_type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

class ComputeNodeInfo {
public:
    ComputeNodeInfo();
    ~ComputeNodeInfo();
    ComputeNodeInfo(const ComputeNodeInfo& other);
    ComputeNodeInfo(ComputeNodeInfo&& other) noexcept;
    ComputeNodeInfo& operator=(const ComputeNodeInfo& other);
    ComputeNodeInfo& operator=(ComputeNodeInfo&& other) noexcept;

    const ge::char_t* GetNodeType() const;
    const ge::char_t* GetNodeName() const;
    size_t GetIrInputsNum() const;
    size_t GetIrOutputsNum() const;
    size_t GetInputsNum() const;
    size_t GetOutputsNum() const;
    const AnchorInstanceInfo* GetInputInstanceInfo(size_t ir_index) const;
    const AnchorInstanceInfo* GetOutputInstanceInfo(size_t ir_index) const;
    const CompileTimeTensorDesc* GetInputTdInfo(size_t index) const;
    const CompileTimeTensorDesc* GetOutputTdInfo(size_t index) const;
    const RuntimeAttrs* GetAttrs() const
    {
        return &attrs_;
    }
    // What a node is may be changed by whoever only looks at it: shape inference sets the types of outputs so.
    AnchorInstanceInfo* MutableInputInstanceInfo(size_t ir_index) const;
    AnchorInstanceInfo* MutableOutputInstanceInfo(size_t ir_index) const;
    CompileTimeTensorDesc* MutableInputTdInfo(size_t index) const;
    CompileTimeTensorDesc* MutableOutputTdInfo(size_t index) const;
    RuntimeAttrs* MutableAttrs() const;

    // For the builder of the context.
    void SetNode(std::string type, std::string name);
    void AddIrInput(const std::vector<CompileTimeTensorDesc>& instances);
    void AddIrOutput(const std::vector<CompileTimeTensorDesc>& instances);

private:
    std::string type_;
    std::string name_;
    std::vector<AnchorInstanceInfo> ir_inputs_;
    std::vector<AnchorInstanceInfo> ir_outputs_;
    std::vector<CompileTimeTensorDesc> inputs_;
    std::vector<CompileTimeTensorDesc> outputs_;
    RuntimeAttrs attrs_;
};
} // namespace gert

#endif
