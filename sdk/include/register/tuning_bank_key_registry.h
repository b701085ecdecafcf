// How a tuning tool's bank of tilings makes its keys. There is no such bank here: registrations are taken and forgotten.
#ifndef ASCEND_SDK_REGISTER_TUNING_BANK_KEY_REGISTRY_H
#define ASCEND_SDK_REGISTER_TUNING_BANK_KEY_REGISTRY_H

#include <cstddef>
#include <functional>
#include <memory>

#include "exe_graph/runtime/tiling_context.h"
#include "graph/ascend_string.h"
#include "nlohmann/json.hpp"

namespace tuningtiling {

using OpBankKeyConvertFun = std::function<bool(const gert::TilingContext*, std::shared_ptr<void>&, size_t&)>;
using OpBankParseFun = std::function<bool(const std::shared_ptr<void>&, size_t, ge::AscendString&)>;
using OpBankLoadFun = std::function<bool(std::shared_ptr<void>&, size_t&, const ge::AscendString&)>;
using OpBankKeyConvertFunV2 = OpBankKeyConvertFun;
using OpBankParseFunV2 = OpBankParseFun;
using OpBankLoadFunV2 = OpBankLoadFun;

class OpBankKeyFuncRegistry {
public:
    OpBankKeyFuncRegistry(const ge::AscendString& optype, const OpBankKeyConvertFun& convert);
    OpBankKeyFuncRegistry(const ge::AscendString& optype, const OpBankParseFun& parse, const OpBankLoadFun& load);
};
class OpBankKeyFuncRegistryV2 {
public:
    OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const OpBankKeyConvertFun& convert);
    OpBankKeyFuncRegistryV2(const ge::AscendString& optype, const OpBankParseFun& parse, const OpBankLoadFun& load);
};

}  // namespace tuningtiling

#define REGISTER_OP_BANK_KEY_CONVERT_FUN(optype, convert) \
    tuningtiling::OpBankKeyFuncRegistry g_##optype##BankKeyRegistryInterf(#optype, convert)
#define REGISTER_OP_BANK_KEY_CONVERT_FUN_V2(optype, convert) \
    tuningtiling::OpBankKeyFuncRegistryV2 g_##optype##BankKeyRegistryInterf(#optype, convert)
#define REGISTER_OP_BANK_KEY_PARSE_FUN(optype, parse, load) \
    tuningtiling::OpBankKeyFuncRegistry g_##optype##BankParseInterf(#optype, parse, load)
#define REGISTER_OP_BANK_KEY_PARSE_FUN_V2(optype, parse, load) \
    tuningtiling::OpBankKeyFuncRegistryV2 g_##optype##BankParseInterf(#optype, parse, load)

// Only the conversions of the key: who would call for the rest is not there.
#define DECLARE_STRUCT_RELATE_WITH_OP(optype, Key, ...) NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Key, __VA_ARGS__)
#define DECLARE_STRUCT_RELATE_WITH_OP_V2(optype, Key, ...) NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Key, __VA_ARGS__)

#endif
