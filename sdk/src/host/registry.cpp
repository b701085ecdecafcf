#include "registry.h"

#include "register/op_config_registry.h"
#include "register/op_def_factory.h"

namespace ascendsim {
namespace host {
std::map<std::string, OpEntry>& Operators()
{
    // Never destroyed: libraries may register and look up while static objects come and go.
    static std::map<std::string, OpEntry>* const operators = new std::map<std::string, OpEntry>();
    return *operators;
}

const OpEntry* FindOperator(const std::string& op_type)
{
    const auto found = Operators().find(op_type);
    return found == Operators().end() ? nullptr : &found->second;
}
} // namespace host
} // namespace ascendsim

namespace gert {
using ascendsim::host::Operators;

OpImplRegisterV2::OpImplRegisterV2(const ge::char_t* op_type) : op_type_(op_type == nullptr ? "" : op_type) {}

OpImplRegisterV2& OpImplRegisterV2::Tiling(TilingKernelFunc tiling, size_t)
{
    Operators()[op_type_].tiling = tiling;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::TilingParse(TilingParseFunc parse, CompileInfoCreatorFunc create,
                                                CompileInfoDeleterFunc destroy)
{
    auto& entry = Operators()[op_type_];
    entry.tiling_parse = parse;
    entry.create_compile_info = create;
    entry.delete_compile_info = destroy;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::InferShape(InferShapeKernelFunc infer_shape)
{
    Operators()[op_type_].infer_shape = infer_shape;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::InferDataType(InferDataTypeKernelFunc infer_datatype)
{
    Operators()[op_type_].infer_datatype = infer_datatype;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::GenSimplifiedKey(GenSimplifiedKeyKernelFunc gen_simplified_key)
{
    Operators()[op_type_].gen_simplified_key = gen_simplified_key;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::InferOutDataTypeSameWithFirstInput()
{
    Operators()[op_type_].output_type_of_first_input = true;
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::InputsDataDependency(std::initializer_list<int32_t> inputs)
{
    Operators()[op_type_].value_depend_inputs.insert(inputs.begin(), inputs.end());
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::TilingInputsDataDependency(std::initializer_list<int32_t> inputs)
{
    return InputsDataDependency(inputs);
}

OpImplRegisterV2& OpImplRegisterV2::Note(const char* what, std::initializer_list<int32_t> numbers)
{
    std::string note = what;
    for (const int32_t number : numbers) {
        note += ' ' + std::to_string(number);
    }
    Operators()[op_type_].notes.push_back(std::move(note));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name)
{
    ops::OpAttrDef attr(name);
    Operators()[op_type_].private_attrs.push_back(attr.AttrType(ops::REQUIRED));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, int64_t value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).Int(value));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, const std::vector<int64_t>& value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).ListInt(value));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, const ge::char_t* value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).String(value));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, ge::float32_t value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).Float(value));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, bool value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).Bool(value));
    return *this;
}

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, const std::vector<ge::float32_t>& value)
{
    Operators()[op_type_].private_attrs.push_back(ops::OpAttrDef(name).ListFloat(value));
    return *this;
}
} // namespace gert

namespace ops {
int OpDefFactory::OpDefRegister(const char* op_type, OpDef (*creator)(const char*))
{
    return OpDefRegister(op_type, OpDefCreator(creator));
}

int OpDefFactory::OpDefRegister(const char* op_type, const OpDefCreator& creator)
{
    auto& entry = ascendsim::host::Operators()[op_type];
    entry.definition.reset(new OpDef(creator(op_type)));
    // A function named by IMPL_OP_* stays when the definition has none.
    if (entry.definition->GetAICore().GetTiling() != nullptr) {
        entry.tiling = entry.definition->GetAICore().GetTiling();
    }
    if (entry.definition->GetInferShape() != nullptr) {
        entry.infer_shape = entry.definition->GetInferShape();
    }
    if (entry.definition->GetInferDataType() != nullptr) {
        entry.infer_datatype = entry.definition->GetInferDataType();
    }
    return 0;
}

void OpConfigRegistry::RegisterOpAICoreConfig(const char* op_type, const char* compute_unit, OpAICoreConfigFunc function)
{
    auto& entry = ascendsim::host::Operators()[op_type];
    if (entry.definition != nullptr && function != nullptr) {
        entry.definition->AICore().AddConfig(compute_unit, function());
    }
}
} // namespace ops
