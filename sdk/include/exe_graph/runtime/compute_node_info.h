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
    ComputeNodeInfo() = default;

    const ge::char_t* GetNodeType() const
    {
        return type_.c_str();
    }
    const ge::char_t* GetNodeName() const
    {
        return name_.c_str();
    }
    size_t GetIrInputsNum() const
    {
        return ir_inputs_.size();
    }
    size_t GetIrOutputsNum() const
    {
        return ir_outputs_.size();
    }
    size_t GetInputsNum() const
    {
        return inputs_.size();
    }
    size_t GetOutputsNum() const
    {
        return outputs_.size();
    }
    const AnchorInstanceInfo* GetInputInstanceInfo(size_t ir_index) const
    {
        return At(ir_inputs_, ir_index);
    }
    const AnchorInstanceInfo* GetOutputInstanceInfo(size_t ir_index) const
    {
        return At(ir_outputs_, ir_index);
    }
    const CompileTimeTensorDesc* GetInputTdInfo(size_t index) const
    {
        return At(inputs_, index);
    }
    const CompileTimeTensorDesc* GetOutputTdInfo(size_t index) const
    {
        return At(outputs_, index);
    }
    const RuntimeAttrs* GetAttrs() const
    {
        return &attrs_;
    }

    // For the builder of the context.
    void SetNode(std::string type, std::string name)
    {
        type_ = std::move(type);
        name_ = std::move(name);
    }
    void AddIrInput(const std::vector<CompileTimeTensorDesc>& instances)
    {
        Add(instances, ir_inputs_, inputs_);
    }
    void AddIrOutput(const std::vector<CompileTimeTensorDesc>& instances)
    {
        Add(instances, ir_outputs_, outputs_);
    }
    RuntimeAttrs& MutableAttrs()
    {
        return attrs_;
    }

private:
    template <typename T>
    static const T* At(const std::vector<T>& items, size_t index)
    {
        return index < items.size() ? &items[index] : nullptr;
    }
    static void Add(const std::vector<CompileTimeTensorDesc>& instances, std::vector<AnchorInstanceInfo>& ir,
                    std::vector<CompileTimeTensorDesc>& all)
    {
        ir.emplace_back(static_cast<uint32_t>(all.size()), static_cast<uint32_t>(instances.size()));
        all.insert(all.end(), instances.begin(), instances.end());
    }

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
