// SPDX-License-Identifier: MIT OR Apache-2.0
// Host half of ShapeTraps. Each constant is a trap for who looks at one case only.
#include "register/op_def_registry.h"
#include "shape_traps_tiling.h"

namespace optiling {

constexpr uint32_t CORES = 48;         // fewer are quicker on little data, and slower on much
constexpr uint32_t SLOTS = 2;          // one is enough while every core has a single tile
constexpr uint32_t SLOT_LENGTH = 8192; // four times as much fits for half, and not for float
constexpr uint32_t ALIGN_NUM = 256;    // elements that a share is a multiple of

static ge::graphStatus ShapeTrapsTiling(gert::TilingContext *context)
{
    const uint32_t total = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    if (total == 0) {
        return ge::GRAPH_FAILED;
    }
    const uint32_t rows = (total + ALIGN_NUM - 1) / ALIGN_NUM;
    const uint32_t rowsOfCore = (rows + CORES - 1) / CORES;

    ShapeTrapsTilingData tiling;
    tiling.set_total(total);
    tiling.set_share(rowsOfCore * ALIGN_NUM);
    tiling.set_slots(SLOTS);
    tiling.set_slotLength(SLOT_LENGTH);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim((rows + rowsOfCore - 1) / rowsOfCore);

    size_t *workspace = context->GetWorkspaceSizes(1);
    workspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}

} // namespace optiling

namespace ops {

static ge::graphStatus ShapeTrapsInferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus ShapeTrapsInferDataType(gert::InferDataTypeContext *context)
{
    context->SetOutputDataType(0, context->GetInputDataType(0));
    return ge::GRAPH_SUCCESS;
}

class ShapeTraps : public OpDef {
public:
    explicit ShapeTraps(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});

        this->SetInferShape(ShapeTrapsInferShape).SetInferDataType(ShapeTrapsInferDataType);
        this->AICore().SetTiling(optiling::ShapeTrapsTiling).AddConfig("ascend910b");
    }
};
OP_ADD(ShapeTraps);

} // namespace ops
