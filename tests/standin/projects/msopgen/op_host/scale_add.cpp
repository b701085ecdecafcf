// Host half of ScaleAdd, y = scale * x + z: tiling, shape inference and the operator definition.
#include "scale_add_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {

constexpr uint32_t CORE_NUM = 4;      // cores that take part
constexpr uint32_t TILE_LENGTH = 256; // elements of one tile

static ge::graphStatus ScaleAddTiling(gert::TilingContext *context)
{
    const uint32_t length = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    if (length == 0 || length % (CORE_NUM * TILE_LENGTH) != 0) {
        return ge::GRAPH_FAILED;
    }
    ScaleAddTilingData tiling;
    tiling.set_coreLength(length / CORE_NUM);
    tiling.set_tileLength(TILE_LENGTH);
    tiling.set_scale(*context->GetAttrs()->GetFloat(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(CORE_NUM);
    context->SetTilingKey(1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

} // namespace optiling

namespace ops {

static ge::graphStatus ScaleAddInferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

class ScaleAdd : public OpDef {
public:
    explicit ScaleAdd(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Input("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Attr("scale").AttrType(OPTIONAL).Float(2.0);

        this->SetInferShape(ScaleAddInferShape);
        this->AICore().SetTiling(optiling::ScaleAddTiling).AddConfig("ascend910b");
    }
};
OP_ADD(ScaleAdd);

} // namespace ops
