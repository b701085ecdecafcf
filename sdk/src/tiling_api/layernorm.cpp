// Layer normalisation and its gradients on the host.
#include <algorithm>
#include <cstring>

#include "arithmetic.h"
#include "norm_steps.h"
#include "tiling/normalization_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {

bool IsLayerShape(const TensorShape& shape, uint32_t type_size)
{
    return shape.GetDimNum() == 4 && shape.GetShapeSize() > 0 && IsHalfOrFloat(type_size);
}

// Float rows that may be overwritten hold one of the temporaries themselves.
uint32_t Parts(uint32_t type_size, bool reuse_source)
{
    return reuse_source && type_size == kFloat ? 2 : 3;
}
} // namespace

void GetLayerNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    const uint32_t rows = Dim(shape, 0) * Dim(shape, 1);
    const uint32_t columns = Dim(shape, 2);
    const uint32_t parts = Parts(type_size, reuse_source);
    const uint32_t head = 2 * RoundUp(rows * kFloat, kBlockBytes);
    max_bytes = parts * RoundUp(rows * columns * kFloat, kBlockBytes) + head;
    min_bytes = parts * RoundUp(columns * kFloat, kBlockBytes) + head;
}

void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, optiling::LayerNormTiling& tiling)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    NormSteps steps;
    steps.rows = Dim(shape, 0) * Dim(shape, 1);
    steps.columns = Dim(shape, 2);
    steps.parts = Parts(type_size, reuse_source);
    steps.workspace = workspace / kFloat;
    steps.head = type_size == kFloat ? 0 : 2 * RoundUp(steps.rows, 8);
    steps.FitRows();
    if (steps.step == 0) {
        return;
    }
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(steps.columns);
    tiling.set_originalHLength(Dim(shape, 3));
    FillSteps(tiling, steps);
    FillMeanAndVariance(tiling, steps);
    tiling.set_bsCurLength(steps.step / steps.columns);
    tiling.set_lastDimValueBack(1.0f / static_cast<float>(Dim(shape, 3)));
}

void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, tiling::LayerNormTiling& tiling)
{
    AsStruct<optiling::LayerNormTiling>(tiling, [&](optiling::LayerNormTiling& out) {
        GetLayerNormNDTilingInfo(shape, workspace, type_size, reuse_source, out);
    });
}

void GetLayerNormNDTillingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                               const bool reuse_source, optiling::LayerNormTiling& tiling)
{
    GetLayerNormNDTilingInfo(shape, workspace, type_size, reuse_source, tiling);
}

void GetNormalizeMaxMinTmpSize(const TensorShape& shape, const uint32_t weight_size, const uint32_t type_size,
                               const bool, const bool compute_rstd, const bool only_output, uint32_t& max_bytes,
                               uint32_t& min_bytes)
{
    if (!compute_rstd || only_output || weight_size == 0 || type_size == 0 || type_size > kBlockBytes) {
        return;
    }
    const uint32_t rows = Dim(shape, 0);
    const uint32_t columns = RoundUp(Dim(shape, 1), kBlockBytes / type_size);
    const uint32_t row_bytes = RoundUp(columns * kFloat, kBlockBytes);
    // Weights of half are widened too.
    max_bytes = 2 * row_bytes + 2 * RoundUp(RoundUp(rows, 8) * columns * kFloat, kBlockBytes);
    min_bytes = std::max(RoundUp(rows * kFloat, kBlockBytes), (weight_size == kFloat ? 2 : 4) * row_bytes);
}

void GetLayerNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               const bool compute_rstd, const bool only_output, uint32_t& max_bytes,
                               uint32_t& min_bytes)
{
    if (type_size == 0 || type_size > kBlockBytes || only_output) {
        return;
    }
    const uint32_t rows = Dim(shape, 0);
    const uint32_t columns = RoundUp(Dim(shape, 1), kBlockBytes / type_size);
    const uint32_t variance = RoundUp(rows * kFloat, kBlockBytes);
    uint32_t max_normalize = 0;
    uint32_t min_normalize = 0;
    GetNormalizeMaxMinTmpSize(shape, type_size, type_size, reuse_source, compute_rstd, only_output, max_normalize,
                              min_normalize);
    max_bytes = std::max(2 * RoundUp(rows * columns * kFloat, kBlockBytes), max_normalize) + variance;
    min_bytes = std::max(2 * RoundUp(columns * kFloat, kBlockBytes), min_normalize) + variance;
}

