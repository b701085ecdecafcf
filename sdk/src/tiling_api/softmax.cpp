// Softmax on the host. All variants share one structure: a row needs a number of floats of temporaries, and a step
// takes as many rows as the temporaries that the kernel has allow.
#include <algorithm>

#include "arithmetic.h"
#include "tiling/softmax_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {
constexpr uint32_t kTile = kBlockBytes / kFloat; // rows are taken in multiples of this where possible
constexpr uint32_t kUnit = 64;                        // columns of a basic block
constexpr uint32_t kBasicBlockElements = kUnit * 256; // a step of basic blocks stays below this
constexpr uint32_t kWideRow = 1024;                   // columns from which a basic block needs a second unit

struct Rows {
    uint32_t m = 0;
    uint32_t k = 0;
    bool valid = false;
};

Rows RowsOf(const TensorShape& shape)
{
    Rows rows;
    const int64_t size = shape.GetShapeSize();
    if (size <= 0) {
        return rows;
    }
    rows.k = static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
    rows.m = static_cast<uint32_t>(size) / rows.k;
    rows.valid = true;
    return rows;
}

uint32_t RoundDownToTile(uint32_t base, uint32_t rows, uint32_t tile)
{
    return base < rows && base > tile ? base / tile * tile : base;
}

// Whole basic blocks: a divisor of the rows, and few enough of them for one step.
uint32_t AlignToBasicBlocks(uint32_t base, const Rows& rows)
{
    if (base <= kTile || rows.m % kTile != 0 || rows.k % kUnit != 0) {
        return base;
    }
    base = base / kTile * kTile;
    while (rows.m % base != 0) {
        base -= kTile;
    }
    while (base * rows.k >= kBasicBlockElements) {
        base /= 2;
    }
    return base;
}

template <typename Tiling>
void Fill(Tiling& tiling, const Rows& rows, uint32_t per_block, uint32_t base)
{
    tiling.set_srcM(rows.m);
    tiling.set_srcK(rows.k);
    tiling.set_srcSize(rows.m * rows.k);
    tiling.set_outMaxM(rows.m);
    tiling.set_outMaxK(per_block);
    tiling.set_outMaxSize(rows.m * per_block);
    tiling.set_splitM(base);
    tiling.set_splitK(rows.k);
    tiling.set_splitSize(base * rows.k);
    tiling.set_reduceM(base);
    tiling.set_reduceK(per_block);
    tiling.set_reduceSize(base * per_block);
    uint32_t tail = 0;
    if (base != 0) {
        tiling.set_rangeM(rows.m / base);
        tail = rows.m % base;
    }
    tiling.set_tailM(tail);
    tiling.set_tailSplitSize(tail * rows.k);
    tiling.set_tailReduceSize(tail * per_block);
}

// Floats of temporaries for a row.
uint32_t PlainCost(const Rows& rows, uint32_t per_block)
{
    return per_block + rows.k + kUnit;
}

uint32_t FlashCost(const Rows& rows, uint32_t per_block, bool update)
{
    return update ? per_block * 4 + rows.k * 2 : PlainCost(rows, per_block);
}

uint32_t GradCost(const Rows& rows, uint32_t per_block, uint32_t type_size, bool front)
{
    if (type_size == 2) {
        return per_block * 2 + rows.k * 3 + kUnit;
    }
    return front ? PlainCost(rows, per_block) : per_block * 2 + rows.k + kUnit;
}

uint32_t FlashV2Cost(const Rows& rows, uint32_t per_block, uint32_t type_size, bool basic_block)
{
    if (!basic_block) {
        return type_size == 2 ? per_block * 2 + rows.k + kUnit : per_block + kUnit;
    }
    const uint32_t units = rows.k == kWideRow ? kUnit * 2 : kUnit;
    return type_size == 2 ? per_block + rows.k + units : per_block + units;
}

uint32_t FlashV3Cost(const Rows& rows, uint32_t per_block)
{
    return per_block * 5 + rows.k * 2 + kUnit;
}

