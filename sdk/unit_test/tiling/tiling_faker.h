// Contexts that tiling tests make up, and the registry they take functions from. The names are those of the helpers
// that the repositories' tests include; what a test puts in is recorded with what comes out (tiling_record.cpp).
#ifndef ASCEND_SDK_UNIT_TEST_TILING_FAKER_H
#define ASCEND_SDK_UNIT_TEST_TILING_FAKER_H

#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "any_value.h"
#include "platform/platform_infos_def.h"
#include "register/op_impl_registry.h"

// The chip that a repository's own helper means where a test names none.
#ifndef ASCEND_UNIT_DEFAULT_SOC
#define ASCEND_UNIT_DEFAULT_SOC ""
#endif

namespace gert {
// The older name of what a function registered for a node gets.
class KernelContext : public TilingParseContext {
public:
    using TilingParseContext::TilingParseContext;
};
using TensorV2 = Tensor;
} // namespace gert

namespace ascend_unit {
// Everything that one made-up node consists of; contexts point into it.
struct Node {
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node();

    std::string type = "fakeOp";
    std::vector<gert::Tensor> inputs;
    std::vector<gert::Tensor> outputs;
    std::vector<uint32_t> input_instances;
    std::vector<uint32_t> output_instances;
    std::vector<std::pair<std::string, AnyValue>> attributes;
    const void* compile_info = nullptr;
    fe::PlatFormInfos* platform = nullptr;
    gert::TilingData* tiling_data = nullptr;
    gert::ContinuousVector* workspace = nullptr;
    bool has_workspace = false;
    int32_t deterministic = 0;
    const char* compiled_json = "{}";
    void* parsed_info = nullptr;

    gert::ComputeNodeInfo info;
    std::unique_ptr<gert::TilingContext> tiling;
    std::unique_ptr<gert::KernelContext> parse;

    // Makes the contexts from the rest.
    void Finish();
    // The node of a context; null for one that is not from here.
    static Node* Of(const gert::TilingContext* context);
};

// What a test expects of the call that comes next.
struct Expectation {
    bool known = false;
    bool success = false;
    bool has_key = false;
    uint64_t key = 0;
    bool has_data = false;
    std::string data;
    bool has_workspaces = false;
    std::vector<size_t> workspaces;
};
void Expect(const Expectation& expectation);
// Takes down the chip that a parse function is asked about.
void RecordChip(fe::PlatFormInfos* platform);

// Room for what a parse function writes in place of a test's structure, whose first bytes are kept the same.
class Room {
public:
    static void* Make(void* original, size_t bytes);
    // The room of a structure, up to date with it; the structure itself where there is none.
    static const void* Of(const void* original);
    // After a parse function has written into a room: hands the first bytes back.
    static void Return(const void* room);

private:
    void* original_ = nullptr;
    size_t bytes_ = 0;
    std::vector<uint64_t> words_;
    static std::map<const void*, Room>& All();
};

// A registered tiling function; calling it leaves a record.
class TilingFunction {
public:
    TilingFunction() = default;
    explicit TilingFunction(gert::OpImplRegisterV2::TilingKernelFunc function) : function_(function) {}
    ge::graphStatus operator()(gert::TilingContext* context) const;
    explicit operator bool() const { return function_ != nullptr; }
    operator gert::OpImplRegisterV2::TilingKernelFunc() const { return function_; }

private:
    gert::OpImplRegisterV2::TilingKernelFunc function_ = nullptr;
};
class TilingParseFunction {
public:
    TilingParseFunction() = default;
    explicit TilingParseFunction(gert::OpImplRegisterV2::TilingParseFunc function) : function_(function) {}
    // An operator without one needs nothing parsed.
    ge::graphStatus operator()(gert::TilingParseContext* context) const;
    explicit operator bool() const { return true; }
    operator gert::OpImplRegisterV2::TilingParseFunc() const { return function_; }

private:
    gert::OpImplRegisterV2::TilingParseFunc function_ = nullptr;
};
inline bool operator==(const TilingFunction& function, std::nullptr_t) { return !static_cast<bool>(function); }
inline bool operator!=(const TilingFunction& function, std::nullptr_t) { return static_cast<bool>(function); }
inline bool operator==(const TilingParseFunction& function, std::nullptr_t) { return !static_cast<bool>(function); }
inline bool operator!=(const TilingParseFunction& function, std::nullptr_t) { return static_cast<bool>(function); }
} // namespace ascend_unit

namespace gert {
class KernelRunContextHolder {
public:
    KernelRunContextHolder() = default;
    explicit KernelRunContextHolder(std::shared_ptr<ascend_unit::Node> node) : node_(std::move(node)) {}