void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool, const bool, optiling::LayerNormSeparateTiling& tiling)
{
    if (type_size == 0 || type_size > kBlockBytes || shape.GetShapeSize() <= 0) {
        return;
    }
    NormSteps steps;
    steps.rows = Dim(shape, 0);
    steps.columns = RoundUp(Dim(shape, 1), kBlockBytes / type_size);
    steps.parts = 2;
    steps.workspace = workspace / kFloat;
    steps.head = RoundUp(steps.rows, 8);
    steps.FitRows();
    if (steps.step == 0) {
        return;
    }
    tiling.set_aLength(steps.rows);
    tiling.set_rLength(Dim(shape, 1));
    FillSteps(tiling, steps);
    tiling.set_varianceTmpTensorPos(0);
    tiling.set_varianceTmpTensorSize(steps.head);
    tiling.set_arCurLength(steps.step);
    tiling.set_aCurLength(steps.step / steps.columns);
    tiling.set_rValueBack(1.0f / static_cast<float>(Dim(shape, 1)));
}

void GetLayerNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const bool compute_rstd,
                              tiling::LayerNormSeparateTiling& tiling)
{
    AsStruct<optiling::LayerNormSeparateTiling>(tiling, [&](optiling::LayerNormSeparateTiling& out) {
        GetLayerNormNDTilingInfo(shape, workspace, type_size, reuse_source, compute_rstd, out);
    });
}

void GetWelfordUpdateMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t,
                                   const bool reuse_source, const bool, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (shape.GetDimNum() != 2) {
        return;
    }
    min_bytes = kRepeatBytes * (type_size == 2 ? 3 : reuse_source ? 1 : 2);
    max_bytes = RoundUp(Dim(shape, 0) * Dim(shape, 1), kRepeatBytes / kFloat) / (kRepeatBytes / kFloat) * min_bytes;
}

void GetWelfordFinalizeMaxMinTmpSize(const TensorShape& shape, const uint32_t, const bool, uint32_t& max_bytes,
                                     uint32_t& min_bytes)
{
    const uint32_t length = Dim(shape, 0);
    if (shape.GetDimNum() != 1 || length == 0 || length % 8 != 0) {
        return;
    }
    min_bytes = 4 * kRepeatBytes;
    max_bytes = length <= 64 ? min_bytes : (2 * 64 + 2 * length) * kFloat;
}

namespace {
uint32_t GradParts(uint32_t type_size, bool reuse_source)
{
    return type_size == 2 ? 9 : reuse_source ? 4 : 6;
}

uint32_t Bits(float value)
{
    uint32_t bits = 0;
    (void)std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
} // namespace

void GetLayerNormGradMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                                   uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    const uint32_t columns = Dim(shape, 2);
    const uint32_t size = Dim(shape, 0) * Dim(shape, 1) * columns;
    const uint32_t bytes = GradParts(type_size, reuse_source) * type_size;
    max_bytes = bytes * std::max(size, columns * columns);
    min_bytes = bytes * std::min(size, columns * columns);
}

void GetLayerNormGradNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                  const bool reuse_source, optiling::LayerNormGradTiling& tiling)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    const uint32_t columns = Dim(shape, 2);
    const uint32_t size = Dim(shape, 0) * Dim(shape, 1) * columns;
    uint32_t rows = workspace / kFloat / GradParts(type_size, reuse_source) / columns;
    if (rows == 0) {
        return;
    }
    rows = RoundUp(rows, kBlockBytes / type_size);
    const uint32_t step = rows * columns;

    // Temporaries follow each other, a step each. Float that may be overwritten keeps two of them in its operands.
    uint32_t at = 0;
    const auto next = [&at, step] {
        const uint32_t here = at;
        at += step;
        return here;
    };
    const bool in_operands = reuse_source && type_size == kFloat;
    tiling.set_tmpTensorBSHPos(next());
    tiling.set_pdVarTensorPos(next());
    tiling.set_pdMeanTensorPos(next());
    tiling.set_x1TensorPos(in_operands ? 0 : next());
    tiling.set_x2TensorPos(in_operands ? 0 : next());
    tiling.set_x3TensorPos(next());
    tiling.set_tmpTensorPos(type_size == 2 ? next() : 0);
    tiling.set_tmpTensor1Pos(type_size == 2 ? next() : 0);
    tiling.set_tmpTensor2Pos(type_size == 2 ? next() : 0);
    tiling.set_tmpTensorBSHSize(step);
    tiling.set_pdVarTensorSize(step);
    tiling.set_pdMeanTensorSize(step);
    tiling.set_x1TensorSize(step);
    tiling.set_x2TensorSize(step);
    tiling.set_x3TensorSize(step);
    tiling.set_tmpTensorSize(step);
    tiling.set_tmpTensor1Size(step);
    tiling.set_tmpTensor2Size(step);

    tiling.set_stackBufferSize(workspace);
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(Dim(shape, 3));
    tiling.set_oneCalSize(step);
    tiling.set_nohCalSize(rows);
    tiling.set_loopNum(size / step);
    tiling.set_tailSize(size % step);
    tiling.set_nohTailSize(size % step / columns);
    tiling.set_lastDimValueBack(Bits(1.0f / static_cast<float>(Dim(shape, 3))));
    tiling.set_lastDimValueBackMulTwo(Bits(2.0f / static_cast<float>(Dim(shape, 3))));
}

void GetLayerNormGradNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                  const bool reuse_source, tiling::LayerNormGradTiling& tiling)
{
    AsStruct<optiling::LayerNormGradTiling>(tiling, [&](optiling::LayerNormGradTiling& out) {
        GetLayerNormGradNDTilingInfo(shape, workspace, type_size, reuse_source, out);
    });
}

void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool,
                                       uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    const uint32_t row_bytes = Dim(shape, 2) * kFloat * (type_size == 2 ? 4 : 2);
    max_bytes = Dim(shape, 0) * Dim(shape, 1) * row_bytes;
    min_bytes = row_bytes;
}

void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                      const bool, optiling::LayerNormGradBetaTiling& tiling)
{
    if (!IsLayerShape(shape, type_size)) {
        return;
    }
    const bool half = type_size == 2;
    const uint32_t rows = Dim(shape, 0) * Dim(shape, 1);
    const uint32_t columns = Dim(shape, 2);
    const uint32_t size = rows * columns;
    const uint32_t floats = workspace / kFloat;
    if (floats < 2 * columns) {
        return;
    }
    // Half keeps widened sums of both gradients, then two temporaries of a step.
    uint32_t step = (half ? (floats - 2 * columns) / 2 : floats) / columns * columns;
    if (step == 0) {
        return;
    }
    step = std::min(step, size);
    const uint32_t tail = size % step;
    tiling.set_stackBufferSize(floats);
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(Dim(shape, 3));
    tiling.set_bshLength(size);
    tiling.set_bsLength(rows);
    tiling.set_oneCalSize(step);
    tiling.set_numberOfTmpBuf(half ? 2 : 1);
    tiling.set_loopRound(size / step);
    tiling.set_inputTailSize(tail);
    tiling.set_inputTailPos(size - tail);
    tiling.set_bsTailSize(tail / columns);
    tiling.set_bshCurLength(step);
    tiling.set_bsCurLength(step / columns);
    tiling.set_gammaTempTensorPos(0);
    tiling.set_betaTempTensorPos(half ? columns : 0);
    tiling.set_inputDyTmpTensorPos(half ? 2 * columns : 0);
    tiling.set_resForGammaTmpTensorPos(half ? 2 * columns + step : 0);
}

void GetLayerNormGradBetaNDTilingInfo(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                                      const bool reuse_source, tiling::LayerNormGradBetaTiling& tiling)
{
    AsStruct<optiling::LayerNormGradBetaTiling>(tiling, [&](optiling::LayerNormGradBetaTiling& out) {
        GetLayerNormGradBetaNDTilingInfo(shape, workspace, type_size, reuse_source, out);
    });
}
} // namespace AscendC
