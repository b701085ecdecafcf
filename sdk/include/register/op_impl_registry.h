// Registration of host functions by operator type: IMPL_OP_OPTILING(Op).Tiling(f).TilingParse<Info>(g) and its sisters.
// Every registration object adds what it names to one entry per operator type, so the order and the number of
// registrations do not matter.
#ifndef ASCEND_SDK_REGISTER_OP_IMPL_REGISTRY_H
#define ASCEND_SDK_REGISTER_OP_IMPL_REGISTRY_H

// Operators rely on these without including them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exe_graph/runtime/base_type.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "exe_graph/runtime/kernel_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/ascend_string.h"
#include "graph/compiler_def.h"
#include "graph/types.h"

namespace gert {
enum TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

// Functions of the executor and of graph compilation: accepted and remembered nowhere.
class OpExecuteContext;
class OpExecutePrepareContext;
class OpExecuteLaunchContext;
class InferFormatContext;
class ExeResGenerationContext;

class OpImplRegisterV2 {
public:
    using InferShapeKernelFunc = UINT32 (*)(InferShapeContext*);
    using InferShapeRangeKernelFunc = UINT32 (*)(InferShapeRangeContext*);
    using InferDataTypeKernelFunc = UINT32 (*)(InferDataTypeContext*);
    using TilingKernelFunc = UINT32 (*)(TilingContext*);
    using TilingParseFunc = UINT32 (*)(TilingParseContext*);
    using GenSimplifiedKeyKernelFunc = UINT32 (*)(TilingContext*, ge::char_t*);
    using CompileInfoCreatorFunc = void* (*)();
    using CompileInfoDeleterFunc = void (*)(void*);
    using OpExecFunc = UINT32 (*)(OpExecuteContext*);
    using OpExecPrepareFunc = UINT32 (*)(OpExecutePrepareContext*);
    using OpExecLaunchFunc = UINT32 (*)(OpExecuteLaunchContext*);
    using InferFormatFunc = UINT32 (*)(InferFormatContext*);
    using OpCalcParamKernelFunc = UINT32 (*)(ExeResGenerationContext*);
    using OpGenTaskKernelFunc = UINT32 (*)(const ExeResGenerationContext*, std::vector<std::vector<uint8_t>>&);

    explicit OpImplRegisterV2(const ge::char_t* op_type);

    OpImplRegisterV2& Tiling(TilingKernelFunc tiling, size_t max_tiling_data_size = 2048);
    OpImplRegisterV2& InferShape(InferShapeKernelFunc infer_shape);
    OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc infer_datatype);
    OpImplRegisterV2& InferOutDataTypeSameWithFirstInput();
    template <typename T>
    OpImplRegisterV2& TilingParse(TilingParseFunc parse)
    {
        return TilingParse(parse, &CreateCompileInfo<T>, &DeleteCompileInfo<T>);
    }
    // Kept for tests; nothing here asks for a key.
    OpImplRegisterV2& GenSimplifiedKey(GenSimplifiedKeyKernelFunc gen_simplified_key);
    OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t> inputs);
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs);
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                                 std::initializer_list<TilingPlacement>)
    {
        return TilingInputsDataDependency(inputs);
    }
    // Private attributes are known to the host functions only; they follow the attributes of the definition.
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, int64_t value);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const std::vector<int64_t>& value);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const ge::char_t* value);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, ge::float32_t value);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, bool value);
    OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const std::vector<ge::float32_t>& value);

    // The following concern graph compilation or the executor, which do not exist here.
    OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc)
    {
        return *this;
    }
    OpImplRegisterV2& OpExecuteFunc(OpExecFunc)
    {
        return *this;
    }
    OpImplRegisterV2& Op2StageExecuteFuncs(OpExecPrepareFunc, OpExecLaunchFunc)
    {
        return *this;
    }
    OpImplRegisterV2& HostInputs(std::initializer_list<int32_t> inputs)
    {
        return Note("HostInputs", inputs);
    }
    OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<int32_t> outputs)
    {
        return Note("OutputShapeDependOnCompute", outputs);
    }
    OpImplRegisterV2& NullableOutputs(std::initializer_list<int32_t> outputs)
    {
        return Note("NullableOutputs", outputs);
    }
    OpImplRegisterV2& InferFormat(InferFormatFunc)
    {
        return *this;
    }
    OpImplRegisterV2& CalcOpParam(OpCalcParamKernelFunc)
    {
        return *this;
    }
    OpImplRegisterV2& GenerateTask(OpGenTaskKernelFunc)
    {
        return *this;
    }

private:
    // What is not simulated and belongs to the interface all the same.
    OpImplRegisterV2& Note(const char* what, std::initializer_list<int32_t> numbers);
    OpImplRegisterV2& TilingParse(TilingParseFunc parse, CompileInfoCreatorFunc create, CompileInfoDeleterFunc destroy);
    template <typename T>
    static void* CreateCompileInfo()
    {
        return new T();
    }
    template <typename T>
    static void DeleteCompileInfo(void* info)
    {
        delete static_cast<T*>(info);
    }

    std::string op_type_;
};

using OpImplRegister = OpImplRegisterV2;
} // namespace gert

#define ASCEND_SDK_IMPL_OP(op_type, variable, counter) \
    static gert::OpImplRegisterV2 VAR_UNUSED variable##counter = gert::OpImplRegisterV2(#op_type)
#define ASCEND_SDK_IMPL_OP_COUNTED(op_type, variable, counter) ASCEND_SDK_IMPL_OP(op_type, variable, counter)
#define IMPL_OP(op_type) ASCEND_SDK_IMPL_OP_COUNTED(op_type, op_impl_register_##op_type, __COUNTER__)
#define IMPL_OP_DEFAULT() IMPL_OP(DefaultImpl)
#define IMPL_OP_INFERSHAPE(op_type) \
    ASCEND_SDK_IMPL_OP_COUNTED(op_type, op_impl_register_infershape_##op_type, __COUNTER__)
#define IMPL_OP_OPTILING(op_type) ASCEND_SDK_IMPL_OP_COUNTED(op_type, op_impl_register_optiling_##op_type, __COUNTER__)

#endif
