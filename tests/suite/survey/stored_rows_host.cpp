// Host half of an operator that defines no output: rows of one tensor go into pages of another.
#include "add_custom_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {

static ge::graphStatus StoreKVBlockTiling(gert::TilingContext *context)
{
    const auto rows = context->GetInputShape(0)->GetStorageShape();
    const auto groups = context->GetInputShape(2)->GetStorageShape();
    StoreKVBlockTilingData tiling;
    tiling.set_blockLength(static_cast<uint32_t>(rows.GetShapeSize() / rows.GetDim(0)));
    tiling.set_tileNum(static_cast<uint32_t>(groups.GetDim(0)));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

} // namespace optiling

namespace ops {

class StoreKVBlock : public OpDef {
public:
    explicit StoreKVBlock(const char *name) : OpDef(name)
    {
        this->Input("keyIn").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("keyCacheIn").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("groupLen").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Input("groupKeyIdx").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Input("groupKeyCacheIdx").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Attr("blockSize").Int();
        this->AICore().SetTiling(optiling::StoreKVBlockTiling).AddConfig("ascend910b");
    }
};
OP_ADD(StoreKVBlock);

} // namespace ops
// SPDX-License-Identifier: MIT OR Apache-2.0
