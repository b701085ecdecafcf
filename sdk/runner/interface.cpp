#include "interface.h"

#include <sstream>

#include "graph/utils/type_utils.h"
#include "job.h"

namespace runner {
using ascendsim::host::OpEntry;

namespace {
const char* OptionName(ops::Option kind)
{
    static const char* const names[] = {"ignored", "optional", "required", "dynamic", "virtual"};
    return static_cast<size_t>(kind) < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

template <typename List, typename Text>
void WriteList(std::ostream& out, const char* what, const List& list, const Text& text)
{
    out << ' ' << what << '(';
    const char* separator = "";
    for (const auto& item : list) {
        out << separator << text(item);
        separator = ", ";
    }
    out << ')';
}

std::string ParameterText(const std::string& what, const ops::OpParamDef::Spec& spec)
{
    const auto format = [](ge::Format value) { return ge::TypeUtils::FormatToSerialString(value); };
    std::ostringstream out;
    out << what << " '" << spec.name << "': " << OptionName(spec.kind);
    WriteList(out, spec.data_types_are_list ? "DataTypeList" : "DataType", spec.data_types,
              DataTypeName);
    WriteList(out, spec.formats_are_list ? "FormatList" : "Format", spec.formats, format);
    WriteList(out, "UnknownShapeFormat", spec.unknown_shape_formats, format);
    if (spec.value_depend) {
        out << " ValueDepend";
    }
    if (spec.auto_contiguous) {
        out << " AutoContiguous";
    }
    if (spec.ignore_contiguous) {
        out << " IgnoreContiguous";
    }
    if (spec.scalar || spec.scalar_list) {
        out << (spec.scalar ? " Scalar" : " ScalarList");
    }
    if (!spec.follow.empty()) {
        out << " Follow(" << spec.follow << ", " << static_cast<uint32_t>(spec.follow_type) << ')';
    }
    if (spec.has_init_value) {
        WriteList(out, "InitValue", spec.initial_values, [](const ops::ScalarVar& value) {
            std::ostringstream text;
            text << static_cast<uint32_t>(value.scalar_type) << ": " << value.value;
            return text.str();
        });
    }
    if (spec.shape_depends_on_compute) {
        out << " OutputShapeDependOnCompute";
    }
    out << spec.notes;
    return out.str();
}

std::string AttributeText(const char* what, const ops::OpAttrDef::Spec& spec)
{
    const auto plain = [](auto value) { return value; };
    std::ostringstream out;
    out << what << " '" << spec.name << "': " << (spec.required ? "required" : "optional") << " type "
        << static_cast<int>(spec.kind);
    if (spec.has_default) {
        out << " default " << spec.int_value << ' ' << spec.float_value << " '" << spec.string_value << "'";
        WriteList(out, "integers", spec.int_list, plain);
        WriteList(out, "floats", spec.float_list, plain);
        for (const auto& list : spec.int_list_list) {
            WriteList(out, "list", list, plain);
        }
    }
    return out.str();
}

void AddParams(std::vector<std::string>& lines, const std::string& what, const std::vector<ops::OpParamDef>& params)
{
    for (const ops::OpParamDef& param : params) {
        lines.push_back(ParameterText(what, param.GetSpec()));
    }
}
} // namespace

std::vector<std::string> InterfaceOf(const std::string& type, const OpEntry& entry)
{
    std::vector<std::string> lines;
    const auto has = [&lines](const char* what, bool is_there) {
        lines.push_back(std::string(what) + (is_there ? ": registered" : ": none"));
    };
    has(("operator " + type).c_str(), entry.definition != nullptr);
    if (entry.definition != nullptr) {
        const ops::OpDef& definition = *entry.definition;
        AddParams(lines, "input", definition.GetInputs());
        AddParams(lines, "output", definition.GetOutputs());
        for (const ops::OpAttrDef& attr : definition.GetAttrs()) {
            lines.push_back(AttributeText("attribute", attr.GetSpec()));
        }
        for (const auto& config : definition.GetAICore().GetConfigs()) {
            std::ostringstream out;
            out << "compute unit " << config.first << ':';
            for (const auto& setting : config.second.GetSettings()) {
                out << ' ' << setting.first << " = " << setting.second;
            }
            lines.push_back(out.str());
            AddParams(lines, "input for " + config.first, config.second.GetInputs());
            AddParams(lines, "output for " + config.first, config.second.GetOutputs());
        }
    }
    has("tiling function", entry.tiling != nullptr);
    has("shape inference", entry.infer_shape != nullptr);
    has("type inference", entry.infer_datatype != nullptr || entry.output_type_of_first_input);
    std::ostringstream depends;
    WriteList(depends, "inputs whose values the host sees:", entry.value_depend_inputs, [](int32_t index) { return index; });
    lines.push_back(depends.str().substr(1));
    for (const ops::OpAttrDef& attr : entry.private_attrs) {
        lines.push_back(AttributeText("private attribute", attr.GetSpec()));
    }
    for (const std::string& note : entry.notes) {
        lines.push_back("registration: " + note);
    }
    return lines;
}
} // namespace runner
