#include "call.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "exe_graph/runtime/infer_shape_context.h"
#include "failure.h"

namespace runner {
using AttrKind = ops::OpAttrDef::Kind;
using AttrSpec = ops::OpAttrDef::Spec;

namespace {
// Without a definition every given is a required parameter; equal names in a row make a dynamic one.
std::vector<ops::OpParamDef::Spec> SpecsOfTensors(const std::vector<JobTensor>& tensors)
{
    std::vector<ops::OpParamDef::Spec> specs;
    for (const JobTensor& given : tensors) {
        if (!specs.empty() && specs.back().name == given.name) {
            specs.back().kind = ops::DYNAMIC;
            continue;
        }
        ops::OpParamDef::Spec spec;
        spec.name = given.name;
        spec.kind = given.absent ? ops::OPTIONAL : ops::REQUIRED;
        specs.push_back(spec);
    }
    return specs;
}

std::vector<Parameter> Arrange(const std::vector<JobTensor>& tensors, const std::vector<ops::OpParamDef::Spec>& specs,
                               const char* what, const std::string& op, std::vector<JobTensor>& ordered)
{
    std::vector<Parameter> parameters;
    std::set<std::string> names;
    std::string known;
    for (const ops::OpParamDef::Spec& spec : specs) {
        Parameter parameter;
        parameter.name = spec.name;
        parameter.dynamic = spec.kind == ops::DYNAMIC;
        const std::string* second = nullptr;
        for (const JobTensor& given : tensors) {
            if (given.name != spec.name || given.absent) {
                continue;
            }
            if (!parameter.instances.empty()) {
                second = &given.where;
            }
            parameter.instances.push_back(ordered.size());
            ordered.push_back(given);
        }
        if (second != nullptr && !parameter.dynamic) {
            Bad(*second, std::string(what) + " '" + spec.name + "' of " + op + " is given twice but is not dynamic");
        }
        if (parameter.instances.empty() && (spec.kind == ops::REQUIRED || spec.kind == ops::DYNAMIC)) {
            throw Failure(kExitBadJob, std::string("the job has no ") + what + " '" + spec.name + "' of " + op);
        }
        names.insert(spec.name);
        known += (known.empty() ? "" : ", ") + spec.name;
        parameters.push_back(std::move(parameter));
    }
    for (const JobTensor& given : tensors) {
        if (names.count(given.name) == 0) {
            Bad(given.where, op + " has no " + what + " '" + given.name + "'; it has " + known);
        }
    }
    return parameters;
}

gert::StorageShape ShapeOf(const JobTensor& given)
{
    gert::StorageShape shape;
    for (const int64_t dim : given.dims) {
        shape.MutableOriginShape().AppendDim(dim);
        shape.MutableStorageShape().AppendDim(dim);
    }
    return shape;
}

gert::Tensor TensorOf(const JobTensor& given, const void* data)
{
    const gert::StorageFormat format(given.format, given.format, gert::ExpandDimsType());
    if (data == nullptr) {
        return gert::Tensor(ShapeOf(given), format, given.data_type);
    }
    return gert::Tensor(ShapeOf(given), format, gert::kOnHost, given.data_type, const_cast<void*>(data));
}

std::vector<gert::CompileTimeTensorDesc> Descs(const Parameter& parameter, const std::vector<JobTensor>& tensors)
{
    std::vector<gert::CompileTimeTensorDesc> descs;
    for (const size_t index : parameter.instances) {
        gert::CompileTimeTensorDesc desc;
        desc.SetDataType(tensors[index].data_type);
        desc.SetOriginFormat(tensors[index].format);
        desc.SetStorageFormat(tensors[index].format);
        descs.push_back(desc);
    }
    return descs;
}

// "1,2,3" or "[1, 2, 3]".
std::vector<std::string> SplitList(std::string text, char separator)
{
    std::string plain;
    for (const char c : text) {
        if (c != '[' && c != ']' && c != ' ') {
            plain += c;
        }
    }
    std::vector<std::string> parts;
    size_t from = 0;
    while (!plain.empty() && from <= plain.size()) {
        const size_t to = plain.find(separator, from);
        parts.push_back(plain.substr(from, to == std::string::npos ? std::string::npos : to - from));
        if (to == std::string::npos) {
            break;
        }
        from = to + 1;
    }
    return parts;
}

int64_t ParseInt(const JobAttr& given, const std::string& text)
{
    errno = 0;
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0) {
        Bad(given.where, "attribute '" + given.name + "': '" + text + "' is not a whole number");
    }
    return value;
}

float ParseFloat(const JobAttr& given, const std::string& text)
{
    char* end = nullptr;
    const float value = std::strtof(text.c_str(), &end);
    if (text.empty() || *end != '\0') {
        Bad(given.where, "attribute '" + given.name + "': '" + text + "' is not a number");
    }
    return value;
}

int64_t ParseBool(const JobAttr& given, const std::string& text)
{
    if (text == "true" || text == "1") {
        return 1;
    }
    if (text == "false" || text == "0") {
        return 0;
    }
    Bad(given.where, "attribute '" + given.name + "' must be true or false, not '" + text + "'");
}

// The value of a given as a specification with that default.
AttrSpec SpecOf(const JobAttr& given)
{
    AttrSpec spec;
    spec.name = given.name;
    spec.has_default = true;
    if (given.type == "int") {
        spec.kind = AttrKind::kInt;
        spec.int_value = ParseInt(given, given.value);
    } else if (given.type == "float") {
        spec.kind = AttrKind::kFloat;
        spec.float_value = ParseFloat(given, given.value);
    } else if (given.type == "bool") {
        spec.kind = AttrKind::kBool;
        spec.int_value = ParseBool(given, given.value);
    } else if (given.type == "string") {
        spec.kind = AttrKind::kString;
        spec.string_value = given.value;
    } else if (given.type == "list_int" || given.type == "list_bool") {
        const bool is_bool = given.type == "list_bool";
        spec.kind = is_bool ? AttrKind::kListBool : AttrKind::kListInt;
        for (const std::string& part : SplitList(given.value, ',')) {
            spec.int_list.push_back(is_bool ? ParseBool(given, part) : ParseInt(given, part));
        }
    } else if (given.type == "list_float") {
        spec.kind = AttrKind::kListFloat;
        for (const std::string& part : SplitList(given.value, ',')) {
            spec.float_list.push_back(ParseFloat(given, part));
        }
    } else if (given.type == "list_list_int") {
        spec.kind = AttrKind::kListListInt;
        for (const std::string& inner : SplitList(given.value, ';')) {
            spec.int_list_list.emplace_back();
            for (const std::string& part : SplitList(inner, ',')) {
                spec.int_list_list.back().push_back(ParseInt(given, part));
            }
        }
    } else {
        Bad(given.where, "unknown attribute type '" + given.type +
                           "'; known: int float bool string list_int list_float list_bool list_list_int");
    }
    return spec;
}

template <typename T, typename Source>
void AppendList(gert::RuntimeAttrs& attrs, const std::vector<Source>& values)
{
    size_t size = 0;
    const auto block = gert::ContinuousVector::Create<T>(values.size(), size);
    auto* const list = reinterpret_cast<gert::TypedContinuousVector<T>*>(block.get());
    (void)list->SetSize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        list->MutableData()[i] = static_cast<T>(values[i]);
    }
    attrs.AppendValue(block.get(), size);
}

