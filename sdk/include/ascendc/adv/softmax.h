// Softmax over the last axis: whole, simple, in the two flash forms, logarithmic.
#ifndef ASCENDC_ADV_SOFTMAX_H
#define ASCENDC_ADV_SOFTMAX_H

#include "ascendc/adv/rows.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

enum class SoftmaxMode {
    SOFTMAX_NORMAL = 0,              // a value per row fills a block of 32 bytes
    SOFTMAX_OUTPUT_WITHOUT_BRC = 1,  // a value per row stands alone
};

struct SoftmaxConfig {
    constexpr SoftmaxConfig(
        const bool checkTiling, const uint32_t m = 0, const uint32_t k = 0,
        const SoftmaxMode outputs = SoftmaxMode::SOFTMAX_NORMAL)
        : isCheckTiling(checkTiling), oriSrcM(m), oriSrcK(k), mode(outputs)
    {}
    bool isCheckTiling;
    uint32_t oriSrcM;
    uint32_t oriSrcK;
    SoftmaxMode mode;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

/// Rows and columns, and how many of them are data rather than padding.
struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

/// Rows and columns of a reduction of rows, as the library's own headers hand them on; kernels name the type and no more.
struct ReduceLastND {
    uint32_t originalSrcM;
    uint32_t originalSrcK;
    uint32_t srcM;
    uint32_t srcK;
    uint32_t dstM;
    uint32_t dstK;
};

namespace detail {
namespace softmax {

using lanes::Floats;
using rows::Shape;

#define ASCENDC_SOFTMAX_CHECK(Name)                                                                             \
    ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                  \
    static_assert(!isDataFormatNZ, #Name ": rows in the NZ format are not available in this SDK")
#define ASCENDC_SOFTMAX_CHECK_MODE(Name)                                                                        \
    static_assert(config.mode == SoftmaxMode::SOFTMAX_NORMAL,                                                   \
                  #Name ": SOFTMAX_OUTPUT_WITHOUT_BRC is not available in this SDK")

/// The caller's shape, else the tensor's, else the tiling's; constants of the configuration come first.
template <typename T>
ASC_API Shape ShapeOf(
    const LocalTensor<T>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info,
    const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG)
{
    Shape shape = {info.srcM, info.srcK, info.oriSrcK};
    if (info.srcM == 0 || info.srcK == 0) {
        const ShapeInfo known = src.GetShapeInfo();
        if (known.shapeDim > 0) {
            shape = {1, known.shape[known.shapeDim - 1], 0};
            for (uint8_t axis = 0; axis + 1 < known.shapeDim; ++axis) {
                shape.count *= known.shape[axis];
            }
            shape.columns = known.originalShapeDim > 0 ? known.originalShape[known.originalShapeDim - 1] : 0;
        } else {
            shape = {tiling.srcM, tiling.srcK, tiling.srcK};
        }
    }
    if (config.oriSrcK != 0) {
        shape.columns = config.oriSrcK;
    }
    if (shape.columns == 0 || shape.columns > shape.stride) {
        shape.columns = shape.stride;
    }
    return shape;
}

/// How many rows the temporary buffer takes at `perRow` floats each: those of the tiling, unless they are too many.
template <typename T>
ASC_API uint32_t RowsAtOnce(
    const char* api, const LocalTensor<float>& work, const Shape& shape, const SoftMaxTiling& tiling, uint32_t perRow)
{
    const uint64_t bytes = uint64_t(shape.stride) * sizeof(T);
    const uint32_t floats = work.GetSize();
    FaultText text;
    if (bytes == 0 || bytes % ONE_BLK_SIZE != 0) {
        text << api << ": rows take " << bytes << " bytes, which are not whole blocks of 32";
        ascendsim::Fault("misaligned", text.Text());
        return 0;
    }
    if (floats < perRow) {
        text << api << ": a temporary buffer of " << uint64_t(floats) * sizeof(float)
             << " bytes is too small; a row takes " << uint64_t(perRow) * sizeof(float);
        ascendsim::Fault("bad_argument", text.Text());
        return 0;
    }
    uint32_t fitting = floats / perRow;
    fitting = fitting > rows::BLOCK ? fitting / rows::BLOCK * rows::BLOCK : fitting;
    const uint32_t wanted = tiling.splitM == 0 || tiling.srcK != shape.stride ? shape.count : tiling.splitM;
    return rows::AtMost(fitting, wanted);
}

/// Floats per row beside the blocks: a wide copy of what is not float, and what a reduction needs.
template <typename T>
constexpr uint32_t WideFloats(uint32_t stride)
{
    return sizeof(T) == sizeof(float) ? 0 : stride;
}

/// The parts of the temporary buffer for `count` rows. Between reductions their scratch memory holds the values per row
/// that came out of them, and what conversions of such values need.
struct Parts {
    Floats wide;     // rows of narrower dtypes
    Floats reduce;   // scratch of reductions
    Floats blocks;   // in it: the result of the last reduction
    Floats convert;  // in it: for StoreBlocks and LoadBlocks
    Floats known;    // in it: values that came in
    Floats beyond;   // behind all of them
};
ASC_API Parts CutParts(Floats work, uint32_t wideFloats, uint32_t count)
{
    const Floats reduce = work + wideFloats * count;
    const Floats blocks = reduce + rows::WholeEights(count);
    constexpr uint32_t block = rows::BLOCK;
    return {work, reduce, blocks, blocks + block * count, blocks + 3 * block * count, blocks + rows::LANES * count};
}

/// Rows of d = exp(x - max).
ASC_API void ExpOfDifference(Floats d, Floats x, Floats maxima, const Shape& shape)
{
    rows::SubBlocks(d, x, maxima, {shape.count, shape.stride, shape.stride});
    rows::ExpRows(d, d, shape.count * shape.stride);
}

/// What becomes of exp(x - max) / sum.
enum class Result { kQuotient, kLogarithm };

/// Softmax of all rows. Without sum and max tensors (null) they are not stored.
template <Result result, typename T, typename U>
ASC_API void Whole(
    const char* api, lanes::Run<T> dst, lanes::Run<U> sum, lanes::Run<U> max, lanes::Run<T> src,
    const LocalTensor<float>& work, const SoftMaxTiling& tiling, const Shape& all)
{
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(U);
    const uint32_t perRow = WideFloats<T>(all.stride) + rows::REDUCE_FLOATS;
    const uint32_t step = RowsAtOnce<T>(api, work, all, tiling, perRow);
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.columns};
        const Shape padded = {shape.count, shape.stride, shape.stride};
        const uint32_t elements = shape.count * shape.stride;
        const Parts parts = CutParts(Ub(work), WideFloats<T>(all.stride), shape.count);
        const Floats x = rows::LoadRows(src + row * all.stride, parts.wide, elements);
        const Floats d = rows::ResultRows(dst + row * all.stride, parts.wide);
        rows::Reduce<rows::MaxOf>(parts.blocks, x, parts.reduce, shape);
        if (max != nullptr) {
            rows::StoreBlocks(max + row * perBlock, parts.blocks, parts.convert, shape.count);
        }
        ExpOfDifference(d, x, parts.blocks, shape);
        rows::Reduce<rows::SumOf>(parts.blocks, d, parts.reduce, shape);
        if (sum != nullptr) {
            rows::StoreBlocks(sum + row * perBlock, parts.blocks, parts.convert, shape.count);
        }
        rows::DivBlocks(d, d, parts.blocks, padded);
        if constexpr (result == Result::kLogarithm) {
            rows::Count(elements);
            lanes::Ln(d, d);
            lanes::Muls(d, d, 0.434294492f);
            rows::Normal();
        }
        rows::StoreRows(dst + row * all.stride, d, elements);
    }
}

/// exp(x - max) / sum with maxima and sums that are known.
template <typename T, typename U>
ASC_API void Simple(
    lanes::Run<T> dst, lanes::Run<U> sum, lanes::Run<U> max, lanes::Run<T> src, const LocalTensor<float>& work,
    const SoftMaxTiling& tiling, const Shape& all)
{
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(U);
    // Halves of blocks are widened by way of sixteen floats.
    const uint32_t perRow = WideFloats<T>(all.stride) + (sizeof(U) == sizeof(float) ? 1 : 3 * rows::BLOCK);
    const uint32_t step = RowsAtOnce<T>("SimpleSoftMax", work, all, tiling, perRow);
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.stride};
        const uint32_t elements = shape.count * shape.stride;
        const Floats wide = Ub(work);
        const Floats blocks = wide + WideFloats<T>(all.stride) * shape.count;
        const Floats scratch = blocks + rows::BLOCK * shape.count;
        const Floats x = rows::LoadRows(src + row * all.stride, wide, elements);
        const Floats d = rows::ResultRows(dst + row * all.stride, wide);
        ExpOfDifference(d, x, rows::LoadBlocks(max + row * perBlock, blocks, scratch, shape.count), shape);
        rows::DivBlocks(d, d, rows::LoadBlocks(sum + row * perBlock, blocks, scratch, shape.count), shape);
        rows::StoreRows(dst + row * all.stride, d, elements);
    }
}

/// The tensors of a flash softmax; rows of T, values per row of U (exp of the maxima's difference: of T).
template <typename T, typename U>
struct FlashOperands {
    lanes::Run<T> dst;
    lanes::Run<U> sum;
    lanes::Run<U> max;
    lanes::Run<T> src;
    lanes::Run<T> expMax;
    lanes::Run<U> inSum;
    lanes::Run<U> inMax;
};

/// Continues a softmax over columns that were seen before, whose maxima and sums come in.
///
/// max = max(inMax, x); e = exp(inMax - max); sum = e * inSum + sum of exp(x - max). The second form leaves the rows as
/// exp(x - max) and gives e; the first divides the rows by the sum and gives e * inSum / sum.
template <bool divided, typename T, typename U>
ASC_API void Continue(
    const char* api, const FlashOperands<T, U>& tensors, const LocalTensor<float>& work, const SoftMaxTiling& tiling,
    const Shape& all)
{
    constexpr uint32_t perValue = ONE_BLK_SIZE / sizeof(U);
    constexpr uint32_t perExp = ONE_BLK_SIZE / sizeof(T);
    const uint32_t perRow = WideFloats<T>(all.stride) + rows::REDUCE_FLOATS + (sizeof(T) == sizeof(float) ? 0 : rows::BLOCK);
    const uint32_t step = RowsAtOnce<T>(api, work, all, tiling, perRow);
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const uint32_t values = shape.count * rows::BLOCK;
        const Parts parts = CutParts(Ub(work), WideFloats<T>(all.stride), shape.count);
        // Has to outlast a reduction: a float tensor can hold it itself.
        const Floats grown = rows::ResultRows(tensors.expMax + row * perExp, parts.beyond);
        const Floats x = rows::LoadRows(tensors.src + row * all.stride, parts.wide, elements);
        const Floats d = rows::ResultRows(tensors.dst + row * all.stride, parts.wide);
        rows::Reduce<rows::MaxOf>(parts.blocks, x, parts.reduce, shape);
        const Floats inMax = rows::LoadBlocks(tensors.inMax + row * perValue, parts.known, parts.convert, shape.count);
        rows::Count(values);
        lanes::Max(parts.blocks, parts.blocks, inMax);
        lanes::Sub(grown, inMax, parts.blocks);
        lanes::Exp(grown, grown);
        rows::Normal();
        rows::StoreBlocks(tensors.max + row * perValue, parts.blocks, parts.convert, shape.count);
        if constexpr (!divided) {
            rows::StoreBlocks(tensors.expMax + row * perExp, grown, parts.convert, shape.count);
        }
        ExpOfDifference(d, x, parts.blocks, shape);
        rows::Reduce<rows::SumOf>(parts.blocks, d, parts.reduce, shape);
        const Floats inSum = rows::LoadBlocks(tensors.inSum + row * perValue, parts.known, parts.convert, shape.count);
        rows::Count(values);
        lanes::Mul(parts.known, grown, inSum);
        lanes::Add(parts.blocks, parts.blocks, parts.known);
        if constexpr (divided) {
            lanes::Div(grown, parts.known, parts.blocks);
        }
        rows::Normal();
        rows::StoreBlocks(tensors.sum + row * perValue, parts.blocks, parts.convert, shape.count);
        if constexpr (divided) {
            rows::StoreBlocks(tensors.expMax + row * perExp, grown, parts.convert, shape.count);
            rows::DivBlocks(d, d, parts.blocks, {shape.count, shape.stride, shape.stride});
        }
        rows::StoreRows(tensors.dst + row * all.stride, d, elements);
    }
}

