// Made-up nodes and the lookup of registered functions.
#include "tiling_faker.h"

#include <numeric>

#include "host/registry.h"

namespace ascend_unit {
namespace {
gert::CompileTimeTensorDesc DescOf(const gert::Tensor& tensor)
{
    gert::CompileTimeTensorDesc desc;
    desc.SetDataType(tensor.GetDataType());
    desc.SetOriginFormat(tensor.GetOriginFormat());
    desc.SetStorageFormat(tensor.GetStorageFormat());
    return desc;
}

// Descriptions of the instances of every parameter, in order.
template <typename Add>
void AddParameters(const std::vector<gert::Tensor>& tensors, const std::vector<uint32_t>& instances, const Add& add)
{
    size_t next = 0;
    for (const uint32_t count : instances) {
        std::vector<gert::CompileTimeTensorDesc> descs;
        for (uint32_t i = 0; i < count && next < tensors.size(); ++i) {
            descs.push_back(DescOf(tensors[next++]));
        }
        add(descs);
    }
}

template <typename T, typename List>
void AppendList(gert::RuntimeAttrs& attrs, const List& values)
{
    size_t bytes = 0;
    const auto block = gert::ContinuousVector::Create<T>(values.size(), bytes);
    auto* const vector = reinterpret_cast<gert::ContinuousVector*>(block.get());
    (void)vector->SetSize(values.size());
    T* to = static_cast<T*>(vector->MutableData());
    for (const auto value : values) {
        *to++ = static_cast<T>(value);
    }
    attrs.AppendValue(block.get(), bytes);
}

void AppendListList(gert::RuntimeAttrs& attrs, const std::vector<std::vector<int64_t>>& lists)
{
    size_t bytes = gert::ContinuousVectorVector::GetOverHeadLength(lists.size());
    for (const auto& list : lists) {
        bytes += sizeof(gert::ContinuousVector) + sizeof(int64_t) * list.size();
    }
    std::vector<uint64_t> block((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    auto* const all = reinterpret_cast<gert::ContinuousVectorVector*>(block.data());
    all->Init(lists.size());
    for (const auto& list : lists) {
        std::memcpy(all->Add<int64_t>(list.size())->MutableData(), list.data(), sizeof(int64_t) * list.size());
    }
    attrs.AppendValue(block.data(), bytes);
}

std::map<const gert::TilingContext*, Node*>& Nodes()
{
    static auto* const nodes = new std::map<const gert::TilingContext*, Node*>();
    return *nodes;
}

void Append(gert::RuntimeAttrs& attrs, const AnyValue& value)
{
    switch (value.type_) {
        case AnyValue::VT_BOOL: {
            const bool flag = value.number_ != 0;
            attrs.AppendValue(&flag, sizeof(flag));
            break;
        }
        case AnyValue::VT_FLOAT: {
            const float number = static_cast<float>(value.real_);
            attrs.AppendValue(&number, sizeof(number));
            break;
        }
        case AnyValue::VT_STRING:
            attrs.AppendValue(value.text_.c_str(), value.text_.size() + 1);
            break;
        case AnyValue::VT_LIST_BOOL:
            AppendList<bool>(attrs, value.numbers_);
            break;
        case AnyValue::VT_LIST_INT:
            AppendList<int64_t>(attrs, value.numbers_);
            break;
        case AnyValue::VT_LIST_FLOAT:
            AppendList<float>(attrs, value.reals_);
            break;
        case AnyValue::VT_LIST_LIST_INT:
            AppendListList(attrs, value.lists_);
            break;
        default:
            attrs.AppendValue(&value.number_, sizeof(value.number_));
            break;
    }
}
} // namespace

std::map<const void*, Room>& Room::All()
{
    static auto* const rooms = new std::map<const void*, Room>();
    return *rooms;
}

void* Room::Make(void* original, size_t bytes)
{
    constexpr size_t kLeastWords = 1024;
    Room& room = All()[original];
    room.original_ = original;
    room.bytes_ = bytes;
    room.words_.assign(kLeastWords + bytes / sizeof(uint64_t), 0);
    std::memcpy(room.words_.data(), original, bytes);
    return room.words_.data();
}

const void* Room::Of(const void* original)
{
    const auto found = All().find(original);
    if (found == All().end()) {
        return original;
    }
    std::memcpy(found->second.words_.data(), original, found->second.bytes_);
    return found->second.words_.data();
}

void Room::Return(const void* room)
{
    for (auto& each : All()) {
        if (each.second.words_.data() == room) {
            std::memcpy(each.second.original_, room, each.second.bytes_);
        }
    }
}

ge::graphStatus TilingParseFunction::operator()(gert::TilingParseContext* context) const
{
    if (function_ == nullptr) {
        return ge::GRAPH_SUCCESS;
    }
    if (context != nullptr) {
        RecordChip(context->GetPlatformInfo());
    }
    const ge::graphStatus status = function_(context);
    if (context != nullptr) {
        Room::Return(context->GetCompiledInfo<void>());
    }
    return status;
}

void Node::Finish()
{
    info.SetNode(type, type);
    AddParameters(inputs, input_instances, [&](const auto& descs) { info.AddIrInput(descs); });
    AddParameters(outputs, output_instances, [&](const auto& descs) { info.AddIrOutput(descs); });
    for (const auto& attribute : attributes) {
        Append(*info.MutableAttrs(), attribute.second);
    }
    gert::TilingContext::Question question;
    question.inputs = inputs;
    question.outputs = outputs;
    question.compile_info = compile_info;
    question.platform = platform;
    question.tiling_data = tiling_data;
    question.deterministic = deterministic;
    question.has_workspace = has_workspace;
    tiling = std::make_unique<gert::TilingContext>(info, std::move(question));
    parse = std::make_unique<gert::KernelContext>(info, parsed_info, platform, compiled_json);
    Nodes()[tiling.get()] = this;
}

Node::~Node()
{
    Nodes().erase(tiling.get());
}

Node* Node::Of(const gert::TilingContext* context)
{
    const auto found = Nodes().find(context);
    return found == Nodes().end() ? nullptr : found->second;
}
} // namespace ascend_unit

namespace gert {
gert::Tensor& TilingContextFaker::Input(size_t index)
{
    if (inputs_.size() <= index) {
        inputs_.resize(index + 1);
    }
    return inputs_[index];
}

gert::Tensor& TilingContextFaker::Output(size_t index)
{
    if (node_->outputs.size() <= index) {
        node_->outputs.resize(index + 1);
    }
    return node_->outputs[index];
}

TilingContextFaker& TilingContextFaker::SetOpType(const std::string& type)
{
    node_->type = type;
    return *this;
}

TilingContextFaker& TilingContextFaker::NodeIoNum(size_t inputs, size_t outputs)
{
    declared_.resize(inputs, 1);
    passed_ = declared_;
    node_->output_instances.resize(outputs, 1);
    return *this;
}

TilingContextFaker& TilingContextFaker::IrInstanceNum(const std::vector<uint32_t>& inputs,
                                                      const std::vector<uint32_t>& outputs)
{
    declared_ = inputs;
    passed_ = inputs;
    node_->output_instances = outputs;
    return *this;
}

TilingContextFaker& TilingContextFaker::IrInstanceNum(const std::vector<uint32_t>& inputs)
{
    // Tests write shorter lists than NodeIoNum said, meaning nothing by it.
    if (inputs.size() >= declared_.size()) {
        declared_ = inputs;
        passed_ = inputs;
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::NodeInputTd(int32_t index, ge::DataType type, ge::Format origin,
                                                    ge::Format storage)
{
    // The index counts parameters that are there; all instances of one are alike.
    size_t parameter = static_cast<size_t>(index);
    int32_t there = 0;
    for (size_t i = 0; i < declared_.size(); ++i) {
        there += declared_[i] != 0 ? 1 : 0;
        if (there > index) {
            parameter = i;
            break;
        }
    }
    size_t first = parameter;
    size_t count = 1;
    if (parameter < declared_.size()) {
        const auto end = declared_.begin() + static_cast<std::ptrdiff_t>(parameter);
        first = std::accumulate(declared_.begin(), end, size_t(0));
        count = declared_[parameter];
    }
    for (size_t i = first; i < first + count; ++i) {
        Tensor& tensor = Input(i);
        tensor.SetDataType(type);
        tensor.SetOriginFormat(origin);
        tensor.SetStorageFormat(storage);
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::NodeOutputTd(int32_t index, ge::DataType type, ge::Format origin,
                                                     ge::Format storage)
{
    Tensor& tensor = Output(static_cast<size_t>(index));
    tensor.SetDataType(type);
    tensor.SetOriginFormat(origin);
    tensor.SetStorageFormat(storage);
    return *this;
}

TilingContextFaker& TilingContextFaker::InputShapes(std::initializer_list<void*> shapes)
{
    return InputShapes(std::vector<void*>(shapes));
}

TilingContextFaker& TilingContextFaker::InputShapes(const std::vector<void*>& shapes)
{
    std::vector<StorageShape*> typed;
    for (void* const shape : shapes) {
        typed.push_back(static_cast<StorageShape*>(shape));
    }
    return InputShapes(typed);
}

TilingContextFaker& TilingContextFaker::InputShapes(const std::vector<Shape*>& shapes)
{
    std::vector<StorageShape> both;
    std::vector<StorageShape*> typed;
    both.reserve(shapes.size());
    for (const Shape* const shape : shapes) {
        both.emplace_back();
        if (shape != nullptr) {
            both.back().MutableOriginShape() = *shape;
            both.back().MutableStorageShape() = *shape;
        }
        typed.push_back(shape == nullptr ? nullptr : &both.back());
    }
    return InputShapes(typed);
}

TilingContextFaker& TilingContextFaker::InputShapes(const std::vector<StorageShape*>& shapes)
{
    for (size_t i = 0; i < shapes.size(); ++i) {
        Tensor& tensor = Input(i);
        if (shapes[i] != nullptr) {
            tensor.MutableOriginShape() = shapes[i]->GetOriginShape();
            tensor.MutableStorageShape() = shapes[i]->GetStorageShape();
        } else if (i < passed_.size()) {
            passed_[i] = 0;
        }
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::OutputShapes(std::initializer_list<Shape*> shapes)
{
    return OutputShapes(std::vector<Shape*>(shapes));
}

TilingContextFaker& TilingContextFaker::OutputShapes(std::initializer_list<StorageShape*> shapes)
{
    return OutputShapes(std::vector<StorageShape*>(shapes));
}

TilingContextFaker& TilingContextFaker::OutputShapes(const std::vector<Shape*>& shapes)
{
    for (size_t i = 0; i < shapes.size(); ++i) {
        if (shapes[i] != nullptr) {
            Output(i).MutableOriginShape() = *shapes[i];
            Output(i).MutableStorageShape() = *shapes[i];
        }
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::OutputShapes(const std::vector<StorageShape*>& shapes)
{
    for (size_t i = 0; i < shapes.size(); ++i) {
        if (shapes[i] != nullptr) {
            Output(i).MutableOriginShape() = shapes[i]->GetOriginShape();
            Output(i).MutableStorageShape() = shapes[i]->GetStorageShape();
        }
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::OutputShapes(const std::vector<void*>& shapes)
{
    std::vector<StorageShape*> typed;
    for (void* const shape : shapes) {
        typed.push_back(static_cast<StorageShape*>(shape));
    }
    return OutputShapes(typed);
}

TilingContextFaker& TilingContextFaker::InputTensors(const std::vector<Tensor*>& tensors)
{
    inputs_.clear();
    for (const Tensor* const tensor : tensors) {
        inputs_.push_back(tensor == nullptr ? Tensor() : *tensor);
    }
    whole_tensors_ = true;
    return *this;
}

TilingContextFaker& TilingContextFaker::OutputTensors(const std::vector<Tensor*>& tensors)
{
    node_->outputs.clear();
    for (const Tensor* const tensor : tensors) {
        node_->outputs.push_back(tensor == nullptr ? Tensor() : *tensor);
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::ConstInput(std::vector<std::pair<size_t, std::unique_ptr<uint8_t[]>>>& tensors)
{
    for (auto& entry : tensors) {
        Tensor* const given = reinterpret_cast<Tensor*>(entry.second.get());
        Input(entry.first).SetData(TensorData(given->GetAddr()));
    }
    return *this;
}

TilingContextFaker& TilingContextFaker::NodeAttrs(
    const std::vector<std::pair<std::string, ascend_unit::AnyValue>>& attributes)
{
    node_->attributes.insert(node_->attributes.end(), attributes.begin(), attributes.end());
    return *this;
}

TilingContextFaker& TilingContextFaker::CompileInfo(const void* info)
{
    node_->compile_info = ascend_unit::Room::Of(info);
    return *this;
}

TilingContextFaker& TilingContextFaker::PlatformInfo(const void* platform)
{
    node_->platform = static_cast<fe::PlatFormInfos*>(const_cast<void*>(platform));
    return *this;
}

TilingContextFaker& TilingContextFaker::DeterministicInfo(int32_t* value)
{
    // Tests pass the number itself in the pointer.
    return DeterministicInfo(static_cast<int32_t>(reinterpret_cast<intptr_t>(value)));
}

TilingContextFaker& TilingContextFaker::DeterministicInfo(int32_t value)
{
    node_->deterministic = value;
    return *this;
}

TilingContextFaker& TilingContextFaker::TilingData(const void* data)
{
    node_->tiling_data = static_cast<gert::TilingData*>(const_cast<void*>(data));
    return *this;
}

TilingContextFaker& TilingContextFaker::Workspace(const ContinuousVector* workspace)
{
    node_->workspace = const_cast<ContinuousVector*>(workspace);
    node_->has_workspace = workspace != nullptr;
    return *this;
}

KernelRunContextHolder TilingContextFaker::Build()
{
    bool some_left_out = false;
    for (const uint32_t count : declared_) {
        some_left_out = some_left_out || count == 0;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
        // Places of inputs without a shape are empty; where the declaration leaves inputs out, there are no such places.
        if (whole_tensors_ || some_left_out || i >= passed_.size() || passed_[i] > 0) {
            node_->inputs.push_back(inputs_[i]);
        }
    }
    node_->input_instances = passed_;
    node_->Finish();
    return KernelRunContextHolder(node_);
}

KernelRunContextFaker& KernelRunContextFaker::SetOpType(const std::string& type)
{
    node_->type = type;
    return *this;
}

KernelRunContextFaker& KernelRunContextFaker::Inputs(const std::vector<void*>& inputs)
{
    if (!inputs.empty()) {
        node_->compiled_json = static_cast<const char*>(inputs[0]);
    }
    if (inputs.size() > 1) {
        node_->platform = static_cast<fe::PlatFormInfos*>(inputs[1]);
    }
    return *this;
}

KernelRunContextFaker& KernelRunContextFaker::Outputs(const std::vector<void*>& outputs)
{
    node_->parsed_info = outputs.empty() ? nullptr : outputs[0];
    return *this;
}

KernelRunContextFaker& KernelRunContextFaker::NodeAttrs(
    const std::vector<std::pair<std::string, ascend_unit::AnyValue>>& attributes)
{
    node_->attributes = attributes;
    return *this;
}

KernelRunContextHolder KernelRunContextFaker::Build()
{
    if (parsed_bytes_ != 0 && node_->parsed_info != nullptr) {
        node_->parsed_info = ascend_unit::Room::Make(node_->parsed_info, parsed_bytes_);
    }
    node_->Finish();
    return KernelRunContextHolder(node_);
}

OpImplRegistry& OpImplRegistry::GetInstance()
{
    static OpImplRegistry registry;
    return registry;
}

const OpImplFunctions* OpImplRegistry::GetOpImpl(const std::string& type)
{
    const ascendsim::host::OpEntry* const entry = ascendsim::host::FindOperator(type);
    if (entry == nullptr) {
        return nullptr;
    }
    OpImplFunctions& functions = known_[type];
    functions.tiling = ascend_unit::TilingFunction(entry->tiling);
    functions.tiling_parse = ascend_unit::TilingParseFunction(entry->tiling_parse);
    functions.infer_shape = entry->infer_shape;
    functions.infer_datatype = entry->infer_datatype;
    functions.gen_simplifiedkey = entry->gen_simplified_key;
    return &functions;
}

DefaultOpImplSpaceRegistryV2& DefaultOpImplSpaceRegistryV2::GetInstance()
{
    static DefaultOpImplSpaceRegistryV2 registry;
    return registry;
}
} // namespace gert
