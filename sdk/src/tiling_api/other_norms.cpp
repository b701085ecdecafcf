// RMS, deep, batch and group normalisation on the host.
#include <algorithm>

#include "arithmetic.h"
#include "norm_steps.h"
#include "tiling/normalization_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {
constexpr uint32_t kBasicColumns = 64;
constexpr uint32_t kBasicRows = 8;
constexpr uint32_t kMaxRepeats = 255;

uint32_t CountOfRows(const TensorShape& shape)
{
    return Dim(shape, 0) * Dim(shape, 1);
}

bool FillsBasicBlocks(const TensorShape& shape)
{
    return Dim(shape, 2) % kBasicColumns == 0 && CountOfRows(shape) % kBasicRows == 0;
}

bool IsRmsBasicBlock(const TensorShape& shape)
{
    return FillsBasicBlocks(shape) && Dim(shape, 2) < 2048;
}

// Floats for a number of rows: widened halves need twice as many.
uint32_t RmsCost(uint32_t rows, uint32_t columns, uint32_t type_size)
{
    return rows * columns * (type_size == kFloat ? 1 : 2) + RoundUp(rows, 8);
}
} // namespace

bool GetRmsNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes,
                             uint32_t& min_bytes, const bool basic_block)
{
    if (shape.GetDimNum() < 3 || !IsHalfOrFloat(type_size) || (basic_block && !IsRmsBasicBlock(shape))) {
        return false;
    }
    const uint32_t columns = Dim(shape, 2);
    const uint32_t wide = type_size == 2 ? 2 : 1;
    max_bytes = (CountOfRows(shape) * columns * wide + RoundUp(CountOfRows(shape), kBlockBytes / type_size)) * kFloat;
    min_bytes = (columns * wide + 8) * kFloat;
    return true;
}

bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                          const uint32_t type_size, optiling::RmsNormTiling& tiling, const bool basic_block)
{
    const uint32_t columns = Dim(shape, 2);
    const uint32_t meant = Dim(original, 2);
    if (shape.GetDimNum() != 3 || original.GetDimNum() != 3 || shape.GetDim(0) != original.GetDim(0) ||
        shape.GetDim(1) != original.GetDim(1) || meant == 0 || columns < meant ||
        columns * type_size % kBlockBytes != 0) {
        return false;
    }
    uint32_t max_bytes = 0;
    uint32_t min_bytes = 0;
    if (!GetRmsNormMaxMinTmpSize(shape, type_size, max_bytes, min_bytes, basic_block) || workspace < min_bytes) {
        return false;
    }
    const uint32_t floats = workspace / kFloat;
    // The largest number of rows that fits; at least one, for which the smallest size was made.
    uint32_t rows = std::max(1u, floats / (columns * (type_size == kFloat ? 1 : 2)));
    while (rows > 1 && RmsCost(rows, columns, type_size) > floats) {
        --rows;
    }
    rows = std::min(rows, CountOfRows(shape));
    if (basic_block) {
        rows = rows < kBasicRows ? rows : rows / kBasicRows * kBasicRows;
    } else {
        rows = std::min(rows, kMaxRepeats);
    }
    const uint32_t size = CountOfRows(shape) * columns;
    const uint32_t step = rows * columns;
    const uint32_t tail = size % step;
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(meant);
    tiling.set_reciprocalOfHLength(static_cast<float>(1.0 / static_cast<float>(meant)));
    tiling.set_mainBshLength(step);
    tiling.set_mainBsLength(rows);
    tiling.set_mainBsLengthAlign(RoundUp(rows, 8));
    tiling.set_loopRound(size / step);
    tiling.set_inputTailPos(size - tail);
    tiling.set_tailBshLength(tail);
    tiling.set_tailBsLength(tail / columns);
    return true;
}

bool GetRmsNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                          const uint32_t type_size, tiling::RmsNormTiling& tiling, const bool basic_block)
{
    return AsStruct<optiling::RmsNormTiling>(tiling, [&](optiling::RmsNormTiling& out) {
        return GetRmsNormTilingInfo(shape, original, workspace, type_size, out, basic_block);
    });
}

bool GetDeepNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                              const bool basic_block, uint32_t& max_bytes, uint32_t& min_bytes)
{
    const uint32_t columns = Dim(shape, 2);
    if (basic_block && (!FillsBasicBlocks(shape) || columns == 0)) {
        return false;
    }
    const uint32_t parts = reuse_source && type_size == kFloat ? 2 : 3;
    const uint32_t head = 2 * RoundUp(CountOfRows(shape) * kFloat, kBlockBytes);
    max_bytes = parts * RoundUp(CountOfRows(shape) * columns * kFloat, kBlockBytes) + head;
    min_bytes = parts * RoundUp(columns * kFloat, kBlockBytes) + head;
    return true;
}

bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                           const uint32_t type_size, const bool reuse_source, const bool basic_block,
                           optiling::DeepNormTiling& tiling)
{
    uint32_t max_bytes = 0;
    uint32_t min_bytes = 0;
    if (!GetDeepNormMaxMinTmpSize(shape, type_size, reuse_source, basic_block, max_bytes, min_bytes) ||
        workspace < min_bytes) {
        return false;
    }
    const uint32_t columns = Dim(shape, 2);
    const uint32_t meant = Dim(original, 2);
    if (shape.GetDim(0) != original.GetDim(0) || shape.GetDim(1) != original.GetDim(1) || meant == 0 ||
        meant > columns || (basic_block && meant != columns) || columns * type_size % kBlockBytes != 0 ||
        columns > kMaxRepeats * 8) {
        return false;
    }
    NormSteps steps;
    steps.rows = CountOfRows(shape);
    steps.columns = columns;
    steps.parts = reuse_source && type_size == kFloat ? 2 : 3;
    steps.workspace = workspace / kFloat;
    steps.head = type_size == kFloat ? 0 : 2 * RoundUp(steps.rows, 8);
    steps.FitRows();
    if (basic_block && steps.step / (kBasicRows * columns) > 0) {
        steps.step = steps.step / (kBasicRows * columns) * (kBasicRows * columns);
    }
    if (steps.step == 0) {
        return false;
    }
    tiling.set_bLength(Dim(shape, 0));
    tiling.set_sLength(Dim(shape, 1));
    tiling.set_hLength(columns);
    tiling.set_originalHLength(meant);
    FillSteps(tiling, steps);
    FillMeanAndVariance(tiling, steps);
    tiling.set_bsCurLength(steps.step / columns);
    tiling.set_lastDimValueBack(1.0f / static_cast<float>(meant));
    return true;
}

bool GetDeepNormTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                           const uint32_t type_size, const bool reuse_source, const bool basic_block,
                           tiling::DeepNormTiling& tiling)
{
    return AsStruct<optiling::DeepNormTiling>(tiling, [&](optiling::DeepNormTiling& out) {
        return GetDeepNormTilingInfo(shape, original, workspace, type_size, reuse_source, basic_block, out);
    });
}

bool GetBatchNormMaxMinTmpSize(const TensorShape& shape, const TensorShape& original, const uint32_t type_size,
                               const bool, uint32_t& max_bytes, uint32_t& min_bytes, const bool basic_block)
{
    const uint32_t batch = Dim(original, 0);
    const uint32_t size = Dim(shape, 1) * Dim(shape, 2);
    if (basic_block && (size % kBasicColumns != 0 || batch % kBasicRows != 0)) {
        return false;
    }
    const uint32_t head = 2 * RoundUp(size * kFloat, kBlockBytes);
    const uint32_t column = basic_block ? kBasicColumns * kFloat : type_size == 2 ? 2 * kBlockBytes : kBlockBytes;
    max_bytes = 3 * RoundUp(batch * size * kFloat, kBlockBytes) + head;
    min_bytes = 3 * batch * column + head;
    return true;
}

bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                              const uint32_t type_size, const bool reuse_source, optiling::BatchNormTiling& tiling,
                              const bool basic_block)
{
    const uint32_t batch = Dim(original, 0);
    const uint32_t size = Dim(shape, 1) * Dim(shape, 2);
    uint32_t max_bytes = 0;
    uint32_t min_bytes = 0;
    if (shape.GetDimNum() != 3 || original.GetDimNum() != 3 || batch == 0 || size * type_size % kBlockBytes != 0 ||
        !GetBatchNormMaxMinTmpSize(shape, original, type_size, reuse_source, max_bytes, min_bytes, basic_block) ||
        workspace < min_bytes) {
        return false;
    }
    const uint32_t mean = RoundUp(size, 8);
    const uint32_t head = type_size == kFloat ? 0 : 2 * mean;
    const uint32_t all = batch * size;
    const uint32_t unit = batch * (type_size == kFloat ? 8 : 16);
    const uint32_t floats = workspace / kFloat;
    uint32_t step = std::min((floats - head) / 3 / unit * unit, all);
    if (step == 0) {
        return false;
    }
    uint32_t columns = step / batch;
    if (basic_block && columns % kBasicColumns != 0) {
        columns = columns / kBasicColumns * kBasicColumns;
        step = columns * batch;
        if (step == 0) {
            return false;
        }
    }
    const uint32_t tail = all % step;
    tiling.set_originalBLength(batch);
    tiling.set_meanVarSize(size);
    tiling.set_meanTmpTensorPos(0);
    tiling.set_varianceTmpTensorPos(mean);
    tiling.set_tmpBufSize(floats);
    tiling.set_oneTmpSize(step);
    tiling.set_firstTmpStartPos(head);
    tiling.set_secondTmpStartPos(head + step);
    tiling.set_thirdTmpStartPos(head + 2 * step);
    tiling.set_loopRound(all / step);
    tiling.set_inputTailSize(tail);
    tiling.set_inputTailPos((all - tail) / batch);
    tiling.set_meanVarTailSize(tail / batch);
    tiling.set_meanVarTailPos(size - tail / batch);
    tiling.set_bshCurLength(step);
    tiling.set_shCurLength(columns);
    tiling.set_firstDimValueBack(1.0f / static_cast<float>(batch));
    tiling.set_castHalfRepStride(4);
    tiling.set_shCurLengthBlockNum(columns / 8);
    tiling.set_castHalfOutRepStride(size / 16);
    return true;
}

