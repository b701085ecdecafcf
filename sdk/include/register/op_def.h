// Operator definitions: inputs, outputs, attributes, the host functions and the compute units of an operator.
// The definition is data only; everything that the simulator needs of it can be read back with GetSpec(). What makes, copies, ends and
// grows lists and texts is compiled once, in the library: in every operator's definition it took as long as all the rest.
#ifndef ASCEND_SDK_REGISTER_OP_DEF_H
#define ASCEND_SDK_REGISTER_OP_DEF_H

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#ifndef __CCE_AICORE__
// Operators' host code counts on it. A kernel that includes its tiling's headers would have something done before its launch.
#include <iostream>
#endif

#include "graph/operator_reg.h"
#include "register/op_impl_registry.h"

namespace optiling {
#define FUNC_CHECK_SUPPORTED "check_supported"
#define FUNC_OP_SELECT_FORMAT "op_select_format"
#define FUNC_GET_OP_SUPPORT_INFO "get_op_support_info"
#define FUNC_GET_SPECIFIC_INFO "get_op_specific_info"
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator& op, ge::AscendString& result);
using PARAM_GENERALIZE_FUNC = ge::graphStatus (*)(const ge::Operator& op, const ge::AscendString& config,
                                                  ge::AscendString& params);
} // namespace optiling

namespace ops {
enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };
enum class CommentSection : uint32_t { CATEGORY, BRIEF, CONSTRAINTS, RESTRICTIONS, SEE, THIRDPARTYFWKCOMPAT, SECTION_MAX };
enum class ScalarType : uint32_t {
    UINT64, INT64, UINT32, INT32, UINT16, INT16, UINT8, INT8, FLOAT32, FLOAT16,
    INVALID_DTYPE = static_cast<uint32_t>(-1)
};

// An initial value of an output: the framework fills the output with it before the launch.
struct ScalarVar {
    ScalarType scalar_type = ScalarType::INVALID_DTYPE;
    double value = 0;
    ScalarVar() = default;
    template <typename T>
    ScalarVar(ScalarType type, T number) : scalar_type(type), value(static_cast<double>(number))
    {}
};

class OpParamDef {
public:
    struct Spec {
        std::string name;
        Option kind = REQUIRED;
        std::vector<ge::DataType> data_types;
        bool data_types_are_list = false; // every combination is allowed, not only equal positions
        std::vector<ge::Format> formats;
        bool formats_are_list = false;
        std::vector<ge::Format> unknown_shape_formats;
        bool value_depend = false;
        bool auto_contiguous = false;
        bool ignore_contiguous = false;
        bool scalar = false;      // aclnn passes it as a scalar
        bool scalar_list = false; // aclnn passes it as a list of scalars
        std::string follow;       // parameter whose types and formats this one takes over
        FollowType follow_type = FollowType::ALL;
        bool has_init_value = false;
        std::vector<ScalarVar> initial_values; // one for all data types, or one for each; none: zero
        bool shape_depends_on_compute = false;
        std::string notes; // what is not simulated and belongs to the interface all the same
    };

    explicit OpParamDef(const char* name);

    // Lists in braces come as they stand: each that is made a vector where it is written takes the compiler's time there.
    OpParamDef& ParamType(Option param_type)
    {
        spec_.kind = param_type;
        return *this;
    }
    OpParamDef& DataType(std::initializer_list<ge::DataType> types);
    OpParamDef& DataType(std::vector<ge::DataType> types);
    OpParamDef& DataTypeList(std::initializer_list<ge::DataType> types);
    OpParamDef& DataTypeList(std::vector<ge::DataType> types);
    OpParamDef& Format(std::initializer_list<ge::Format> formats);
    OpParamDef& Format(std::vector<ge::Format> formats);
    OpParamDef& FormatList(std::initializer_list<ge::Format> formats);
    OpParamDef& FormatList(std::vector<ge::Format> formats);
    // Types and formats of the binary lookup concern packaged kernels only.
    OpParamDef& DataTypeForBinQuery(std::initializer_list<ge::DataType>)
    {
        return *this;
    }
    OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType>)
    {
        return *this;
    }
    OpParamDef& FormatForBinQuery(std::initializer_list<ge::Format>)
    {
        return *this;
    }
    OpParamDef& FormatForBinQuery(std::vector<ge::Format>)
    {
        return *this;
    }
    OpParamDef& UnknownShapeFormat(std::initializer_list<ge::Format> formats);
    OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats);
    OpParamDef& ValueDepend(Option value_depend)
    {
        spec_.value_depend = value_depend != IGNORE;
        return *this;
    }
    OpParamDef& ValueDepend(Option value_depend, DependScope)
    {
        return ValueDepend(value_depend);
    }
    OpParamDef& IgnoreContiguous()
    {
        spec_.ignore_contiguous = true;
        return *this;
    }
    OpParamDef& AutoContiguous()
    {
        spec_.auto_contiguous = true;
        return *this;
    }
    OpParamDef& Scalar()
    {
        spec_.scalar = true;
        return *this;
    }
    OpParamDef& ScalarList()
    {
        spec_.scalar_list = true;
        return *this;
    }
    OpParamDef& To(ge::DataType type);
    OpParamDef& To(const char* name);
    OpParamDef& Version(uint32_t)
    {
        return *this;
    }
    OpParamDef& InitValue(uint64_t)
    {
        spec_.has_init_value = true;
        return *this;
    }
    OpParamDef& InitValue(const ScalarVar& value);
    OpParamDef& InitValue(const std::vector<ScalarVar>& values);
    OpParamDef& OutputShapeDependOnCompute()
    {
        spec_.shape_depends_on_compute = true;
        return *this;
    }
    OpParamDef& Follow(const char* param_name, FollowType type = FollowType::ALL);
    OpParamDef& Comment(const char*)
    {
        return *this;
    }

    const Spec& GetSpec() const
    {
        return spec_;
    }
    Spec& MutableSpec()
    {
        return spec_;
    }