template <typename Tiling>
void FillFromCost(Tiling& tiling, const Rows& rows, uint32_t per_block, uint32_t cost, uint32_t workspace)
{
    const uint32_t base = std::min(workspace / kFloat / cost, rows.m);
    Fill(tiling, rows, per_block, AlignToBasicBlocks(RoundDownToTile(base, rows.m, kTile), rows));
}
} // namespace

uint32_t GetSoftMaxMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return rows.m * PlainCost(rows, kBlockBytes / type_size) * kFloat;
}

uint32_t GetSoftMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return PlainCost(rows, kBlockBytes / type_size) * kFloat;
}

void SoftMaxTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                       optiling::SoftMaxTiling& tiling)
{
    const Rows rows = RowsOf(shape);
    if (rows.valid && IsHalfOrFloat(type_size)) {
        const uint32_t per_block = kBlockBytes / type_size;
        FillFromCost(tiling, rows, per_block, PlainCost(rows, per_block), workspace);
    }
}

void SoftMaxTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                       tiling::SoftMaxTiling& tiling)
{
    AsStruct<optiling::SoftMaxTiling>(
        tiling, [&](optiling::SoftMaxTiling& out) { SoftMaxTilingFunc(shape, type_size, workspace, out); });
}

uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape shape, const uint32_t type_size, const bool reuse_source)
{
    return GetSoftMaxMaxTmpSize(shape, type_size, reuse_source);
}

uint32_t GetLogSoftMaxMinTmpSize(const TensorShape shape, const uint32_t type_size, const bool reuse_source)
{
    return GetSoftMaxMinTmpSize(shape, type_size, reuse_source);
}

void LogSoftMaxTilingFunc(const TensorShape shape, const uint32_t type_size, const uint32_t workspace,
                          optiling::LogSoftMaxTiling& tiling)
{
    const Rows rows = RowsOf(shape);
    if (rows.valid && IsHalfOrFloat(type_size)) {
        const uint32_t per_block = kBlockBytes / type_size;
        FillFromCost(tiling, rows, per_block, PlainCost(rows, per_block), workspace);
    }
}

void LogSoftMaxTilingFunc(const TensorShape shape, const uint32_t type_size, const uint32_t workspace,
                          tiling::LogSoftMaxTiling& tiling)
{
    AsStruct<optiling::LogSoftMaxTiling>(
        tiling, [&](optiling::LogSoftMaxTiling& out) { LogSoftMaxTilingFunc(shape, type_size, workspace, out); });
}

uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool update, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return rows.m * FlashCost(rows, kBlockBytes / type_size, update) * kFloat;
}

uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool update, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return FlashCost(rows, kBlockBytes / type_size, update) * kFloat;
}

void SoftMaxFlashTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                            optiling::SoftMaxTiling& tiling, const bool update)
{
    const Rows rows = RowsOf(shape);
    if (rows.valid && IsHalfOrFloat(type_size)) {
        const uint32_t per_block = kBlockBytes / type_size;
        FillFromCost(tiling, rows, per_block, FlashCost(rows, per_block, update), workspace);
    }
}

void SoftMaxFlashTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                            tiling::SoftMaxTiling& tiling, const bool update)
{
    AsStruct<optiling::SoftMaxTiling>(tiling, [&](optiling::SoftMaxTiling& out) {
        SoftMaxFlashTilingFunc(shape, type_size, workspace, out, update);
    });
}

uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape& shape, const uint32_t type_size, const bool front, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return rows.m * GradCost(rows, kBlockBytes / type_size, type_size, front) * kFloat;
}

uint32_t GetSoftMaxGradMinTmpSize(const TensorShape& shape, const uint32_t type_size, const bool front, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size)) {
        return 0;
    }
    return GradCost(rows, kBlockBytes / type_size, type_size, front) * kFloat;
}

void SoftMaxGradTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                           optiling::SoftMaxTiling& tiling, const bool front)
{
    const Rows rows = RowsOf(shape);
    if (rows.valid && IsHalfOrFloat(type_size)) {
        const uint32_t per_block = kBlockBytes / type_size;
        FillFromCost(tiling, rows, per_block, GradCost(rows, per_block, type_size, front), workspace);
    }
}

void SoftMaxGradTilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t workspace,
                           tiling::SoftMaxTiling& tiling, const bool front)
{
    AsStruct<optiling::SoftMaxTiling>(tiling, [&](optiling::SoftMaxTiling& out) {
        SoftMaxGradTilingFunc(shape, type_size, workspace, out, front);
    });
}

uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                     const bool, const bool basic_block, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size) || !IsHalfOrFloat(sum_size)) {
        return 0;
    }
    const bool blocks = basic_block && rows.k % kUnit == 0 && rows.m % kTile == 0;
    uint32_t step = rows.m;
    while (blocks && step * rows.k >= kBasicBlockElements) {
        step /= 2;
    }
    return step * FlashV2Cost(rows, kBlockBytes / sum_size, type_size, blocks) * kFloat;
}

uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                     const bool, const bool basic_block, const bool broadcast_output)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size) || !IsHalfOrFloat(sum_size)) {
        return 0;
    }
    const bool blocks = basic_block && rows.k % kUnit == 0;
    uint32_t step = blocks ? kTile : 1;
    if (broadcast_output) {
        step = std::min(kBlockBytes / type_size, rows.m);
    }
    return step * FlashV2Cost(rows, kBlockBytes / sum_size, type_size, blocks) * kFloat;
}

void SoftMaxFlashV2TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, optiling::SoftMaxTiling& tiling, const bool,
                              const bool basic_block, const bool broadcast_output)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || !IsHalfOrFloat(type_size) || !IsHalfOrFloat(sum_size)) {
        return;
    }
    const uint32_t per_block = kBlockBytes / sum_size;
    const bool blocks = basic_block && rows.k % kUnit == 0 && rows.m % kTile == 0;
    uint32_t base = workspace / kFloat / FlashV2Cost(rows, per_block, type_size, blocks);
    base = std::min(base, rows.m);
    if (blocks) {
        base = AlignToBasicBlocks(base, rows);
    }
    const uint32_t tile = broadcast_output && type_size == 2 ? kBlockBytes / 2 : kTile;
    Fill(tiling, rows, per_block, RoundDownToTile(base, rows.m, tile));
}

void SoftMaxFlashV2TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, tiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block, const bool broadcast_output)
{
    AsStruct<optiling::SoftMaxTiling>(tiling, [&](optiling::SoftMaxTiling& out) {
        SoftMaxFlashV2TilingFunc(shape, type_size, sum_size, workspace, out, update, basic_block, broadcast_output);
    });
}

void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                                    uint32_t& max_bytes, uint32_t& min_bytes, const bool, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || type_size != 2 || sum_size == 0) {
        return;
    }
    min_bytes = FlashV3Cost(rows, kBlockBytes / sum_size) * kFloat;
    max_bytes = rows.m * min_bytes;
}

void SoftMaxFlashV3TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, optiling::SoftMaxTiling& tiling, const bool, const bool)
{
    const Rows rows = RowsOf(shape);
    if (!rows.valid || type_size != 2 || sum_size == 0) {
        return;
    }
    const uint32_t per_block = kBlockBytes / sum_size;
    const uint32_t base = std::min(workspace / kFloat / FlashV3Cost(rows, per_block), rows.m);
    Fill(tiling, rows, per_block, RoundDownToTile(base, rows.m, kTile));
}

void SoftMaxFlashV3TilingFunc(const TensorShape& shape, const uint32_t type_size, const uint32_t sum_size,
                              const uint32_t workspace, tiling::SoftMaxTiling& tiling, const bool update,
                              const bool basic_block)
{
    AsStruct<optiling::SoftMaxTiling>(tiling, [&](optiling::SoftMaxTiling& out) {
        SoftMaxFlashV3TilingFunc(shape, type_size, sum_size, workspace, out, update, basic_block);
    });
}

namespace {
bool IsBasicBlock(uint32_t tail, uint32_t k, uint32_t type_size)
{
    return type_size != 0 && tail == 0 && k >= 256 / type_size && k < 2048 && k % kUnit == 0;
}
} // namespace

bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, const uint32_t type_size)
{
    return IsBasicBlock(tiling.get_tailM(), tiling.get_srcK(), type_size);
}

bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling& tiling, const uint32_t type_size)
{
    return IsBasicBlock(tiling.tailM, tiling.srcK, type_size);
}
} // namespace AscendC
