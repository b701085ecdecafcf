// What a tiling function reads (shapes, attributes, platform) and what it decides (tiling data, key, blocks, workspace).
#ifndef ASCEND_SDK_EXE_GRAPH_TILING_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_TILING_CONTEXT_H

// Tiling functions rely on sets without including them.
#include <set>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/stride.h"
#include "exe_graph/runtime/tiling_data.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {
class TilingContext : public ExtendedKernelContext {
public:
    // Everything a tiling function decides.
    struct Decision {
        uint64_t tiling_key = 0;
        uint32_t block_dim = 1;
        uint32_t schedule_mode = 0;
        uint32_t local_memory_bytes = 0;
        uint32_t aicpu_block_dim = 0;
        int32_t tiling_cond = 0;
        bool need_atomic = false;
        std::vector<size_t> workspace_bytes;
    };
    // Everything it may ask for; the pointers outlive the context.
    struct Question {
        std::vector<Tensor> inputs;  // instances
        std::vector<Tensor> outputs; // instances
        const void* compile_info = nullptr;
        fe::PlatFormInfos* platform = nullptr;
        TilingData* tiling_data = nullptr;
        int32_t deterministic = 0;
        bool has_workspace = true; // false: nowhere to put workspace sizes, which tests try
    };
    // The largest number of workspaces that one operator may ask for.
    static constexpr size_t kMaxWorkspaces = 16;

    TilingContext(const ComputeNodeInfo& node, Question question);
    ~TilingContext();

    const void* GetCompileInfo() const
    {
        return question_.compile_info;
    }
    template <typename T>
    const T* GetCompileInfo() const
    {
        return static_cast<const T*>(question_.compile_info);
    }

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
    const StorageShape* GetInputShape(size_t index) const
    {
        return ShapeOf(GetInputTensor(index));
    }
    const StorageShape* GetDynamicInputShape(size_t ir_index, size_t relative_index) const
    {
        return ShapeOf(GetDynamicInputTensor(ir_index, relative_index));
    }
    const StorageShape* GetOptionalInputShape(size_t ir_index) const
    {
        return GetDynamicInputShape(ir_index, 0);
    }
    const StorageShape* GetRequiredInputShape(size_t ir_index) const
    {
        return GetDynamicInputShape(ir_index, 0);
    }
    const StorageShape* GetOutputShape(size_t index) const;

    // Simulated tensors are never views.
    bool InputIsView(size_t) const
    {
        return false;
    }
    bool OutputIsView(size_t) const
    {
        return false;
    }
    // None: the tensor is contiguous.
    const Stride* GetInputStride(size_t) const
    {
        return nullptr;
    }
    const Stride* GetOutputStride(size_t) const
    {
        return nullptr;
    }

    ge::graphStatus SetTilingKey(uint64_t tiling_key)
    {
        decision_.tiling_key = tiling_key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const
    {
        return decision_.tiling_key;
    }
    ge::graphStatus SetScheduleMode(uint32_t schedule_mode)
    {
        decision_.schedule_mode = schedule_mode;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetScheduleMode() const
    {
        return decision_.schedule_mode;
    }
    ge::graphStatus SetBlockDim(uint32_t block_dim)
    {
        decision_.block_dim = block_dim;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const
    {
        return decision_.block_dim;
    }
    // Newer names of the block dimension.
    ge::graphStatus SetNumBlocks(uint32_t num_blocks)
    {
        return SetBlockDim(num_blocks);
    }
    uint32_t GetNumBlocks() const
    {
        return GetBlockDim();
    }
    ge::graphStatus SetSimdNumBlocks(uint32_t num_blocks)
    {
        return SetBlockDim(num_blocks);
    }
    uint32_t GetSimdNumBlocks() const
    {
        return GetBlockDim();
    }
    ge::graphStatus SetAicpuBlockDim(uint32_t block_dim)
    {
        decision_.aicpu_block_dim = block_dim;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetAicpuBlockDim() const
    {
        return decision_.aicpu_block_dim;
    }
    ge::graphStatus SetTilingCond(int32_t tiling_cond)
    {
        decision_.tiling_cond = tiling_cond;
        return ge::GRAPH_SUCCESS;
    }
    int32_t GetTilingCond() const
    {
        return decision_.tiling_cond;
    }
    ge::graphStatus SetNeedAtomic(bool atomic)
    {
        decision_.need_atomic = atomic;
        return ge::GRAPH_SUCCESS;
    }
    bool NeedAtomic() const
    {
        return decision_.need_atomic;
    }
    ge::graphStatus SetLocalMemorySize(uint32_t bytes)
    {
        decision_.local_memory_bytes = bytes;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetLocalMemorySize() const
    {
        return decision_.local_memory_bytes;
    }

    TilingData* GetRawTilingData()
    {
        return question_.tiling_data;
    }
    // The tiling data as a struct; null when it is larger than the capacity.
    template <typename T>
    T* GetTilingData()
    {
        TilingData* const data = question_.tiling_data;
        if (data == nullptr || data->GetCapacity() < sizeof(T)) {
            return nullptr;
        }
        data->SetDataSize(sizeof(T));
        return static_cast<T*>(data->GetData());
    }
    // An array of `count` sizes in bytes that the caller fills.
    size_t* GetWorkspaceSizes(size_t count);
    size_t GetWorkspaceNum() const;

    fe::PlatFormInfos* GetPlatformInfo() const
    {
        return question_.platform;
    }
    int32_t GetDeterministic() const
    {
        return question_.deterministic;
    }
    int32_t GetDeterministicLevel() const
    {
        return question_.deterministic;
    }

    const Decision& GetDecision() const
    {
        return decision_;
    }

private:
    static const StorageShape* ShapeOf(const Tensor* tensor)
    {
        return tensor == nullptr ? nullptr : &tensor->GetShape();
    }

    Question question_;
    Decision decision_;
};
} // namespace gert

#endif
