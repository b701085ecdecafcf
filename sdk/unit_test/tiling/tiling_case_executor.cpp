#include "tiling_case_executor.h"

#include <cstdlib>

#include "platform/platform_info.h"

namespace {
// A call in progress: the objects that the context points into.
struct Call {
    fe::PlatFormInfos platform;
    std::unique_ptr<uint8_t[]> tiling_data;
    std::unique_ptr<uint8_t[]> workspace;
    std::vector<gert::Tensor> tensors;
    gert::KernelRunContextHolder holder;
    ge::graphStatus status = ge::GRAPH_FAILED;
    bool registered = false;
};

gert::Tensor TensorOf(const gert::TilingContextPara::TensorDescription& from)
{
    return gert::Tensor(from.shape_, gert::StorageFormat(from.originFormat_, from.format_, gert::ExpandDimsType()),
                        gert::kOnHost, from.dtype_, from.isConst_ ? from.constValue_ : nullptr);
}

// A chip by its short name. Helpers look names up as they are written, so "Ascend910b" is a chip without an architecture.
std::map<std::string, std::string> Version(const std::string& soc)
{
    static const std::map<std::string, std::string> kArchitectures = {
        {"", "2201"},           {"Ascend910B", "2201"}, {"Ascend910_93", "2201"}, {"Ascend950", "3510"},
        {"Ascend310P", "2002"}, {"Ascend310B", "3002"}, {"Ascend910", "1001"},
    };
    const auto found = kArchitectures.find(soc);
    return {{"Short_SoC_version", soc.empty() ? "Ascend910B" : soc},
            {"NpuArch", found == kArchitectures.end() ? "" : found->second}};
}

// The machine that tests of this form mean: as many cores of one kind, and the SoC they are built for.
void Describe(const gert::TilingContextPara& para, fe::PlatFormInfos& platform)
{
    const std::string json = "{\"UB_SIZE\": " + std::to_string(para.ubSize_) +
                             ", \"L2_SIZE\": 33554432, \"L1_SIZE\": 524288, \"L0A_SIZE\": 65536, \"L0B_SIZE\": 65536, "
                             "\"L0C_SIZE\": 131072, \"BT_SIZE\": 0, \"load3d_constraints\": \"1\", "
                             "\"Intrinsic_data_move_l12ub\": true, \"Intrinsic_data_move_l0c2ub\": true, \"CORE_NUM\": " +
                             std::to_string(para.coreNum_) + "}";
    std::map<std::string, std::string> soc;
    std::map<std::string, std::string> core;
    std::map<std::string, std::string> intrinsics;
    // A test that names no chip is built for one; which one it was written for may be tried out.
    const char* const built_for = std::getenv("ASCEND_TILING_SOC");
    const std::string soc_name = !para.socVersion_.empty() || built_for == nullptr ? para.socVersion_ : built_for;
    std::map<std::string, std::string> version = Version(soc_name);
    GetPlatFormInfos(json.c_str(), soc, core, intrinsics);
    platform.SetPlatformRes("SoCInfo", soc);
    platform.SetPlatformRes("AICoreSpec", core);
    platform.SetCoreNumByCoreType("AICore");
    platform.SetPlatformRes("AICoreintrinsicDtypeMap", intrinsics);
    platform.SetPlatformRes("version", version);
}

void Run(const gert::TilingContextPara& para, const ascend_unit::Expectation& expectation, Call& call)
{
    Describe(para, call.platform);
    call.tiling_data = gert::TilingData::CreateCap(para.tilingDataSize_);
    constexpr size_t kMostWorkspaces = 4096;
    call.workspace = gert::ContinuousVector::Create<size_t>(kMostWorkspaces);
    gert::TilingContextFaker faker;
    if (para.inputInstanceNum_.empty() && para.outputInstanceNum_.empty()) {
        faker.NodeIoNum(para.inputTensorDesc_.size(), para.outputTensorDesc_.size());
    } else {
        faker.IrInstanceNum(para.inputInstanceNum_, para.outputInstanceNum_);
    }
    for (const auto& tensor : para.inputTensorDesc_) {
        call.tensors.push_back(TensorOf(tensor));
    }
    for (const auto& tensor : para.outputTensorDesc_) {
        call.tensors.push_back(TensorOf(tensor));
    }
    std::vector<gert::Tensor*> inputs;
    std::vector<gert::Tensor*> outputs;
    for (size_t i = 0; i < call.tensors.size(); ++i) {
        (i < para.inputTensorDesc_.size() ? inputs : outputs).push_back(&call.tensors[i]);
    }
    for (const auto& attribute : para.attrs_) {
        faker.NodeAttrs({{attribute.attrName_, attribute.attr_}});
    }
    call.holder = faker.SetOpType(para.opName_)
                      .InputTensors(inputs)
                      .OutputTensors(outputs)
                      .CompileInfo(para.compileInfo_)
                      .PlatformInfo(&call.platform)
                      .TilingData(call.tiling_data.get())
                      .Workspace(reinterpret_cast<gert::ContinuousVector*>(call.workspace.get()))
                      .Build();
    const gert::OpImplFunctions* const functions = gert::OpImplRegistry::GetInstance().GetOpImpl(para.opName_);
    call.registered = functions != nullptr && functions->tiling != nullptr;
    if (call.registered) {
        ascend_unit::Expect(expectation);
        call.status = functions->tiling(call.holder.GetContext());
    }
}

template <typename T>
std::string Numbers(const uint8_t* data, size_t count)
{
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, data + i * sizeof(T), sizeof(T));
        text += std::to_string(value) + " ";
    }
    return text;
}

