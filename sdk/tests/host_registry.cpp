// Definitions and functions meet in one registry entry, whichever way they were registered.
#include <cstring>

#include "host/registry.h"
#include "host_check.h"
#include "log/log.h"
#include "op_host/tiling_base_util.h"
#include "platform/platform_info.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "util/bfloat16.h"
#include "util/fp16.h"
#include "util/math_util.h"
#include "util/platform_util.h"

namespace {
struct CompileInfo {
    uint64_t ub_bytes = 0;
};

ge::graphStatus Parse(gert::TilingParseContext* context)
{
    CompileInfo* const info = context->GetCompiledInfo<CompileInfo>();
    OP_CHECK_NULL_WITH_CONTEXT(context, info);
    info->ub_bytes = Ops::Base::GetUbSize(context);
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus Tile(gert::TilingContext* context)
{
    const gert::StorageShape* const shape = context->GetInputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, shape);
    OP_CHECK_IF(shape->GetStorageShape().GetDimNum() != 2, OP_LOGE(context, "rank %zu", shape->GetStorageShape().GetDimNum()),
                return ge::GRAPH_FAILED);
    context->SetBlockDim(Ops::Base::GetAivCoreNum(context));
    context->SetTilingKey(static_cast<uint64_t>(*context->GetAttrs()->GetInt(0)));
    context->GetWorkspaceSizes(1)[0] = static_cast<const CompileInfo*>(context->GetCompileInfo())->ub_bytes;
    int64_t* const data = context->GetTilingData<int64_t>();
    OP_CHECK_NULL_WITH_CONTEXT(context, data);
    *data = shape->GetStorageShape().GetShapeSize();
    return ge::GRAPH_SUCCESS;
}

ge::graphStatus Infer(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}
} // namespace

// Code of a graph beside the definition, which names what it needs without an include of its own.
namespace ge {
static size_t CountOf(const Operator& op, const Tensor& constant)
{
    AscendString name;
    return op.GetName(name) == GRAPH_SUCCESS && constant.GetData() != nullptr ? constant.GetSize() / sizeof(int64_t) : 0;
}
} // namespace ge

namespace ops {
class Sample : public OpDef {
public:
    explicit Sample(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("bias").ParamType(OPTIONAL).Follow("x");
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("axis").AttrType(OPTIONAL).Int(-1);
        this->SetInferShape(Infer);
        this->AICore().SetTiling(Tile).AddConfig("ascend910b");
    }
};
OP_ADD(Sample);
} // namespace ops
IMPL_OP_OPTILING(Sample).TilingParse<CompileInfo>(Parse);
IMPL_OP_INFERSHAPE(Other).InferShape(Infer).PrivateAttr("mode", static_cast<int64_t>(3));

