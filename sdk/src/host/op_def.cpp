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

OpAttrDef::OpAttrDef(const char* name)
{
    spec_.name = name == nullptr ? "" : name;
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