std::string EightByteNumbers(const gert::TilingData& data)
{
    return Numbers<int64_t>(static_cast<const uint8_t*>(data.GetData()), data.GetDataSize() / sizeof(int64_t));
}

// The structure of elementwise templates: 8, 4 and 4 bytes, seven times 8, 8.
std::string ElementwiseNumbers(const gert::TilingData& data)
{
    const uint8_t* const bytes = static_cast<const uint8_t*>(data.GetData());
    return Numbers<int64_t>(bytes, 1) + Numbers<int32_t>(bytes + 8, 2) + Numbers<int64_t>(bytes + 16, 7) +
           Numbers<uint64_t>(bytes + 72, 1);
}

void Check(const gert::TilingContextPara& para, const ascend_unit::Expectation& expected, bool elementwise)
{
    Call call;
    Run(para, expected, call);
    ASSERT_TRUE(call.registered) << "no tiling function is registered for " << para.opName_;
    const bool success = call.status == ge::GRAPH_SUCCESS;
    EXPECT_EQ(success, expected.success);
    if (!expected.success) {
        return;
    }
    gert::TilingContext* const context = call.holder.GetContext();
    const std::vector<size_t>& workspaces = context->GetDecision().workspace_bytes;
    if (!workspaces.empty()) {
        ASSERT_EQ(workspaces.size(), expected.workspaces.size());
        for (size_t i = 0; i < workspaces.size(); ++i) {
            ASSERT_EQ(workspaces[i], expected.workspaces[i]);
        }
    }
    const uint64_t tiling_key = context->GetTilingKey();
    if (expected.has_key) {
        ASSERT_EQ(tiling_key, expected.key);
    }
    if (expected.has_data) {
        const gert::TilingData& raw = *context->GetRawTilingData();
        const std::string tiling_data = elementwise ? ElementwiseNumbers(raw) : EightByteNumbers(raw);
        EXPECT_EQ(tiling_data, expected.data);
    }
}
} // namespace

void ExecuteTestCase(const gert::TilingContextPara& para, ge::graphStatus status, uint64_t key, const string& data,
                     const std::vector<size_t>& workspaces)
{
    ascend_unit::Expectation expected;
    expected.known = true;
    expected.success = status == ge::GRAPH_SUCCESS;
    expected.has_key = true;
    expected.key = key;
    expected.has_data = data != EMPTY_EXPECT_TILING_DATA;
    expected.data = data;
    expected.has_workspaces = true;
    expected.workspaces = workspaces;
    Check(para, expected, false);
}

void ExecuteTestCase(const gert::TilingContextPara& para, ge::graphStatus status, uint64_t key,
                     const std::vector<size_t>& workspaces)
{
    ExecuteTestCase(para, status, key, EMPTY_EXPECT_TILING_DATA, workspaces);
}

void ExecuteTestCaseForEle(const gert::TilingContextPara& para, ge::graphStatus status, bool check_key, uint64_t key,
                           bool check_data, const string& data, const std::vector<size_t>& workspaces)
{
    ascend_unit::Expectation expected;
    expected.known = true;
    expected.success = status == ge::GRAPH_SUCCESS;
    expected.has_key = check_key;
    expected.key = key;
    expected.has_data = check_data;
    expected.data = data;
    expected.has_workspaces = true;
    expected.workspaces = workspaces;
    Check(para, expected, true);
}

bool ExecuteTiling(const gert::TilingContextPara& para, TilingInfo& info)
{
    Call call;
    Run(para, ascend_unit::Expectation(), call);
    if (!call.registered || call.status != ge::GRAPH_SUCCESS) {
        return false;
    }
    gert::TilingContext* const context = call.holder.GetContext();
    info.tilingKey = static_cast<int64_t>(context->GetTilingKey());
    info.blockNum = context->GetBlockDim();
    const auto& workspaces = context->GetDecision().workspace_bytes;
    info.workspaceSizes.assign(workspaces.begin(), workspaces.end());
    const gert::TilingData& raw = *context->GetRawTilingData();
    info.tilingDataSize = raw.GetDataSize();
    info.tilingData = std::make_unique<uint8_t[]>(info.tilingDataSize);
    std::memcpy(info.tilingData.get(), raw.GetData(), info.tilingDataSize);
    return true;
}