/// The first columns of a flash softmax of the second form: exp(x - max), not divided.
template <typename T, typename U>
ASC_API void Begin(
    const FlashOperands<T, U>& tensors, const LocalTensor<float>& work, const SoftMaxTiling& tiling, const Shape& all)
{
    constexpr uint32_t perValue = ONE_BLK_SIZE / sizeof(U);
    const uint32_t perRow = WideFloats<T>(all.stride) + rows::REDUCE_FLOATS;
    const uint32_t step = RowsAtOnce<T>("SoftmaxFlashV2", work, all, tiling, perRow);
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const Parts parts = CutParts(Ub(work), WideFloats<T>(all.stride), shape.count);
        const Floats x = rows::LoadRows(tensors.src + row * all.stride, parts.wide, elements);
        const Floats d = rows::ResultRows(tensors.dst + row * all.stride, parts.wide);
        rows::Reduce<rows::MaxOf>(parts.blocks, x, parts.reduce, shape);
        rows::StoreBlocks(tensors.max + row * perValue, parts.blocks, parts.convert, shape.count);
        ExpOfDifference(d, x, parts.blocks, shape);
        rows::Reduce<rows::SumOf>(parts.blocks, d, parts.reduce, shape);
        rows::StoreBlocks(tensors.sum + row * perValue, parts.blocks, parts.convert, shape.count);
        rows::StoreRows(tensors.dst + row * all.stride, d, elements);
    }
}

