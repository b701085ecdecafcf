// What definitions of operators do with their lists.
#include "register/op_def.h"

namespace ops {
namespace {
// Finds a parameter or attribute by name, or appends it: a definition may come back to one that it named before.
template <typename T>
T& FindOrAppend(std::vector<T>& items, const char* name)
{
    for (T& item : items) {
        if (item.GetSpec().name == (name == nullptr ? "" : name)) {
            return item;
        }
    }
    items.emplace_back(name);
    return items.back();
}
} // namespace

OpParamDef::OpParamDef(const char* name)
{
    spec_.name = name == nullptr ? "" : name;
}

OpParamDef& OpParamDef::DataType(std::initializer_list<ge::DataType> types)
{
    return DataType(std::vector<ge::DataType>(types));
}

OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> types)
{
    spec_.data_types = std::move(types);
    spec_.data_types_are_list = false;
    return *this;
}

OpParamDef& OpParamDef::DataTypeList(std::initializer_list<ge::DataType> types)
{
    return DataTypeList(std::vector<ge::DataType>(types));
}

OpParamDef& OpParamDef::DataTypeList(std::vector<ge::DataType> types)
{
    spec_.data_types = std::move(types);
    spec_.data_types_are_list = true;
    return *this;
}

OpParamDef& OpParamDef::Format(std::initializer_list<ge::Format> formats)
{
    return Format(std::vector<ge::Format>(formats));
}

OpParamDef& OpParamDef::Format(std::vector<ge::Format> formats)
{
    spec_.formats = std::move(formats);
    spec_.formats_are_list = false;
    return *this;
}

OpParamDef& OpParamDef::FormatList(std::initializer_list<ge::Format> formats)
{
    return FormatList(std::vector<ge::Format>(formats));
}

OpParamDef& OpParamDef::FormatList(std::vector<ge::Format> formats)
{
    spec_.formats = std::move(formats);
    spec_.formats_are_list = true;
    return *this;
}

OpParamDef& OpParamDef::UnknownShapeFormat(std::initializer_list<ge::Format> formats)
{
    return UnknownShapeFormat(std::vector<ge::Format>(formats));
}

OpParamDef& OpParamDef::UnknownShapeFormat(std::vector<ge::Format> formats)
{
    spec_.unknown_shape_formats = std::move(formats);
    return *this;
}

OpParamDef& OpParamDef::To(ge::DataType type)
{
    spec_.notes += " To(" + std::to_string(static_cast<int>(type)) + ")";
    return *this;
}

OpParamDef& OpParamDef::To(const char* name)
{
    spec_.notes += std::string(" To(") + (name == nullptr ? "" : name) + ")";
    return *this;
}

OpParamDef& OpParamDef::InitValue(const ScalarVar& value)
{
    spec_.has_init_value = true;
    spec_.initial_values = {value};
    return *this;
}

OpParamDef& OpParamDef::InitValue(const std::vector<ScalarVar>& values)
{
    spec_.has_init_value = true;
    spec_.initial_values = values;
    return *this;
}

OpParamDef& OpParamDef::Follow(const char* param_name, FollowType type)
{
    spec_.follow = param_name == nullptr ? "" : param_name;
    spec_.follow_type = type;
    return *this;
}

OpAttrDef::OpAttrDef(const char* name)
{
    spec_.name = name == nullptr ? "" : name;
}

OpAttrDef& OpAttrDef::String(const char* value)
{
    spec_.string_value = value == nullptr ? "" : value;
    return Set(Kind::kString, true);
}

OpAttrDef& OpAttrDef::ListBool(std::vector<bool> value)
{
    spec_.int_list.assign(value.begin(), value.end());
    return Set(Kind::kListBool, true);
}

OpAttrDef& OpAttrDef::ListFloat(std::vector<float> value)
{
    spec_.float_list = std::move(value);
    return Set(Kind::kListFloat, true);
}

OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> value)
{
    spec_.int_list = std::move(value);
    return Set(Kind::kListInt, true);
}

OpAttrDef& OpAttrDef::ListListInt(std::vector<std::vector<int64_t>> value)
{
    spec_.int_list_list = std::move(value);
    return Set(Kind::kListListInt, true);
}

OpAICoreConfig::OpAICoreConfig() = default;
OpAICoreConfig::OpAICoreConfig(const char*) {}
OpAICoreConfig::~OpAICoreConfig() = default;
OpAICoreConfig::OpAICoreConfig(const OpAICoreConfig& other) = default;
OpAICoreConfig::OpAICoreConfig(OpAICoreConfig&& other) noexcept = default;
OpAICoreConfig& OpAICoreConfig::operator=(const OpAICoreConfig& other) = default;
OpAICoreConfig& OpAICoreConfig::operator=(OpAICoreConfig&& other) noexcept = default;

OpParamDef& OpAICoreConfig::Input(const char* name)
{
    return FindOrAppend(inputs_, name);
}

OpParamDef& OpAICoreConfig::Output(const char* name)
{
    return FindOrAppend(outputs_, name);
}

OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value)
{
    settings_[key == nullptr ? "" : key] = value == nullptr ? "" : value;
    return *this;
}

OpAICoreConfig& OpAICoreConfig::Flag(const char* key, bool flag)
{
    settings_[key] = flag ? "true" : "false";
    return *this;
}

OpAICoreDef& OpAICoreDef::AddConfig(const char* compute_unit)
{
    configs_[compute_unit] = OpAICoreConfig();
    return *this;
}

OpAICoreDef& OpAICoreDef::AddConfig(const char* compute_unit, const OpAICoreConfig& config)
{
    configs_[compute_unit] = config;
    return *this;
}

OpDef::OpDef(const char* type) : type_(type == nullptr ? "" : type) {}
OpDef::~OpDef() = default;
OpDef::OpDef(const OpDef& other) = default;
OpDef::OpDef(OpDef&& other) noexcept = default;
OpDef& OpDef::operator=(const OpDef& other) = default;
OpDef& OpDef::operator=(OpDef&& other) noexcept = default;

OpParamDef& OpDef::Input(const char* name)
{
    return FindOrAppend(inputs_, name);
}

OpParamDef& OpDef::Output(const char* name)
{
    return FindOrAppend(outputs_, name);
}

OpAttrDef& OpDef::Attr(const char* name)
{
    return FindOrAppend(attrs_, name);
}
} // namespace ops
