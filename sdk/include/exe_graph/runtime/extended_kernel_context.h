// Common base of the contexts: access to what ComputeNodeInfo knows.
#ifndef ASCEND_SDK_EXE_GRAPH_EXTENDED_KERNEL_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_EXTENDED_KERNEL_CONTEXT_H

#include "exe_graph/runtime/compute_node_info.h"

namespace gert {
class ExtendedKernelContext {
public:
    const CompileTimeTensorDesc* GetInputDesc(size_t index) const
    {
        return node_->GetInputTdInfo(index);
    }
    const CompileTimeTensorDesc* GetOptionalInputDesc(size_t ir_index) const
    {
        return GetDynamicInputDesc(ir_index, 0);
    }
    const CompileTimeTensorDesc* GetRequiredInputDesc(size_t ir_index) const
    {
        return GetDynamicInputDesc(ir_index, 0);
    }
    const CompileTimeTensorDesc* GetDynamicInputDesc(size_t ir_index, size_t relative_index) const
    {
        size_t index = 0;
        return FindInput(ir_index, relative_index, index) ? node_->GetInputTdInfo(index) : nullptr;
    }
    const CompileTimeTensorDesc* GetOutputDesc(size_t index) const
    {
        return node_->GetOutputTdInfo(index);
    }
    const CompileTimeTensorDesc* GetRequiredOutputDesc(size_t ir_index) const
    {
        return GetDynamicOutputDesc(ir_index, 0);
    }
    const CompileTimeTensorDesc* GetDynamicOutputDesc(size_t ir_index, size_t relative_index) const
    {
        const AnchorInstanceInfo* const info = node_->GetOutputInstanceInfo(ir_index);
        return info == nullptr || relative_index >= info->GetInstanceNum() ?
                   nullptr :
                   node_->GetOutputTdInfo(info->GetInstanceStart() + relative_index);
    }
    const AnchorInstanceInfo* GetIrInputInstanceInfo(size_t ir_index) const
    {
        return node_->GetInputInstanceInfo(ir_index);
    }
    const AnchorInstanceInfo* GetIrOutputInstanceInfo(size_t ir_index) const
    {
        return node_->GetOutputInstanceInfo(ir_index);
    }
    size_t GetComputeNodeInputNum() const
    {
        return node_->GetInputsNum();
    }
    size_t GetComputeNodeOutputNum() const
    {
        return node_->GetOutputsNum();
    }
    const RuntimeAttrs* GetAttrs() const
    {
        return node_->GetAttrs();
    }
    const ge::char_t* GetNodeType() const
    {
        return node_->GetNodeType();
    }
    const ge::char_t* GetNodeName() const
    {
        return node_->GetNodeName();
    }
    const ComputeNodeInfo* GetComputeNodeInfo() const
    {
        return node_;
    }

protected:
    explicit ExtendedKernelContext(const ComputeNodeInfo& node) : node_(&node) {}
    ~ExtendedKernelContext() = default;

    // Turns an IR index and a position in it into an instance index.
    bool FindInput(size_t ir_index, size_t relative_index, size_t& index) const
    {
        const AnchorInstanceInfo* const info = node_->GetInputInstanceInfo(ir_index);
        if (info == nullptr || relative_index >= info->GetInstanceNum()) {
            return false;
        }
        index = info->GetInstanceStart() + relative_index;
        return true;
    }

private:
    const ComputeNodeInfo* node_;
};
} // namespace gert

#endif
