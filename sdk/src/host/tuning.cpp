// Registrations for a tuning tool, its bank of tilings and a cache of them, none of which is here.
#include "exe_graph/runtime/tiling_parse_context.h"
#include "register/tuning_bank_key_registry.h"
#include "register/tuning_tiling_registry.h"

namespace tuningtiling {

ge::AscendString TuningTilingDef::GetClassName() const { return class_name_; }

std::map<ge::AscendString, TuningTilingDefConstructor>& TuningTilingClassFactory::RegisterInfo()
{
    static std::map<ge::AscendString, TuningTilingDefConstructor> constructors;
    return constructors;
}

void TuningTilingClassFactory::RegisterTilingData(const ge::AscendString& optype, TuningTilingDefConstructor const constructor)
{
    RegisterInfo()[optype] = constructor;
}

std::shared_ptr<TuningTilingDef> TuningTilingClassFactory::CreateTilingDataInstance(const ge::AscendString& optype)
{
    const auto found = RegisterInfo().find(optype);
    return found == RegisterInfo().end() || found->second == nullptr ? nullptr : found->second();
}

OpBankKeyFuncRegistry::OpBankKeyFuncRegistry(const ge::AscendString&, const OpBankKeyConvertFun&) {}
OpBankKeyFuncRegistry::OpBankKeyFuncRegistry(const ge::AscendString&, const OpBankParseFun&, const OpBankLoadFun&) {}
OpBankKeyFuncRegistryV2::OpBankKeyFuncRegistryV2(const ge::AscendString&, const OpBankKeyConvertFun&) {}
OpBankKeyFuncRegistryV2::OpBankKeyFuncRegistryV2(const ge::AscendString&, const OpBankParseFun&, const OpBankLoadFun&) {}

}  // namespace tuningtiling

namespace RuntimeKb {

uint32_t QueryBank(const void*, size_t, const std::string&, const std::string&, uint32_t, tuningtiling::TuningTilingDefPtr&)
{
    return 1;
}

}  // namespace RuntimeKb

// Operators declare these themselves: the cache of tilings of a toolkit's older matmul library, which starts out empty.
namespace optiling {

bool TilingPrepareForOpCache(gert::TilingContext* context);
bool TilingPrepareForOpCache(gert::TilingParseContext* context);
bool TilingPrepareForOpCache(gert::TilingContext* context) { return context != nullptr; }
bool TilingPrepareForOpCache(gert::TilingParseContext* context) { return context != nullptr; }

}  // namespace optiling