void AppendListList(gert::RuntimeAttrs& attrs, const std::vector<std::vector<int64_t>>& lists)
{
    size_t size = gert::ContinuousVectorVector::GetOverHeadLength(lists.size());
    for (const auto& list : lists) {
        size += sizeof(gert::ContinuousVector) + sizeof(int64_t) * list.size();
    }
    std::vector<uint64_t> block(size / sizeof(uint64_t) + 1, 0);
    auto* const head = reinterpret_cast<gert::ContinuousVectorVector*>(block.data());
    head->Init(lists.size());
    for (const auto& list : lists) {
        gert::ContinuousVector* const inner = head->Add<int64_t>(list.size());
        if (!list.empty()) {
            (void)std::memcpy(inner->MutableData(), list.data(), sizeof(int64_t) * list.size());
        }
    }
    attrs.AppendValue(block.data(), size);
}

void AppendAttr(gert::RuntimeAttrs& attrs, const AttrSpec& spec)
{
    switch (spec.kind) {
        case AttrKind::kBool: {
            const bool value = spec.int_value != 0;
            attrs.AppendValue(&value, sizeof(value));
            break;
        }
        case AttrKind::kFloat:
            attrs.AppendValue(&spec.float_value, sizeof(spec.float_value));
            break;
        case AttrKind::kString:
            attrs.AppendValue(spec.string_value.c_str(), spec.string_value.size() + 1);
            break;
        case AttrKind::kListBool:
            AppendList<bool>(attrs, spec.int_list);
            break;
        case AttrKind::kListInt:
            AppendList<int64_t>(attrs, spec.int_list);
            break;
        case AttrKind::kListFloat:
            AppendList<float>(attrs, spec.float_list);
            break;
        case AttrKind::kListListInt:
            AppendListList(attrs, spec.int_list_list);
            break;
        default:
            attrs.AppendValue(&spec.int_value, sizeof(spec.int_value));
            break;
    }
}