private:
    Spec spec_;
};

class OpAttrDef {
public:
    enum class Kind { kNone, kBool, kFloat, kInt, kString, kListBool, kListFloat, kListInt, kListListInt };
    struct Spec {
        std::string name;
        bool required = false;
        Kind kind = Kind::kNone;
        bool has_default = false;
        int64_t int_value = 0; // also of kBool
        float float_value = 0;
        std::string string_value;
        std::vector<int64_t> int_list; // also of kListBool
        std::vector<float> float_list;
        std::vector<std::vector<int64_t>> int_list_list;
    };

    explicit OpAttrDef(const char* name);

    OpAttrDef& AttrType(Option attr_type)
    {
        spec_.required = attr_type == REQUIRED;
        return *this;
    }
    OpAttrDef& Bool()
    {
        return Set(Kind::kBool, false);
    }
    OpAttrDef& Bool(bool value)
    {
        spec_.int_value = value ? 1 : 0;
        return Set(Kind::kBool, true);
    }
    OpAttrDef& Float()
    {
        return Set(Kind::kFloat, false);
    }
    OpAttrDef& Float(float value)
    {
        spec_.float_value = value;
        return Set(Kind::kFloat, true);
    }
    OpAttrDef& Int()
    {
        return Set(Kind::kInt, false);
    }
    OpAttrDef& Int(int64_t value)
    {
        spec_.int_value = value;
        return Set(Kind::kInt, true);
    }
    OpAttrDef& String()
    {
        return Set(Kind::kString, false);
    }
    OpAttrDef& String(const char* value);
    OpAttrDef& ListBool()
    {
        return Set(Kind::kListBool, false);
    }
    OpAttrDef& ListBool(std::vector<bool> value);
    OpAttrDef& ListFloat()
    {
        return Set(Kind::kListFloat, false);
    }
    OpAttrDef& ListFloat(std::vector<float> value);
    OpAttrDef& ListInt()
    {
        return Set(Kind::kListInt, false);
    }
    OpAttrDef& ListInt(std::vector<int64_t> value);
    OpAttrDef& ListListInt()
    {
        return Set(Kind::kListListInt, false);
    }
    OpAttrDef& ListListInt(std::vector<std::vector<int64_t>> value);
    OpAttrDef& Version(uint32_t)
    {
        return *this;
    }
    OpAttrDef& Comment(const char*)
    {
        return *this;
    }

    const Spec& GetSpec() const
    {
        return spec_;
    }

private:
    OpAttrDef& Set(Kind kind, bool has_default)
    {
        spec_.kind = kind;
        spec_.has_default = has_default;
        return *this;
    }

    Spec spec_;
};

// What differs for one compute unit.
class OpAICoreConfig {
public:
    OpAICoreConfig();
    explicit OpAICoreConfig(const char* compute_unit);
    ~OpAICoreConfig();
    OpAICoreConfig(const OpAICoreConfig& other);
    OpAICoreConfig(OpAICoreConfig&& other) noexcept;
    OpAICoreConfig& operator=(const OpAICoreConfig& other);
    OpAICoreConfig& operator=(OpAICoreConfig&& other) noexcept;

