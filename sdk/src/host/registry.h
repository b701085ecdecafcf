// What the loaded host libraries registered, by operator type.
#ifndef ASCEND_SDK_SRC_HOST_REGISTRY_H
#define ASCEND_SDK_SRC_HOST_REGISTRY_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "register/op_def.h"
#include "register/op_impl_registry.h"

namespace ascendsim {
namespace host {
struct OpEntry {
    std::unique_ptr<ops::OpDef> definition; // null when only functions were registered
    gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    gert::OpImplRegisterV2::TilingParseFunc tiling_parse = nullptr;
    gert::OpImplRegisterV2::CompileInfoCreatorFunc create_compile_info = nullptr;
    gert::OpImplRegisterV2::CompileInfoDeleterFunc delete_compile_info = nullptr;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_datatype = nullptr;
    gert::OpImplRegisterV2::GenSimplifiedKeyKernelFunc gen_simplified_key = nullptr;
    bool output_type_of_first_input = false;
    std::set<int32_t> value_depend_inputs;
    std::vector<ops::OpAttrDef> private_attrs;
    std::vector<std::string> notes; // what a registration says and nobody simulates
};

// All operator types in alphabetical order. Lives as long as the process, like the libraries.
std::map<std::string, OpEntry>& Operators();
// Null when the type is not registered.
const OpEntry* FindOperator(const std::string& op_type);
} // namespace host
} // namespace ascendsim

#endif