int main()
{
    ge::Tensor constant;
    const int64_t values[3] = {1, 2, 3};
    CHECK(constant.SetData(reinterpret_cast<const uint8_t*>(values), sizeof(values)) == ge::GRAPH_SUCCESS);
    CHECK(constant.SetData(nullptr, 8) == ge::GRAPH_FAILED);
    CHECK(ge::CountOf(ge::Operator("one", "Sample"), constant) == 3);

    const ascendsim::host::OpEntry* const entry = ascendsim::host::FindOperator("Sample");
    CHECK(entry != nullptr);
    if (entry == nullptr) {
        return 1;
    }
    CHECK(entry->definition != nullptr && entry->definition->GetInputs().size() == 2);
    CHECK(entry->tiling == &Tile && entry->infer_shape == &Infer && entry->tiling_parse != nullptr);
    CHECK(ascendsim::host::FindOperator("Nobody") == nullptr);
    const ascendsim::host::OpEntry* const other = ascendsim::host::FindOperator("Other");
    CHECK(other != nullptr && other->definition == nullptr && other->private_attrs.size() == 1);

    fe::PlatFormInfos& platform = fe::PlatformInfoManager::Instance().Machine();
    platform.SetNumbers(fe::MachineNumbers());
    const platform_ascendc::PlatformAscendC ascendc(&platform);
    CHECK(ascendc.GetCoreNumAiv() == 48 && ascendc.GetCoreNumAic() == 24 && ascendc.GetCoreNum() == 48);
    CHECK(ascendc.GetSocVersion() == platform_ascendc::SocVersion::ASCEND910B);
    CHECK(ascendc.GetCurNpuArch() == NpuArch::DAV_2201);
    CHECK(ascendc.CalcTschBlockDim(5, 24, 48) == 3 && ascendc.GetLibApiWorkSpaceSize() == 16U * 1024 * 1024);
    const auto instruction = [&platform](const char* name) {
        std::string operands;
        (void)platform.GetPlatformRes("AICoreintrinsicDtypeMap", name, operands);
        return operands;
    };
    CHECK(instruction("Intrinsic_fix_pipe_l0c2out").find("f322bf16") != std::string::npos && instruction("Intrinsic_data_move_l0c2ub").empty());
    CHECK(instruction("Intrinsic_data_move_l12bt").find("f162f32") != std::string::npos);
    CHECK(instruction("Intrinsic_data_move_l12bt").find("bf16") == std::string::npos && instruction("Intrinsic_mmad").find("s8s4") == std::string::npos);
    fe::MachineNumbers older;
    older.soc = "Ascend310P3";
    platform.SetNumbers(older);
    CHECK(instruction("Intrinsic_fix_pipe_l0c2out").empty());
    platform.SetNumbers(fe::MachineNumbers());

    gert::ComputeNodeInfo node;
    node.SetNode("Sample", "sample");
    gert::CompileTimeTensorDesc desc;
    desc.SetDataType(ge::DT_FLOAT);
    node.AddIrInput({desc});
    node.AddIrInput({});
    node.AddIrOutput({desc});
    const int64_t axis = 12;
    node.MutableAttrs()->AppendValue(&axis, sizeof(axis));

    const gert::ComputeNodeInfo& seen = node;
    seen.MutableOutputTdInfo(0)->SetDataType(ge::DT_INT8);
    CHECK(seen.GetOutputTdInfo(0)->GetDataType() == ge::DT_INT8 && seen.GetInputTdInfo(0)->GetDataType() == ge::DT_FLOAT);
    CHECK(seen.MutableOutputTdInfo(1) == nullptr && seen.MutableInputTdInfo(0) == seen.GetInputTdInfo(0));
    CHECK(seen.MutableInputInstanceInfo(1) == seen.GetInputInstanceInfo(1));
    seen.MutableOutputTdInfo(0)->SetDataType(ge::DT_FLOAT);

    void* const info = entry->create_compile_info();
    gert::TilingParseContext parse(node, info, &platform);
    CHECK(entry->tiling_parse(&parse) == ge::GRAPH_SUCCESS);

    const auto block = gert::TilingData::CreateCap(64);
    gert::TilingContext::Question question;
    question.inputs = {gert::Tensor({{8, 16}, {8, 16}}, gert::StorageFormat(), ge::DT_FLOAT)};
    question.outputs = question.inputs;
    question.compile_info = info;
    question.platform = &platform;
    question.tiling_data = reinterpret_cast<gert::TilingData*>(block.get());
    gert::TilingContext context(node, question);
    CHECK(entry->tiling(&context) == ge::GRAPH_SUCCESS);
    const gert::TilingContext::Decision& decision = context.GetDecision();
    CHECK(decision.block_dim == 48 && decision.tiling_key == 12 && decision.workspace_bytes.size() == 1);
    CHECK(decision.workspace_bytes[0] == 196608 - 256);
    CHECK(question.tiling_data->GetDataSize() == 8 && *static_cast<int64_t*>(question.tiling_data->GetData()) == 128);
    CHECK(context.GetOptionalInputShape(1) == nullptr && context.GetOptionalInputDesc(1) == nullptr);
    CHECK(context.GetInputShape(1) == nullptr && context.GetWorkspaceSizes(17) == nullptr);
    entry->delete_compile_info(info);

    gert::InferShapeContext infer(node, question.inputs);
    CHECK(entry->infer_shape(&infer) == ge::GRAPH_SUCCESS);
    CHECK(*infer.GetOutputShape(0) == gert::Shape({8, 16}) && infer.GetOutputShape(1) == nullptr);

    CHECK(Ops::Base::CeilDiv(7, 2) == 4 && Ops::Base::CeilDiv(-7, 2) == -3 && Ops::Base::CeilDiv(7, 0) == 7);
    CHECK(Ops::Base::CeilAlign<uint64_t>(33, 32) == 64 && Ops::Base::FloorAlign(33, 32) == 32);
    CHECK(Ops::Base::CeilAlign<uint32_t>(0xFFFFFFF1U, 32) == 0xFFFFFFFFU);
    gert::Stride stride;
    stride.AppendStride(64);
    CHECK(stride.GetDimNum() == 1 && stride.GetStride(0) == 64 && stride[1] == 0);
    CHECK(context.GetInputStride(0) == nullptr && context.GetOutputStride(0) == nullptr);
    const Ops::Base::fp16_t one_half(1.5F);
    CHECK(one_half.val == 0x3E00 && static_cast<float>(one_half) == 1.5F);
    const Ops::Base::bfloat16 near_three(3.0078125F + 1.0F / 1024);
    CHECK(near_three.value == 0x4041 && static_cast<float>(near_three) == 3.015625F);
    const gert::Shape scalar;
    CHECK(Ops::Base::EnsureNotScalar(scalar) == gert::Shape({1}));
    CHECK(ge::GetSizeInBytes(3, ge::DT_INT4) == 2 && ge::GetSizeInBytes(3, ge::DT_BF16) == 6);
    return CHECK_RESULT();
}