    OpParamDef& Input(const char* name);
    OpParamDef& Output(const char* name);
    OpAICoreConfig& DynamicCompileStaticFlag(bool flag)
    {
        return Flag("dynamicCompileStatic.flag", flag);
    }
    OpAICoreConfig& DynamicFormatFlag(bool flag)
    {
        return Flag("dynamicFormat.flag", flag);
    }
    OpAICoreConfig& DynamicRankSupportFlag(bool flag)
    {
        return Flag("dynamicRankSupport.flag", flag);
    }
    OpAICoreConfig& DynamicShapeSupportFlag(bool flag)
    {
        return Flag("dynamicShapeSupport.flag", flag);
    }
    OpAICoreConfig& NeedCheckSupportFlag(bool flag)
    {
        return Flag("needCheckSupport.flag", flag);
    }
    OpAICoreConfig& PrecisionReduceFlag(bool flag)
    {
        return Flag("precision_reduce.flag", flag);
    }
    OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);

    const std::vector<OpParamDef>& GetInputs() const
    {
        return inputs_;
    }
    const std::vector<OpParamDef>& GetOutputs() const
    {
        return outputs_;
    }
    const std::map<std::string, std::string>& GetSettings() const
    {
        return settings_;
    }

private:
    OpAICoreConfig& Flag(const char* key, bool flag);

    std::vector<OpParamDef> inputs_;
    std::vector<OpParamDef> outputs_;
    std::map<std::string, std::string> settings_;
};

class OpAICoreDef {
public:
    OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func)
    {
        tiling_ = func;
        return *this;
    }
    // Questions of graph compilation; nobody asks them here.
    OpAICoreDef& SetCheckSupport(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef& SetOpSelectFormat(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef& SetOpSupportInfo(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef& SetOpSpecInfo(optiling::OP_CHECK_FUNC)
    {
        return *this;
    }
    OpAICoreDef& SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC)
    {
        return *this;
    }
    OpAICoreDef& LaunchWithZeroEleOutputTensors(bool)
    {
        return *this;
    }
    OpAICoreDef& AddConfig(const char* compute_unit);
    OpAICoreDef& AddConfig(const char* compute_unit, const OpAICoreConfig& config);

    gert::OpImplRegisterV2::TilingKernelFunc GetTiling() const
    {
        return tiling_;
    }
    const std::map<std::string, OpAICoreConfig>& GetConfigs() const
    {
        return configs_;
    }

private:
    gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
    std::map<std::string, OpAICoreConfig> configs_;
};

// Communication of the operator; accepted, not simulated.
class OpMC2Def {
public:
    OpMC2Def& HcclGroup(const char*)
    {
        return *this;
    }
    OpMC2Def& HcclGroup(std::vector<const char*>)
    {
        return *this;
    }
    void HcclServerType(enum HcclServerType, const char* = nullptr) {}
};

// Variants on the control or host processor; accepted, not simulated.
class OpAICPUDef {
public:
    OpAICPUDef& ExtendCfgInfo(const char*, const char*)
    {
        return *this;
    }
};
using OpHostCPUDef = OpAICPUDef;

class OpDef {
public:
    explicit OpDef(const char* type);
    ~OpDef();
    OpDef(const OpDef& other);
    OpDef(OpDef&& other) noexcept;
    OpDef& operator=(const OpDef& other);
    OpDef& operator=(OpDef&& other) noexcept;

    OpParamDef& Input(const char* name);
    OpParamDef& Output(const char* name);
    OpAttrDef& Attr(const char* name);
    OpDef& Comment(CommentSection, const char*)
    {
        return *this;
    }
    OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func)
    {
        infer_shape_ = func;
        return *this;
    }
    OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc)
    {
        return *this;
    }
    OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func)
    {
        infer_datatype_ = func;
        return *this;
    }
    OpAICoreDef& AICore()
    {
        return aicore_;
    }
    OpAICPUDef& AICPU()
    {
        return aicpu_;
    }
    OpHostCPUDef& HostCPU()
    {
        return hostcpu_;
    }
    OpMC2Def& MC2()
    {
        return mc2_;
    }
    OpDef& FormatMatchMode(FormatCheckOption)
    {
        return *this;
    }
    OpDef& EnableFallBack()
    {
        return *this;
    }

    const std::string& GetTypeName() const
    {
        return type_;
    }
    const std::vector<OpParamDef>& GetInputs() const
    {
        return inputs_;
    }
    const std::vector<OpParamDef>& GetOutputs() const
    {
        return outputs_;
    }
    const std::vector<OpAttrDef>& GetAttrs() const
    {
        return attrs_;
    }
    const OpAICoreDef& GetAICore() const
    {
        return aicore_;
    }
    gert::OpImplRegisterV2::InferShapeKernelFunc GetInferShape() const
    {
        return infer_shape_;
    }
    gert::OpImplRegisterV2::InferDataTypeKernelFunc GetInferDataType() const
    {
        return infer_datatype_;
    }

private:
    std::string type_;
    std::vector<OpParamDef> inputs_;
    std::vector<OpParamDef> outputs_;
    std::vector<OpAttrDef> attrs_;
    OpAICoreDef aicore_;
    OpAICPUDef aicpu_;
    OpHostCPUDef hostcpu_;
    OpMC2Def mc2_;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape_ = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_datatype_ = nullptr;
};
} // namespace ops

#endif