    template <typename T>
    T* GetContext() const
    {
        if constexpr (std::is_same<T, TilingContext>::value) {
            return node_->tiling.get();
        } else {
            return node_->parse.get();
        }
    }
    TilingContext* GetContext() const { return node_->tiling.get(); }

private:
    std::shared_ptr<ascend_unit::Node> node_;
};

class TilingContextFaker {
public:
    TilingContextFaker& SetOpType(const std::string& type);
    TilingContextFaker& NodeIoNum(size_t inputs, size_t outputs);
    TilingContextFaker& IrInputNum(size_t) { return *this; }
    TilingContextFaker& IrInstanceNum(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);
    TilingContextFaker& IrInstanceNum(const std::vector<uint32_t>& inputs);
    TilingContextFaker& NodeInputTd(int32_t index, ge::DataType type, ge::Format origin, ge::Format storage);
    TilingContextFaker& NodeOutputTd(int32_t index, ge::DataType type, ge::Format origin, ge::Format storage);
    TilingContextFaker& InputShapes(std::initializer_list<void*> shapes);
    TilingContextFaker& InputShapes(const std::vector<void*>& shapes);
    TilingContextFaker& InputShapes(const std::vector<Shape*>& shapes);
    TilingContextFaker& InputShapes(const std::vector<StorageShape*>& shapes);
    TilingContextFaker& OutputShapes(std::initializer_list<Shape*> shapes);
    TilingContextFaker& OutputShapes(std::initializer_list<StorageShape*> shapes);
    TilingContextFaker& OutputShapes(const std::vector<Shape*>& shapes);
    TilingContextFaker& OutputShapes(const std::vector<StorageShape*>& shapes);
    TilingContextFaker& OutputShapes(const std::vector<void*>& shapes);
    TilingContextFaker& InputTensors(const std::vector<Tensor*>& tensors);
    TilingContextFaker& OutputTensors(const std::vector<Tensor*>& tensors);
    TilingContextFaker& ConstInput(std::vector<std::pair<size_t, std::unique_ptr<uint8_t[]>>>& tensors);
    template <typename T>
    TilingContextFaker& Attr(const std::string& name, const T& value)
    {
        return NodeAttrs({{name, ascend_unit::AnyValue::CreateFrom(value)}});
    }
    TilingContextFaker& NodeAttrs(const std::vector<std::pair<std::string, ascend_unit::AnyValue>>& attributes);
    TilingContextFaker& CompileInfo(const void* info);
    TilingContextFaker& PlatformInfo(const void* platform);
    TilingContextFaker& DeterministicInfo(int32_t* value);
    TilingContextFaker& DeterministicInfo(int32_t value);
    TilingContextFaker& DeterministicLevelInfo(int32_t value) { return DeterministicInfo(value); }
    TilingContextFaker& TilingData(const void* data);
    TilingContextFaker& Workspace(const ContinuousVector* workspace);
    KernelRunContextHolder Build();

private:
    gert::Tensor& Input(size_t index);
    gert::Tensor& Output(size_t index);

    std::shared_ptr<ascend_unit::Node> node_ = std::make_shared<ascend_unit::Node>();
    std::vector<gert::Tensor> inputs_;
    std::vector<uint32_t> passed_; // instances of each input that are really there
    std::vector<uint32_t> declared_;
    bool whole_tensors_ = false;
};

class KernelRunContextFaker {
public:
    KernelRunContextFaker& KernelIONum(size_t, size_t) { return *this; }
    KernelRunContextFaker& NodeIoNum(size_t, size_t) { return *this; }
    KernelRunContextFaker& IrInputNum(size_t) { return *this; }
    KernelRunContextFaker& IrInstanceNum(const std::vector<uint32_t>&) { return *this; }
    KernelRunContextFaker& SetOpType(const std::string& type);
    KernelRunContextFaker& Inputs(const std::vector<void*>& inputs);
    KernelRunContextFaker& Outputs(const std::vector<void*>& outputs);
    // Tests pass structures of their own that are smaller than those the parse functions fill.
    template <typename T>
    KernelRunContextFaker& Outputs(std::initializer_list<T*> outputs)
    {
        Outputs(std::vector<void*>(outputs.begin(), outputs.end()));
        if constexpr (!std::is_void<T>::value) {
            if constexpr (std::is_trivially_copyable<T>::value) {
                parsed_bytes_ = sizeof(T);
            }
        }
        return *this;
    }
    KernelRunContextFaker& NodeAttrs(const std::vector<std::pair<std::string, ascend_unit::AnyValue>>& attributes);
    KernelRunContextHolder Build();

private:
    std::shared_ptr<ascend_unit::Node> node_ = std::make_shared<ascend_unit::Node>();
    size_t parsed_bytes_ = 0; // 0: not known
};
using TilingParseContextFaker = KernelRunContextFaker;

// A whole call in one place: what the newer tests write.
class TilingContextPara {
public:
    class TensorDescription {
    public:
        TensorDescription(const StorageShape& shape, ge::DataType dtype, ge::Format format, bool is_const = false,
                          void* const_value = nullptr)
            : TensorDescription(shape, dtype, format, is_const, const_value, format)
        {}
        TensorDescription(const StorageShape& shape, ge::DataType dtype, ge::Format format, bool is_const,
                          void* const_value, ge::Format origin_format)
            : shape_(shape), dtype_(dtype), format_(format), originFormat_(origin_format), isConst_(is_const),
              constValue_(const_value)
        {}
        StorageShape shape_;
        ge::DataType dtype_ = ge::DT_FLOAT;
        ge::Format format_ = ge::FORMAT_ND;
        ge::Format originFormat_ = ge::FORMAT_ND;
        bool isConst_ = false;
        void* constValue_ = nullptr;
    };
    class OpAttr {
    public:
        OpAttr(const std::string& name, const ascend_unit::AnyValue& value) : attrName_(name), attr_(value) {}
        std::string attrName_;
        ascend_unit::AnyValue attr_;
    };
    using Tensors = std::vector<TensorDescription>;
    using Attributes = std::vector<OpAttr>;
    using Instances = std::vector<uint32_t>;

    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Attributes& attrs,
                      void* compile_info = nullptr, uint64_t cores = 64, uint64_t ub = 262144, uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, attrs, {}, {}, compile_info, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs,
                      void* compile_info = nullptr, uint64_t cores = 64, uint64_t ub = 262144, uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, Attributes(), {}, {}, compile_info, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Instances& ins,
                      const Instances& outs, void* compile_info = nullptr, uint64_t cores = 64, uint64_t ub = 262144,
                      uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, Attributes(), ins, outs, compile_info, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Attributes& attrs,
                      const Instances& ins, const Instances& outs, void* compile_info = nullptr, uint64_t cores = 64,
                      uint64_t ub = 262144, uint64_t size = 4096)
        : opName_(type), inputInstanceNum_(ins), outputInstanceNum_(outs), inputTensorDesc_(inputs),
          outputTensorDesc_(outputs), attrs_(attrs), coreNum_(cores), ubSize_(ub), tilingDataSize_(size),
          compileInfo_(compile_info)
    {}

