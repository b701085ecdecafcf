// What contexts of host functions do with their lists: compiled once, in the library, and not in every host source.
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "exe_graph/runtime/tiling_context.h"

namespace gert {
namespace {
template <typename T>
const T* At(const std::vector<T>& items, size_t index)
{
    return index < items.size() ? &items[index] : nullptr;
}

void Add(const std::vector<CompileTimeTensorDesc>& instances, std::vector<AnchorInstanceInfo>& ir,
         std::vector<CompileTimeTensorDesc>& all)
{
    ir.emplace_back(static_cast<uint32_t>(all.size()), static_cast<uint32_t>(instances.size()));
    all.insert(all.end(), instances.begin(), instances.end());
}
} // namespace

ComputeNodeInfo::ComputeNodeInfo() = default;
ComputeNodeInfo::~ComputeNodeInfo() = default;
ComputeNodeInfo::ComputeNodeInfo(const ComputeNodeInfo& other) = default;
ComputeNodeInfo::ComputeNodeInfo(ComputeNodeInfo&& other) noexcept = default;
ComputeNodeInfo& ComputeNodeInfo::operator=(const ComputeNodeInfo& other) = default;
ComputeNodeInfo& ComputeNodeInfo::operator=(ComputeNodeInfo&& other) noexcept = default;

const ge::char_t* ComputeNodeInfo::GetNodeType() const
{
    return type_.c_str();
}

const ge::char_t* ComputeNodeInfo::GetNodeName() const
{
    return name_.c_str();
}

size_t ComputeNodeInfo::GetIrInputsNum() const
{
    return ir_inputs_.size();
}

size_t ComputeNodeInfo::GetIrOutputsNum() const
{
    return ir_outputs_.size();
}

size_t ComputeNodeInfo::GetInputsNum() const
{
    return inputs_.size();
}

size_t ComputeNodeInfo::GetOutputsNum() const
{
    return outputs_.size();
}

const AnchorInstanceInfo* ComputeNodeInfo::GetInputInstanceInfo(size_t ir_index) const
{
    return At(ir_inputs_, ir_index);
}

const AnchorInstanceInfo* ComputeNodeInfo::GetOutputInstanceInfo(size_t ir_index) const
{
    return At(ir_outputs_, ir_index);
}

const CompileTimeTensorDesc* ComputeNodeInfo::GetInputTdInfo(size_t index) const
{
    return At(inputs_, index);
}

const CompileTimeTensorDesc* ComputeNodeInfo::GetOutputTdInfo(size_t index) const
{
    return At(outputs_, index);
}

AnchorInstanceInfo* ComputeNodeInfo::MutableInputInstanceInfo(size_t ir_index) const
{
    return const_cast<AnchorInstanceInfo*>(GetInputInstanceInfo(ir_index));
}

AnchorInstanceInfo* ComputeNodeInfo::MutableOutputInstanceInfo(size_t ir_index) const
{
    return const_cast<AnchorInstanceInfo*>(GetOutputInstanceInfo(ir_index));
}

CompileTimeTensorDesc* ComputeNodeInfo::MutableInputTdInfo(size_t index) const
{
    return const_cast<CompileTimeTensorDesc*>(GetInputTdInfo(index));
}

CompileTimeTensorDesc* ComputeNodeInfo::MutableOutputTdInfo(size_t index) const
{
    return const_cast<CompileTimeTensorDesc*>(GetOutputTdInfo(index));
}

RuntimeAttrs* ComputeNodeInfo::MutableAttrs() const
{
    return const_cast<RuntimeAttrs*>(GetAttrs());
}

void ComputeNodeInfo::SetNode(std::string type, std::string name)
{
    type_ = std::move(type);
    name_ = std::move(name);
}

void ComputeNodeInfo::AddIrInput(const std::vector<CompileTimeTensorDesc>& instances)
{
    Add(instances, ir_inputs_, inputs_);
}

void ComputeNodeInfo::AddIrOutput(const std::vector<CompileTimeTensorDesc>& instances)
{
    Add(instances, ir_outputs_, outputs_);
}

size_t RuntimeAttrs::GetAttrNum() const
{
    return values_.size();
}

const void* RuntimeAttrs::PointerAt(size_t index) const
{
    return index < values_.size() ? values_[index].data() : nullptr;
}

InferShapeContext::InferShapeContext(const ComputeNodeInfo& node, std::vector<Tensor> inputs)
    : ExtendedKernelContext(node), inputs_(std::move(inputs)), outputs_(node.GetOutputsNum())
{
    for (Shape& shape : outputs_) {
        shape[0] = Shape::kInvalidDimValue;
    }
}

InferShapeContext::~InferShapeContext() = default;

const Tensor* InferShapeContext::GetInputTensor(size_t index) const
{
    return index < inputs_.size() ? &inputs_[index] : nullptr;
}

Shape* InferShapeContext::GetOutputShape(size_t index)
{
    return index < outputs_.size() ? &outputs_[index] : nullptr;
}

bool InferShapeContext::HasOutputShape(size_t index) const
{
    const Shape& shape = outputs_.at(index);
    return shape.GetDimNum() != 0 || shape.GetDim(0) != Shape::kInvalidDimValue;
}

InferShapeRangeContext::InferShapeRangeContext(const ComputeNodeInfo& node, std::vector<Range<Shape>> inputs,
                                               std::vector<Range<Shape>> outputs, std::vector<TensorRange> tensors)
    : ExtendedKernelContext(node), inputs_(std::move(inputs)), outputs_(std::move(outputs)), tensors_(std::move(tensors))
{}

InferShapeRangeContext::~InferShapeRangeContext() = default;

const Range<Shape>* InferShapeRangeContext::GetInputShapeRange(size_t index) const
{
    return index < inputs_.size() ? &inputs_[index] : nullptr;
}

const TensorRange* InferShapeRangeContext::GetInputTensorRange(size_t index) const
{
    return index < tensors_.size() ? &tensors_[index] : nullptr;
}

Range<Shape>* InferShapeRangeContext::GetOutputShapeRange(size_t index)
{
    return index < outputs_.size() ? &outputs_[index] : nullptr;
}

InferDataTypeContext::InferDataTypeContext(const ComputeNodeInfo& node)
    : ExtendedKernelContext(node), outputs_(node.GetOutputsNum(), ge::DT_UNDEFINED)
{}

InferDataTypeContext::~InferDataTypeContext() = default;

ge::DataType InferDataTypeContext::GetOutputDataType(size_t index) const
{
    return index < outputs_.size() ? outputs_[index] : ge::DT_UNDEFINED;
}

ge::graphStatus InferDataTypeContext::SetOutputDataType(size_t index, ge::DataType data_type)
{
    if (index >= outputs_.size()) {
        return ge::GRAPH_FAILED;
    }
    outputs_[index] = data_type;
    return ge::GRAPH_SUCCESS;
}

TilingContext::TilingContext(const ComputeNodeInfo& node, Question question)
    : ExtendedKernelContext(node), question_(std::move(question))
{
    decision_.workspace_bytes.reserve(kMaxWorkspaces);
}

TilingContext::~TilingContext() = default;

const Tensor* TilingContext::GetInputTensor(size_t index) const
{
    return index < question_.inputs.size() ? &question_.inputs[index] : nullptr;
}

const StorageShape* TilingContext::GetOutputShape(size_t index) const
{
    return index < question_.outputs.size() ? &question_.outputs[index].GetShape() : nullptr;
}

size_t* TilingContext::GetWorkspaceSizes(size_t count)
{
    if (count > kMaxWorkspaces || !question_.has_workspace) {
        return nullptr;
    }
    decision_.workspace_bytes.resize(count, 0);
    return decision_.workspace_bytes.data();
}

size_t TilingContext::GetWorkspaceNum() const
{
    return decision_.workspace_bytes.size();
}

size_t Stride::GetDimNum() const
{
    return strides_.size();
}

int64_t Stride::GetStride(size_t index) const
{
    return index < strides_.size() ? strides_[index] : 0;
}

void Stride::SetDimNum(size_t count)
{
    strides_.resize(count, 0);
}

void Stride::SetStride(size_t index, int64_t stride)
{
    if (index < strides_.size()) {
        strides_[index] = stride;
    }
}

void Stride::AppendStride(int64_t stride)
{
    strides_.push_back(stride);
}

std::unique_ptr<uint8_t[]> TilingData::CreateCap(size_t capacity)
{
    std::unique_ptr<uint8_t[]> block(new (std::nothrow) uint8_t[sizeof(TilingData) + capacity]());
    if (block != nullptr) {
        (void)new (block.get()) TilingData(capacity, block.get() + sizeof(TilingData));
    }
    return block;
}
} // namespace gert
