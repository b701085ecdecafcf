// Contexts that tiling tests make up: what a test puts in reaches the tiling function, and leaves a record.
#include "../unit_test/tiling/tiling_faker.cpp"
#include "../unit_test/tiling/tiling_record.cpp"

#include <unistd.h>

#include "host_check.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
struct CompileInfo {
    uint32_t cores = 0;
    uint64_t ub = 0;
};

ge::graphStatus Parse(gert::TilingParseContext* context)
{
    CompileInfo* const info = context->GetCompiledInfo<CompileInfo>();
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    info->cores = platform.GetCoreNumAiv();
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ub);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus Tile(gert::TilingContext* context)
{
    const CompileInfo* const info = context->GetCompileInfo<CompileInfo>();
    const gert::Tensor* const axes = context->GetOptionalInputTensor(1);
    const int64_t* const list = context->GetAttrs()->GetListInt(1)->GetData();
    size_t* const workspaces = context->GetWorkspaceSizes(1);
    if (workspaces == nullptr) {
        return ge::GRAPH_FAILED;
    }
    workspaces[0] = 64;
    int64_t* const data = context->GetTilingData<int64_t>();
    *data = context->GetInputShape(0)->GetStorageShape().GetShapeSize() + list[1];
    context->SetBlockDim(info->cores);
    context->SetTilingKey(axes == nullptr ? 1 : static_cast<uint64_t>(axes->GetData<int64_t>()[0]));
    return *context->GetAttrs()->GetFloat(0) > 0 ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
IMPL_OP_OPTILING(FakedOp).Tiling(Tile).TilingParse<CompileInfo>(Parse);

struct Made {
    fe::PlatFormInfos platform;
    CompileInfo info;
    std::unique_ptr<uint8_t[]> data = gert::TilingData::CreateCap(64);
    std::unique_ptr<uint8_t[]> sizes = gert::ContinuousVector::Create<size_t>(8);
    gert::KernelRunContextHolder holder;
};

ge::graphStatus Call(Made& made, bool with_axes, bool with_workspace, float scale)
{
    const char* const json = R"({"hardware_info": {"UB_SIZE": 1024, "CORE_NUM": 7, "socVersion": "Ascend910B"}})";
    std::map<std::string, std::string> soc, core, intrinsics, version;
    GetPlatFormInfos(json, soc, core, intrinsics, version);
    made.platform.SetPlatformRes("SoCInfo", soc);
    made.platform.SetPlatformRes("AICoreSpec", core);
    made.platform.SetPlatformRes("version", version);
    const auto* const functions = gert::OpImplRegistry::GetInstance().GetOpImpl("FakedOp");
    auto parse = gert::KernelRunContextFaker()
                     .Inputs({const_cast<char*>(json), &made.platform})
                     .Outputs({&made.info})
                     .Build();
    CHECK(functions->tiling_parse(parse.GetContext<gert::KernelContext>()) == ge::GRAPH_SUCCESS);
    gert::StorageShape x = {{2, 3}, {2, 3}};
    gert::StorageShape axes = {{1}, {1}};
    int64_t value = 9;
    gert::Tensor constant(axes, gert::StorageFormat(ge::FORMAT_ND, ge::FORMAT_ND, gert::ExpandDimsType()),
                          gert::kOnHost, ge::DT_INT64, &value);
    gert::TilingContextFaker faker;
    faker.SetOpType("FakedOp").NodeIoNum(2, 1).InputShapes({&x, with_axes ? &axes : nullptr});
    faker.OutputShapes({&x}).CompileInfo(&made.info).PlatformInfo(&made.platform);
    faker.NodeInputTd(0, ge::DT_FLOAT16, ge::FORMAT_ND, ge::FORMAT_ND);
    faker.NodeInputTd(1, ge::DT_INT64, ge::FORMAT_ND, ge::FORMAT_ND);
    if (with_axes) {
        gert::Tensor whole(x, gert::StorageFormat(), ge::DT_FLOAT16);
        faker.InputTensors({&whole, &constant});
    }
    faker.NodeAttrs({{"scale", Ops::NN::AnyValue::CreateFrom<float>(scale)},
                     {"list", Ops::NN::AnyValue::CreateFrom<std::vector<int64_t>>({4, 5})}});
    faker.TilingData(made.data.get());
    faker.Workspace(with_workspace ? reinterpret_cast<gert::ContinuousVector*>(made.sizes.get()) : nullptr);
    made.holder = faker.Build();
    return functions->tiling(made.holder.GetContext<gert::TilingContext>());
}
} // namespace

int main()
{
    const std::string path = "unit_tiling_examples." + std::to_string(::getpid());
    CHECK(::setenv("ASCEND_TILING_EXAMPLES", path.c_str(), 1) == 0);
    {
        Made made;
        CHECK(Call(made, false, true, 1.0F) == ge::GRAPH_SUCCESS);
        // The machine is the one of the test: 7 cores, and 1024 bytes less what the architecture keeps.
        CHECK(made.info.cores == 7 && made.info.ub == 768);
        const gert::TilingContext& context = *made.holder.GetContext();
        CHECK(context.GetTilingKey() == 1 && context.GetBlockDim() == 7);
        auto* const sizes = reinterpret_cast<gert::ContinuousVector*>(made.sizes.get());
        CHECK(sizes->GetSize() == 1 && *static_cast<const size_t*>(sizes->GetData()) == 64);
        const auto* const data = reinterpret_cast<gert::TilingData*>(made.data.get());
        CHECK(*static_cast<const int64_t*>(data->GetData()) == 11);
    }
    {
        Made made;
        CHECK(Call(made, true, true, 1.0F) == ge::GRAPH_SUCCESS);
        CHECK(made.holder.GetContext()->GetTilingKey() == 9);
    }
    {
        Made made;
        CHECK(Call(made, false, false, 1.0F) == ge::GRAPH_FAILED);
        CHECK(Call(made, false, true, -1.0F) == ge::GRAPH_FAILED);
    }
    CHECK(gert::OpImplRegistry::GetInstance().GetOpImpl("Nobody") == nullptr);
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    (void)std::remove(path.c_str());
    // Before and after each of four calls.
    CHECK(std::count(text.begin(), text.end(), '\n') == 8);
    CHECK(text.find("\"input_instances\":[1,0]") != std::string::npos);
    CHECK(text.find("\"const_hex\":\"0900000000000000\"") != std::string::npos);
    CHECK(text.find("{\"name\":\"list\",\"kind\":\"list_int\",\"value\":\"4,5\"}") != std::string::npos);
    CHECK(text.find("\"soc\":\"Ascend910B\",\"architecture\":2201") != std::string::npos);
    CHECK(text.find("\"success\":true,\"tiling_key\":9,\"block_dim\":7,\"workspaces\":[64]") != std::string::npos);
    return CHECK_RESULT();
}