    // The same with the name of a chip.
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Attributes& attrs,
                      void* compile_info, const std::string& soc, uint64_t cores = 64, uint64_t ub = 262144,
                      uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, attrs, {}, {}, compile_info, soc, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, void* compile_info,
                      const std::string& soc, uint64_t cores = 64, uint64_t ub = 262144, uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, Attributes(), {}, {}, compile_info, soc, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Instances& ins,
                      const Instances& outs, void* compile_info, const std::string& soc, uint64_t cores = 64,
                      uint64_t ub = 262144, uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, Attributes(), ins, outs, compile_info, soc, cores, ub, size)
    {}
    TilingContextPara(const std::string& type, const Tensors& inputs, const Tensors& outputs, const Attributes& attrs,
                      const Instances& ins, const Instances& outs, void* compile_info, const std::string& soc,
                      uint64_t cores = 64, uint64_t ub = 262144, uint64_t size = 4096)
        : TilingContextPara(type, inputs, outputs, attrs, ins, outs, compile_info, cores, ub, size)
    {
        socVersion_ = soc;
    }

    std::string opName_;
    Instances inputInstanceNum_;
    Instances outputInstanceNum_;
    Tensors inputTensorDesc_;
    Tensors outputTensorDesc_;
    Attributes attrs_;
    uint64_t coreNum_;
    uint64_t ubSize_;
    uint64_t tilingDataSize_;
    void* compileInfo_;
    std::string socVersion_ = ASCEND_UNIT_DEFAULT_SOC; // empty: the one that tests are built for
};

struct OpImplFunctions {
    ascend_unit::TilingFunction tiling;
    ascend_unit::TilingParseFunction tiling_parse;
    OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    OpImplRegisterV2::InferDataTypeKernelFunc infer_datatype = nullptr;
    OpImplRegisterV2::GenSimplifiedKeyKernelFunc gen_simplifiedkey = nullptr;
    size_t max_tiling_data_size = 2048;
};
struct OpImplKernelRegistry {
    using OpImplFunctions = gert::OpImplFunctions;
    using TilingKernelFunc = ascend_unit::TilingFunction;
    using KernelFunc = ascend_unit::TilingParseFunction;
};
class OpImplRegistry {
public:
    static OpImplRegistry& GetInstance();
    // Null when the type is not registered.
    const OpImplFunctions* GetOpImpl(const std::string& type);

private:
    std::map<std::string, OpImplFunctions> known_;
};
class DefaultOpImplSpaceRegistryV2 {
public:
    static DefaultOpImplSpaceRegistryV2& GetInstance();
    OpImplRegistry* GetSpaceRegistry() { return &OpImplRegistry::GetInstance(); }
};
} // namespace gert

// Machine description in the JSON that tests write, as sections of the platform.
void GetPlatFormInfos(const char* json, std::map<std::string, std::string>& soc,
                      std::map<std::string, std::string>& core, std::map<std::string, std::string>& intrinsics);
void GetPlatFormInfos(const char* json, std::map<std::string, std::string>& soc,
                      std::map<std::string, std::string>& core, std::map<std::string, std::string>& intrinsics,
                      std::map<std::string, std::string>& version);

#endif
