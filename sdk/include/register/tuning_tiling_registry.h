// Structures in which a tuning tool keeps tilings. There is no tool of that kind here and no bank of its results: they are
// declared, can be turned into JSON and back, and nobody asks for them.
#ifndef ASCEND_SDK_REGISTER_TUNING_TILING_REGISTRY_H
#define ASCEND_SDK_REGISTER_TUNING_TILING_REGISTRY_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "nlohmann/json.hpp"

namespace tuningtiling {

/// Members of a structure with their names; DECLARE_SCHEMA says them.
template <typename T>
struct StructInfo {
    static std::tuple<> Info() { return {}; }
};
#define DECLARE_SCHEMA(Struct, ...)                                \
    template <>                                                    \
    struct StructInfo<Struct> {                                    \
        static auto Info() { return std::make_tuple(__VA_ARGS__); } \
    };
#define FIELD(Struct, member) std::make_pair(#member, &Struct::member)

namespace detail {
template <typename T>
constexpr bool kHasSchema = std::tuple_size_v<decltype(StructInfo<T>::Info())> != 0;

template <typename T>
void ToJson(const T& value, nlohmann::json& result)
{
    if constexpr (kHasSchema<T>) {
        std::apply([&](const auto&... member) { (ToJson(value.*member.second, result[member.first]), ...); },
                   StructInfo<T>::Info());
    } else if constexpr (nlohmann::detail::kIsValue<T>) {
        result = value;
    }
}

/// Members that the text does not have stay as they are.
template <typename T>
void FromJson(T& value, const nlohmann::json& source)
{
    if constexpr (kHasSchema<T>) {
        const auto take = [&](const char* name, auto& member) {
            if (source.contains(name)) {
                FromJson(member, source.at(name));
            }
        };
        std::apply([&](const auto&... member) { (take(member.first, value.*member.second), ...); },
                   StructInfo<T>::Info());
    } else if constexpr (nlohmann::detail::kIsValue<T>) {
        source.get_to(value);
    }
}
}  // namespace detail

struct TilingItem {
    ge::AscendString dtype_;
    ge::AscendString name_;
};

class TuningTilingDef {
public:
    virtual void FromJson(const nlohmann::json& j) = 0;
    virtual void ToJson(nlohmann::json& j) = 0;
    ge::AscendString GetClassName() const;
    virtual std::vector<TilingItem> GetItemInfo() const = 0;

protected:
    TuningTilingDef() = default;
    virtual ~TuningTilingDef() = default;
    std::vector<TilingItem> field_info_;
    ge::AscendString class_name_;
};
using TuningTilingDefPtr = std::shared_ptr<TuningTilingDef>;
using TuningTilingDefConstructor = TuningTilingDefPtr (*)();

#define BEGIN_TUNING_TILING_DEF(Name)                                                              \
    class Name : public TuningTilingDef {                                                          \
    public:                                                                                        \
        Name() { class_name_ = #Name; }                                                            \
        void FromJson(const nlohmann::json& j) override { ::tuningtiling::detail::FromJson(*this, j); } \
        void ToJson(nlohmann::json& j) override { ::tuningtiling::detail::ToJson(*this, j); }      \
        std::vector<TilingItem> GetItemInfo() const override { return field_info_; }               \
        struct FieldHandler {                                                                      \
            FieldHandler(Name* whole, const char* type, const char* member)                        \
            {                                                                                      \
                whole->field_info_.push_back({type, member});                                      \
            }                                                                                      \
        };
#define TUNING_TILING_DATA_FIELD_DEF(Type, member) \
    Type member;                                   \
    FieldHandler member##_handler_ = FieldHandler(this, #Type, #member);
#define END_TUNING_TILING_DEF \
    }                         \
    ;

class TuningTilingClassFactory {
public:
    static std::map<ge::AscendString, TuningTilingDefConstructor>& RegisterInfo();
    static void RegisterTilingData(const ge::AscendString& optype, TuningTilingDefConstructor const constructor);
    static std::shared_ptr<TuningTilingDef> CreateTilingDataInstance(const ge::AscendString& optype);
};

#define REGISTER_TUNING_TILING_CLASS(optype, Name)                                                        \
    struct optype##Helper {                                                                               \
        optype##Helper() { TuningTilingClassFactory::RegisterTilingData(#optype, &optype##Helper::Make); } \
        static std::shared_ptr<TuningTilingDef> Make() { return std::make_shared<Name>(); }               \
    };                                                                                                    \
    optype##Helper g_tuning_tiling_##optype##Helper;

}  // namespace tuningtiling

namespace RuntimeKb {
/// Always 1, which stands for "nothing found".
uint32_t QueryBank(const void* src, size_t src_len, const std::string& op_type, const std::string& soc_version,
                   uint32_t core_num, tuningtiling::TuningTilingDefPtr& tiling);
}  // namespace RuntimeKb

#endif