/// The flash softmax of the second form with values per row that stand alone. `reduced` (or null) gets the maxima of these
/// columns alone.
template <bool update>
ASC_API void Compact(
    const FlashOperands<float, float>& tensors, Floats reduced, const LocalTensor<float>& work,
    const SoftMaxTiling& tiling, const Shape& all)
{
    const uint32_t step = RowsAtOnce<float>("SoftmaxFlashV2", work, all, tiling, rows::REDUCE_FLOATS);
    if (step < all.count && step % rows::BLOCK != 0) {
        ascendsim::Fault(
            "bad_argument", Describe("SoftmaxFlashV2: values per row that stand alone need eight rows at a time, the "
                                     "temporary buffer and the tiling give ", step).Text());
        return;
    }
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.columns};
        const Parts parts = CutParts(Ub(work), 0, shape.count);
        const Floats values = parts.reduce;
        const Floats x = tensors.src + row * all.stride;
        const Floats d = tensors.dst + row * all.stride;
        rows::ReduceToValues<rows::MaxOf>(values, x, parts.blocks, shape);
        rows::Count(shape.count);
        if constexpr (update) {
            if (reduced != nullptr) {
                lanes::Muls(reduced + row, values, 1.0f);
            }
            const Floats grown = tensors.expMax + row;
            lanes::Max(values, values, tensors.inMax + row);
            lanes::Sub(grown, tensors.inMax + row, values);
            lanes::Exp(grown, grown);
        }
        lanes::Muls(tensors.max + row, values, 1.0f);
        rows::Normal();
        rows::SpreadValues(parts.blocks, values, parts.blocks, shape.count);
        ExpOfDifference(d, x, parts.blocks, shape);
        rows::ReduceToValues<rows::SumOf>(values, d, parts.blocks, shape);
        rows::Count(shape.count);
        if constexpr (update) {
            lanes::Mul(parts.blocks, tensors.expMax + row, tensors.inSum + row);
            lanes::Add(values, values, parts.blocks);
        }
        lanes::Muls(tensors.sum + row, values, 1.0f);
        rows::Normal();
    }
}