void AddAttrs(const Job& job, Call& call)
{
    gert::RuntimeAttrs& attrs = *call.node.MutableAttrs();
    const auto line_of = [&](const std::string& name) -> const JobAttr* {
        for (const JobAttr& given : job.attrs) {
            if (given.name == name) {
                return &given;
            }
        }
        return nullptr;
    };
    if (!call.view.defined) {
        for (const JobAttr& given : job.attrs) {
            AppendAttr(attrs, SpecOf(given));
        }
    }
    std::string known;
    std::set<std::string> names;
    for (const AttrSpec& spec : call.view.attrs) {
        names.insert(spec.name);
        known += (known.empty() ? "" : ", ") + spec.name;
        const JobAttr* const given = line_of(spec.name);
        if (!call.view.defined && given != nullptr) {
            continue;
        }
        if (given == nullptr && spec.required && !spec.has_default) {
            throw Failure(kExitBadJob, "the job has no attribute '" + spec.name + "' of " + call.view.type);
        }
        AttrSpec value = given == nullptr ? spec : SpecOf(*given);
        if (value.kind != spec.kind && spec.kind != AttrKind::kNone) {
            // A whole number is good enough for a float; anything else is a mistake in the job.
            if (spec.kind != AttrKind::kFloat || value.kind != AttrKind::kInt) {
                Bad(given->where, "attribute '" + spec.name + "' of " + call.view.type + " has another type");
            }
            value.float_value = static_cast<float>(value.int_value);
            value.kind = AttrKind::kFloat;
        }
        AppendAttr(attrs, value);
    }
    for (const JobAttr& given : job.attrs) {
        if (call.view.defined && names.count(given.name) == 0) {
            Bad(given.where, call.view.type + " has no attribute '" + given.name + "'" +
                               (known.empty() ? "" : "; it has " + known));
        }
    }
}

// Outputs of an operator that defines none: each is an input under the same name.
std::vector<JobTensor> ChangedInputs(const Job& job, const std::vector<JobTensor>& inputs, const std::string& op)
{
    for (const JobTensor& given : job.outputs) {
        const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const JobTensor& input) {
            return input.name == given.name && input.Bytes() == given.Bytes();
        });
        if (!known) {
            Bad(given.where, op + " defines no output, and '" + given.name + "' is no input of that size");
        }
    }
    return job.outputs;
}

void LoadInputs(const Job& job, Call& call)
{
    for (const JobTensor& given : call.job_inputs) {
        MappedFile file;
        const bool opened = job.timing_only ? file.Reserve(static_cast<size_t>(given.Bytes())) : file.Open(given.file);
        if (!opened && job.mode == Mode::kRun) {
            throw Failure(kExitMachine, "cannot read input file " + given.file + ": " + std::strerror(errno));
        }
        if (opened && file.Size() != static_cast<size_t>(given.Bytes())) {
            Bad(given.where, "input file " + given.file + " has " + std::to_string(file.Size()) + " bytes, the shape needs " +
                               std::to_string(given.Bytes()));
        }
        call.input_tensors.push_back(TensorOf(given, file.Data()));
        call.input_data.push_back(std::move(file));
    }
}
} // namespace

Call BuildCall(const Job& job, OperatorView view)
{
    Call call;
    call.view = std::move(view);
    const bool defined = call.view.defined;
    const std::string& type = call.view.type;
    call.inputs = Arrange(job.inputs, defined ? call.view.inputs : SpecsOfTensors(job.inputs), "input", type,
                          call.job_inputs);
    const bool changes_inputs = defined && call.view.outputs.empty();
    if (changes_inputs) {
        call.changed = ChangedInputs(job, call.job_inputs, type);
    }
    call.outputs = Arrange(changes_inputs ? std::vector<JobTensor>() : job.outputs,
                           defined ? call.view.outputs : SpecsOfTensors(job.outputs), "output", type, call.job_outputs);
    call.node.SetNode(type, type);
    for (const Parameter& parameter : call.inputs) {
        call.node.AddIrInput(Descs(parameter, call.job_inputs));
    }
    for (const Parameter& parameter : call.outputs) {
        call.node.AddIrOutput(Descs(parameter, call.job_outputs));
    }
    AddAttrs(job, call);
    LoadInputs(job, call);
    for (const JobTensor& given : call.job_outputs) {
        call.output_tensors.push_back(TensorOf(given, nullptr));
    }
    return call;
}

std::string InferOutputShapes(Call& call)
{
    bool wanted = false;
    for (const JobTensor& given : call.job_outputs) {
        wanted = wanted || given.infer;
    }
    if (!wanted) {
        return "";
    }
    if (call.view.entry->infer_shape == nullptr) {
        return "an output has the shape 'infer', but " + call.view.type + " registers no shape inference";
    }
    SetStage("running the shape inference");
    gert::InferShapeContext context(call.node, call.input_tensors);
    const ge::graphStatus status = call.view.entry->infer_shape(&context);
    if (status != ge::GRAPH_SUCCESS) {
        return "shape inference returned " + std::to_string(status);
    }
    for (size_t i = 0; i < call.job_outputs.size(); ++i) {
        JobTensor& given = call.job_outputs[i];
        if (!given.infer) {
            continue;
        }
        if (!context.HasOutputShape(i)) {
            return "shape inference gives output '" + given.name + "' no shape; the case must name it";
        }
        const gert::Shape& shape = *context.GetOutputShape(i);
        given.dims.clear();
        for (size_t d = 0; d < shape.GetDimNum(); ++d) {
            if (shape.GetDim(d) < 0) {
                return "shape inference leaves dimension " + std::to_string(d) + " of output '" + given.name +
                       "' unknown";
            }
            given.dims.push_back(shape.GetDim(d));
        }
        if (given.Bytes() < 0) {
            return "output '" + given.name + "' is too large or its data type has no size";
        }
        call.output_tensors[i] = TensorOf(given, nullptr);
    }
    return "";
}
} // namespace runner