bool GetBatchNormNDTilingInfo(const TensorShape& shape, const TensorShape& original, const uint32_t workspace,
                              const uint32_t type_size, const bool reuse_source, tiling::BatchNormTiling& tiling,
                              const bool basic_block)
{
    return AsStruct<optiling::BatchNormTiling>(tiling, [&](optiling::BatchNormTiling& out) {
        return GetBatchNormNDTilingInfo(shape, original, workspace, type_size, reuse_source, out, basic_block);
    });
}

namespace {
bool IsGroupShape(const TensorShape& shape, uint32_t type_size, uint32_t groups)
{
    return shape.GetDimNum() == 4 && shape.GetShapeSize() > 0 && IsHalfOrFloat(type_size) && groups > 0 &&
           Dim(shape, 1) >= groups;
}

// Groups of a step for planes so small that several are reduced at once: repeats are limited to 255.
uint32_t SmallPlaneGroups(uint32_t group_size, uint32_t groups)
{
    uint32_t mask = std::min(group_size, 64u);
    while (mask != 0 && group_size % mask != 0) {
        mask -= 8;
    }
    if (mask == 0) {
        return groups;
    }
    return std::min(groups, kMaxRepeats / (group_size / mask) / 8 * 8);
}
} // namespace

void GetGroupNormMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool reuse_source,
                               const uint32_t groups, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (!IsGroupShape(shape, type_size, groups)) {
        return;
    }
    const uint32_t channels = Dim(shape, 1);
    const uint32_t plane = RoundUp(Dim(shape, 2) * Dim(shape, 3) * type_size, kBlockBytes) / type_size * kFloat;
    const uint32_t parts = reuse_source && type_size == kFloat ? 2 : 3;
    const uint32_t head = 2 * RoundUp(Dim(shape, 0) * groups * kFloat, kBlockBytes);
    max_bytes = parts * Dim(shape, 0) * channels * plane + head;
    min_bytes = parts * (channels / groups) * plane + head;
}

void GetGroupNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const uint32_t groups, optiling::GroupNormTiling& tiling)
{
    if (!IsGroupShape(shape, type_size, groups)) {
        return;
    }
    const uint32_t channels = Dim(shape, 1);
    const uint32_t plane = Dim(shape, 2) * Dim(shape, 3);
    const uint32_t depth = channels / groups;
    const uint32_t stored_plane = RoundUp(type_size * plane, kBlockBytes) / type_size;

    NormSteps steps;
    steps.rows = Dim(shape, 0) * groups;
    steps.columns = depth * stored_plane;
    steps.parts = reuse_source && type_size == kFloat ? 2 : 3;
    steps.workspace = workspace / kBlockBytes * kBlockBytes / kFloat;
    steps.head = type_size == kFloat ? 0 : 2 * RoundUp(steps.rows, 8);
    uint32_t at_once = (steps.workspace - steps.head) / steps.parts / steps.columns;

    uint32_t repeats = 8;
    while (steps.columns / 8 % repeats != 0) {
        --repeats;
    }
    const bool small = stored_plane <= 64 && steps.columns <= 64 * repeats;
    if (small) {
        at_once = SmallPlaneGroups(steps.columns, at_once);
    }
    if (type_size == 2 && at_once * steps.columns < channels) {
        return;
    }
    // All channels count here, also those that groups leave over.
    const uint32_t size = Dim(shape, 0) * channels * stored_plane;
    steps.step = at_once * steps.columns;
    if (steps.step > size) {
        at_once = steps.rows;
        steps.step = size;
    }
    if (steps.step == 0) {
        return;
    }
    FillSteps(tiling, steps);
    FillMeanAndVariance(tiling, steps);
    const uint32_t tail = size % steps.step;
    tiling.set_inputXSize(size);
    tiling.set_loopRound(size / steps.step);
    tiling.set_inputTailSize(tail);
    tiling.set_inputTailPos(size - tail);
    tiling.set_meanVarTailSize(tail / steps.columns);
    tiling.set_meanVarTailPos(steps.rows - tail / steps.columns);
    tiling.set_n(Dim(shape, 0));
    tiling.set_c(channels);
    tiling.set_hw(plane);
    tiling.set_g(groups);
    tiling.set_d(depth);
    tiling.set_hwAlignSize(stored_plane);
    tiling.set_dhwAlignSize(steps.columns);
    tiling.set_bsCurLength(at_once);
    tiling.set_factor(1.0f / static_cast<float>(depth * plane));
    tiling.set_smallShape(small);
}

void GetGroupNormNDTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                              const bool reuse_source, const uint32_t groups, tiling::GroupNormTiling& tiling)
{
    AsStruct<optiling::GroupNormTiling>(tiling, [&](optiling::GroupNormTiling& out) {
        GetGroupNormNDTilingInfo(shape, workspace, type_size, reuse_source, groups, out);
    });
}
} // namespace AscendC