ASC_API LocalTensor<float> Work(const LocalTensor<uint8_t>& temporary) { return temporary.ReinterpretCast<float>(); }
ASC_API LocalTensor<float> Work() { return lanes::Stack().ReinterpretCast<float>(); }

}  // namespace softmax
}  // namespace detail

#define ASCENDC_TEMPORARY const LocalTensor<uint8_t>& sharedTmpBuffer,
#define ASCENDC_NO_TEMPORARY

// SoftMax and SimpleSoftMax: `U` is the dtype of the sums and maxima.
#define ASCENDC_SOFTMAX(RowType, U, Temporary, WORK)                                                               \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,     \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    ASC_API void SoftMax(                                                                                          \
        const LocalTensor<RowType>& dstTensor, const LocalTensor<U>& sumTensor, const LocalTensor<U>& maxTensor,   \
        const LocalTensor<RowType>& srcTensor, Temporary const SoftMaxTiling& tiling,                              \
        const SoftMaxShapeInfo& softmaxShapeInfo = {})                                                             \
    {                                                                                                              \
        ASCENDC_SOFTMAX_CHECK(SoftMax);                                                                            \
        ASCENDC_SOFTMAX_CHECK_MODE(SoftMax);                                                                       \
        detail::softmax::Whole<detail::softmax::Result::kQuotient>(                                                \
            "SoftMax", detail::Ub(dstTensor), detail::Ub(sumTensor), detail::Ub(maxTensor),                        \
            detail::Ub(srcTensor), WORK, tiling,                                                                   \
            detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo, config));                                \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,     \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    ASC_API void SimpleSoftMax(                                                                                    \
        const LocalTensor<RowType>& dstTensor, const LocalTensor<U>& inSumTensor,                                  \
        const LocalTensor<U>& inMaxTensor, const LocalTensor<RowType>& srcTensor, Temporary                        \
        const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {})                                \
    {                                                                                                              \
        ASCENDC_SOFTMAX_CHECK(SimpleSoftMax);                                                                      \
        ASCENDC_SOFTMAX_CHECK_MODE(SimpleSoftMax);                                                                 \
        detail::softmax::Simple(                                                                                   \
            detail::Ub(dstTensor), detail::Ub(inSumTensor), detail::Ub(inMaxTensor), detail::Ub(srcTensor), WORK,  \
            tiling, detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo, config));                        \
    }
ASCENDC_SOFTMAX(T, T, ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_SOFTMAX(T, T, ASCENDC_NO_TEMPORARY, detail::softmax::Work())
ASCENDC_SOFTMAX(half, float, ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_SOFTMAX(half, float, ASCENDC_NO_TEMPORARY, detail::softmax::Work())
#undef ASCENDC_SOFTMAX

// Without sums and maxima.
#define ASCENDC_SOFTMAX(Temporary, WORK)                                                                           \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false,                                   \
              const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                                   \
    ASC_API void SoftMax(                                                                                          \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, Temporary const SoftMaxTiling& tiling,   \
        const SoftMaxShapeInfo& softmaxShapeInfo = {})                                                             \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(SoftMax, T, half, float);                                                              \
        const detail::lanes::Run<T> none = nullptr;                                                                \
        detail::softmax::Whole<detail::softmax::Result::kQuotient>(                                                \
            "SoftMax", detail::Ub(dstTensor), none, none, detail::Ub(srcTensor), WORK, tiling,                     \
            detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo, config));                                \
    }
ASCENDC_SOFTMAX(ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_SOFTMAX(ASCENDC_NO_TEMPORARY, detail::softmax::Work())
#undef ASCENDC_SOFTMAX

// Softmax over columns that come in parts.
#define ASCENDC_FLASH(RowType, U, Temporary, WORK)                                                                 \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,            \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                      \
    ASC_API void SoftmaxFlashV2(                                                                                   \
        const LocalTensor<RowType>& dstTensor, const LocalTensor<U>& expSumTensor,                                 \
        const LocalTensor<U>& maxTensor, const LocalTensor<RowType>& srcTensor,                                    \
        const LocalTensor<RowType>& expMaxTensor, const LocalTensor<U>& inExpSumTensor,                            \
        const LocalTensor<U>& inMaxTensor, Temporary const SoftMaxTiling& tiling,                                  \
        const SoftMaxShapeInfo& softmaxShapeInfo = {})                                                             \
    {                                                                                                              \
        ASCENDC_SOFTMAX_CHECK(SoftmaxFlashV2);                                                                     \
        const detail::softmax::FlashOperands<RowType, U> tensors = {                                               \
            detail::Ub(dstTensor), detail::Ub(expSumTensor), detail::Ub(maxTensor), detail::Ub(srcTensor),         \
            detail::Ub(expMaxTensor), detail::Ub(inExpSumTensor), detail::Ub(inMaxTensor)};                        \
        const detail::rows::Shape shape = detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo, config);   \
        if constexpr (config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC) {                                    \
            static_assert(std::is_same<RowType, float>::value || sizeof(T) == 0,                                   \
                          "SoftmaxFlashV2: SOFTMAX_OUTPUT_WITHOUT_BRC takes rows of float only in this SDK");      \
            if constexpr (std::is_same<RowType, float>::value) {                                                   \
                detail::softmax::Compact<isUpdate>(tensors, nullptr, WORK, tiling, shape);                         \
            }                                                                                                      \
        } else if constexpr (isUpdate) {                                                                           \
            detail::softmax::Continue<false>("SoftmaxFlashV2", tensors, WORK, tiling, shape);                      \
        } else {                                                                                                   \
            detail::softmax::Begin(tensors, WORK, tiling, shape);                                                  \
        }                                                                                                          \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                   \
    ASC_API void SoftmaxFlash(                                                                                     \
        const LocalTensor<RowType>& dstTensor, const LocalTensor<U>& sumTensor, const LocalTensor<U>& maxTensor,   \
        const LocalTensor<RowType>& srcTensor, const LocalTensor<RowType>& expMaxTensor,                           \
        const LocalTensor<U>& inSumTensor, const LocalTensor<U>& inMaxTensor, Temporary                            \
        const SoftMaxTiling& tiling, bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {})         \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(SoftmaxFlash, T, half, float);                                                         \
        const detail::softmax::FlashOperands<RowType, U> tensors = {                                               \
            detail::Ub(dstTensor), detail::Ub(sumTensor), detail::Ub(maxTensor), detail::Ub(srcTensor),            \
            detail::Ub(expMaxTensor), detail::Ub(inSumTensor), detail::Ub(inMaxTensor)};                           \
        const detail::rows::Shape shape = detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo);           \
        if (isUpdate) {                                                                                            \
            detail::softmax::Continue<true>("SoftmaxFlash", tensors, WORK, tiling, shape);                         \
        } else {                                                                                                   \
            detail::softmax::Whole<detail::softmax::Result::kQuotient>(                                            \
                "SoftmaxFlash", tensors.dst, tensors.sum, tensors.max, tensors.src, WORK, tiling, shape);          \
        }                                                                                                          \
    }
ASCENDC_FLASH(T, T, ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_FLASH(T, T, ASCENDC_NO_TEMPORARY, detail::softmax::Work())
ASCENDC_FLASH(half, float, ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_FLASH(half, float, ASCENDC_NO_TEMPORARY, detail::softmax::Work())
#undef ASCENDC_FLASH

// With the maxima of the columns at hand besides; for values per row that stand alone, and to be called for an update.
#define ASCENDC_FLASH(Temporary, WORK)                                                                             \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,            \
              bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                      \
    ASC_API void SoftmaxFlashV2(                                                                                   \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax, const LocalTensor<T>& outExpSum,      \
        const LocalTensor<T>& outMax, const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,            \
        const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax, Temporary const SoftMaxTiling& tiling,        \
        const SoftMaxShapeInfo& softmaxShapeInfo = {})                                                             \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(SoftmaxFlashV2, T, float);                                                             \
        static_assert(config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC,                                      \
                      "SoftmaxFlashV2: outReduceMax goes with SOFTMAX_OUTPUT_WITHOUT_BRC");                        \
        const detail::softmax::FlashOperands<T, T> tensors = {                                                     \
            detail::Ub(dstTensor), detail::Ub(outExpSum), detail::Ub(outMax), detail::Ub(srcTensor),               \
            detail::Ub(outExpMax), detail::Ub(inExpSum), detail::Ub(inMax)};                                       \
        detail::softmax::Compact<isUpdate>(                                                                        \
            tensors, detail::Ub(outReduceMax), WORK, tiling,                                                       \
            detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo, config));                                \
    }
ASCENDC_FLASH(ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_FLASH(ASCENDC_NO_TEMPORARY, detail::softmax::Work())
#undef ASCENDC_FLASH
#undef ASCENDC_NO_TEMPORARY
#undef ASCENDC_TEMPORARY

}  // namespace AscendC

#endif
