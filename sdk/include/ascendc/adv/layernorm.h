// Normalisation of rows: LayerNorm in both forms, Normalize, RmsNorm, DeepNorm, Welford's update.
#ifndef ASCENDC_ADV_LAYERNORM_H
#define ASCENDC_ADV_LAYERNORM_H

#include "ascendc/adv/rows.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM = {false, false, false, true};
/// Rows, elements of a row that count, elements from row to row.
struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

struct WelfordUpdateConfig {
    constexpr WelfordUpdateConfig(const bool inPlace) : isInplace(inPlace) {}
    bool isInplace;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};

namespace detail {
namespace norm {

using lanes::Floats;
using lanes::Run;
using rows::Shape;

/// values[r] = the first element of block r; needs no alignment.
ASC_API void Compact(Floats values, Floats blocks, uint32_t count)
{
    rows::ReduceNarrow<rows::SumOf>(values, blocks, {count, rows::BLOCK, 1});
    set_vector_mask(FULL_MASK, FULL_MASK);
}

#define ASCENDC_NORM_WITH_ROW(Name, instr)                                                                         \
    /** d = x op row for every row. */                                                                             \
    ASC_API void Name(Floats d, Floats x, Floats row, const Shape& shape)                                          \
    {                                                                                                              \
        rows::Count(shape.columns);                                                                                \
        for (uint32_t r = 0; r < shape.count; ++r) {                                                               \
            instr(d + r * shape.stride, x + r * shape.stride, row, 1, BLK, BLK, BLK, REP, REP, REP);               \
        }                                                                                                          \
        pipe_barrier(PIPE_V);                                                                                      \
        rows::Normal();                                                                                            \
    }
ASCENDC_NORM_WITH_ROW(MulByRow, vmul)
ASCENDC_NORM_WITH_ROW(AddRow, vadd)
#undef ASCENDC_NORM_WITH_ROW

/// What a normalisation takes and gives; null where there is none.
template <typename T, typename U>
struct Operands {
    Run<T> dst;
    Run<T> src;
    Run<U> gamma;
    Run<U> beta;
};

/// The temporary buffer: parameters in float, then for the rows at once what `perRow` floats each are for.
struct Layout {
    Floats gamma;
    Floats beta;
    Floats means;      // one value per row, of all rows
    Floats variances;
    Floats rowsAt;
    uint32_t step;     // rows at once; 0 where there is no room
};

/// `wideParameters` and `wideValues`: whether parameters and values per row have to be kept in float here.
ASC_API Layout LayOut(
    const char* api, const LocalTensor<uint8_t>& temporary, const Shape& all, bool wideParameters, bool wideValues,
    uint32_t perRow)
{
    const uint32_t floats = temporary.GetSize() / static_cast<uint32_t>(sizeof(float));
    const uint32_t parameters = wideParameters ? all.stride : 0;
    const uint32_t values = wideValues ? rows::WholeEights(all.count) : 0;
    const uint32_t aside = 2 * (parameters + values);
    const Floats base = UbAs<float>(temporary);
    uint32_t step = floats < aside ? 0 : (floats - aside) / perRow;
    step = step > rows::BLOCK ? step / rows::BLOCK * rows::BLOCK : step;
    if (step == 0) {
        FaultText text;
        text << api << ": a temporary buffer of " << temporary.GetSize() << " bytes is too small; it takes at least "
             << uint64_t(aside + perRow) * sizeof(float);
        ascendsim::Fault("bad_argument", text.Text());
    }
    return {base, base + parameters, base + 2 * parameters, base + 2 * parameters + values, base + aside,
            rows::AtMost(step, all.count)};
}

/// A parameter row as floats: where it is, or converted.
ASC_API Floats ParameterRow(Run<float> from, Floats, uint32_t) { return from; }
template <typename U>
ASC_API Floats ParameterRow(Run<U> from, Floats wide, uint32_t count)
{
    return from == nullptr ? nullptr : rows::LoadRows(from, wide, count);
}

/// d = d / sqrt(variance + epsilon) * gamma + beta; blocks hold the variances, and converted parameters afterwards.
template <typename U>
ASC_API void Scale(Floats d, Floats blocks, Run<U> gamma, Run<U> beta, float epsilon, const Shape& shape)
{
    rows::Count(shape.count * rows::BLOCK);
    lanes::Adds(blocks, blocks, epsilon);
    lanes::Sqrt(blocks, blocks);
    rows::Normal();
    rows::DivBlocks(d, d, blocks, shape);
    if (gamma != nullptr) {
        MulByRow(d, d, ParameterRow(gamma, blocks, shape.columns), shape);
    }
    if (beta != nullptr) {
        AddRow(d, d, ParameterRow(beta, blocks, shape.columns), shape);
    }
}

/// Means and variances of all rows, in float, and the normalised rows. `prepare` may change the rows on their way in.
template <typename T, typename U, typename Prepare>
ASC_API void Normalise(
    const char* api, const Operands<T, U>& tensors, Floats means, Floats variances, float epsilon, const Shape& all,
    const LocalTensor<uint8_t>& temporary, bool wideValues, Prepare prepare, Layout& layout)
{
    // Rows and their squares, and a value per row. The memory of the squares serves reductions, and holds their blocks.
    constexpr bool wide = sizeof(T) < sizeof(float);
    const uint32_t perRow = (wide ? 2 : 1) * all.stride + rows::BLOCK;
    layout = LayOut(api, temporary, all, false, wideValues, perRow);
    const Floats keptMeans = wideValues ? layout.means : means;
    const Floats keptVariances = wideValues ? layout.variances : variances;
    const float part = 1.0f / static_cast<float>(all.columns);
    for (uint32_t row = 0; layout.step != 0 && row < all.count; row += layout.step) {
        const Shape shape = {rows::AtMost(all.count - row, layout.step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const Floats squares = layout.rowsAt;
        const Floats wideRows = squares + elements;
        const Floats values = wideRows + (wide ? elements : 0);
        const Floats blocks = squares;
        const uint32_t at = row * all.stride;
        const Floats x = prepare(rows::LoadRows(tensors.src + at, wideRows, elements), squares, at, elements);
        const Floats d = rows::ResultRows(tensors.dst + at, wideRows);
        const auto average = [&](Floats kept) __attribute__((always_inline)) {
            rows::SpreadWithin(blocks, values, shape.count, elements);
            rows::Count(shape.count * rows::BLOCK);
            lanes::Muls(blocks, blocks, part);
            rows::Normal();
            if (kept != nullptr) {
                Compact(kept + row, blocks, shape.count);
            }
        };
        rows::ReduceToValues<rows::SumOf>(values, x, squares, shape);
        average(keptMeans);
        rows::SubBlocks(d, x, blocks, shape);
        if (shape.columns != shape.stride) {
            // Squares of padding are never looked at, but must have been written.
            rows::Count(elements);
            lanes::Fill(squares, 0.0f);
            rows::Normal();
        }
        rows::Count(shape.columns);
        for (uint32_t r = 0; r < shape.count; ++r) {
            lanes::Mul(squares + r * shape.stride, d + r * shape.stride, d + r * shape.stride);
        }
        rows::Normal();
        rows::ReduceSpending<rows::SumOf>(values, squares, shape);
        average(keptVariances);
        Scale(d, blocks, tensors.gamma, tensors.beta, epsilon, shape);
        rows::StoreRows(tensors.dst + at, d, elements);
    }
}

/// Blocks of the values of `count` rows from `row` on, wherever those lie: eight at a time if they are aligned, else the
/// scalar unit reads them one by one.
ASC_API void SpreadFrom(Floats blocks, Floats values, uint32_t row, uint32_t count, Floats folded)
{
    if (row % rows::BLOCK == 0) {
        rows::SpreadValues(blocks, values + row, folded, count);
        return;
    }
    Order(HardEvent::V_S);
    rows::Mask(rows::BLOCK);
    for (uint32_t i = 0; i < count; ++i) {
        vector_dup(blocks + i * rows::BLOCK, ReadScalar(values + row + i), 1, BLK, 1, REP, 0);
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(FULL_MASK, FULL_MASK);
}

struct Unchanged {
    ASC_API Floats operator()(Floats x, Floats, uint32_t, uint32_t) const { return x; }
};

template <typename T>
ASC_API bool WholeBlocks(const char* api, uint32_t stride)
{
    const uint64_t bytes = uint64_t(stride) * sizeof(T);
    if (bytes == 0 || bytes % ONE_BLK_SIZE != 0) {
        FaultText text;
        text << api << ": rows take " << bytes << " bytes, which are not whole blocks of 32";
        ascendsim::Fault("misaligned", text.Text());
        return false;
    }
    return true;
}

/// values = 1 / sqrt(values + epsilon)
ASC_API void Reciprocals(Floats values, float epsilon, Floats ones, uint32_t count)
{
    rows::Count(count);
    lanes::Adds(values, values, epsilon);
    lanes::Sqrt(values, values);
    lanes::Fill(ones, 1.0f);
    lanes::Div(values, ones, values);
    rows::Normal();
}

}  // namespace norm
}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis of [B, S, H]; a mean and a variance per row.
template <typename T, bool isReuseSource = false>
ASC_API void LayerNorm(
    const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
    const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, LayerNormTiling& tiling)
{
    ASCENDC_CHECK_DTYPE(LayerNorm, T, half, float);
    namespace norm = detail::norm;
    constexpr bool wide = sizeof(T) < sizeof(float);
    const detail::rows::Shape all = {
        tiling.bLength * tiling.sLength, tiling.hLength,
        tiling.originalHLength == 0 ? tiling.hLength : tiling.originalHLength};
    if (!norm::WholeBlocks<T>("LayerNorm", all.stride)) {
        return;
    }
    const norm::Operands<T, T> tensors = {
        detail::Ub(output), detail::Ub(inputX), detail::Ub(gamma), detail::Ub(beta)};
    norm::Layout layout;
    norm::Normalise(
        "LayerNorm", tensors, detail::UbAs<float>(outputMean), detail::UbAs<float>(outputVariance),
        static_cast<float>(epsilon), all, sharedTmpBuffer, wide, norm::Unchanged(), layout);
    if constexpr (wide) {
        detail::rows::StoreRows(detail::Ub(outputMean), layout.means, all.count);
        detail::rows::StoreRows(detail::Ub(outputVariance), layout.variances, all.count);
    }
}
template <typename T, bool isReuseSource = false>
ASC_API void LayerNorm(
    const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
    const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
    LayerNormTiling& tiling)
{
    LayerNorm<T, isReuseSource>(
        output, outputMean, outputVariance, inputX, gamma, beta, detail::lanes::Stack(), epsilon, tiling);
}

/// The same over [A, R] with means in float and, unless the configuration asks for variances, 1 / sqrt(variance + epsilon).
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
ASC_API void LayerNorm(
    const LocalTensor<T>& output, const LocalTensor<float>& outputMean, const LocalTensor<float>& outputRstd,
    const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormPara& para, const LayerNormSeparateTiling& tiling)
{
    ASCENDC_CHECK_DTYPE(LayerNorm, T, half, bfloat16_t, float);
    (void)tiling;
    namespace norm = detail::norm;
    const detail::rows::Shape all = {para.aLength, para.rLengthWithPadding, para.rLength};
    if (!norm::WholeBlocks<T>("LayerNorm", all.stride)) {
        return;
    }
    const detail::lanes::Run<U> none = nullptr;
    const norm::Operands<T, U> tensors = {
        detail::Ub(output), detail::Ub(inputX), config.isNoGamma ? none : detail::Ub(gamma),
        config.isNoBeta ? none : detail::Ub(beta)};
    const detail::lanes::Floats mean = config.isOnlyOutput ? nullptr : detail::Ub(outputMean);
    const detail::lanes::Floats rstd = config.isOnlyOutput ? nullptr : detail::Ub(outputRstd);
    norm::Layout layout;
    norm::Normalise(
        "LayerNorm", tensors, mean, rstd, epsilon, all, sharedTmpBuffer, false, norm::Unchanged(), layout);
    if (config.isOutputRstd && rstd != nullptr && layout.step != 0) {
        const uint32_t room = layout.step * all.stride;
        for (uint32_t done = 0; done < all.count; done += room / 8 * 8) {
            norm::Reciprocals(
                rstd + done, epsilon, layout.rowsAt, detail::rows::AtMost(all.count - done, room / 8 * 8));
        }
    }
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
ASC_API void LayerNorm(
    const LocalTensor<T>& output, const LocalTensor<float>& outputMean, const LocalTensor<float>& outputRstd,
    const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
    const LayerNormPara& para, const LayerNormSeparateTiling& tiling)
{
    LayerNorm<U, T, isReuseSource, config>(
        output, outputMean, outputRstd, inputX, gamma, beta, epsilon, detail::lanes::Stack(), para, tiling);
}

/// LayerNorm of alpha * x + gx; gives means and 1 / sqrt(variance + epsilon).
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
ASC_API void DeepNorm(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
    const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
    const LocalTensor<T>& gammaLocal, const LocalTensor<uint8_t>& sharedTmpBuffer, const T alpha, const T epsilon,
    DeepNormTiling& tiling)
{
    ASCENDC_CHECK_DTYPE(DeepNorm, T, half, float);
    namespace norm = detail::norm;
    namespace rows = detail::rows;
    using detail::lanes::Floats;
    constexpr bool wide = sizeof(T) < sizeof(float);
    const rows::Shape all = {
        tiling.bLength * tiling.sLength, tiling.hLength,
        tiling.originalHLength == 0 ? tiling.hLength : tiling.originalHLength};
    if (!norm::WholeBlocks<T>("DeepNorm", all.stride)) {
        return;
    }
    const norm::Operands<T, T> tensors = {
        detail::Ub(dstLocal), detail::Ub(srcLocal), detail::Ub(gammaLocal), detail::Ub(betaLocal)};
    const float factor = static_cast<float>(alpha);
    // The sum goes where the result will be: `other` is needed for gx until then.
    const auto sum = [&](Floats x, Floats other, uint32_t at, uint32_t elements) __attribute__((always_inline)) {
        const Floats gx = rows::LoadRows(detail::Ub(gxLocal) + at, other, elements);
        const Floats to = wide ? x : reinterpret_cast<Floats>(detail::Ub(dstLocal) + at);
        rows::Count(elements);
        detail::lanes::Muls(other, x, factor);
        if (wide) {
            detail::lanes::Widen(x, reinterpret_cast<detail::lanes::Run<half>>(detail::Ub(gxLocal) + at));
            detail::lanes::Add(to, x, other);
        } else {
            detail::lanes::Add(to, gx, other);
        }
        rows::Normal();
        return to;
    };
    norm::Layout layout;
    norm::Normalise(
        "DeepNorm", tensors, detail::UbAs<float>(meanLocal), detail::UbAs<float>(rstdLocal),
        static_cast<float>(epsilon), all, sharedTmpBuffer, wide, sum, layout);
    if (layout.step == 0) {
        return;
    }
    const Floats variances = wide ? layout.variances : detail::UbAs<float>(rstdLocal);
    const uint32_t room = layout.step * all.stride / 8 * 8;
    for (uint32_t done = 0; done < all.count; done += room) {
        norm::Reciprocals(
            variances + done, static_cast<float>(epsilon), layout.rowsAt, rows::AtMost(all.count - done, room));
    }
    if constexpr (wide) {
        rows::StoreRows(detail::Ub(meanLocal), layout.means, all.count);
        rows::StoreRows(detail::Ub(rstdLocal), layout.variances, all.count);
    }
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
ASC_API void DeepNorm(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
    const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
    const LocalTensor<T>& gammaLocal, const T alpha, const T epsilon, DeepNormTiling& tiling)
{
    DeepNorm<T, isReuseSrc, isBasicBlock>(
        dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal, detail::lanes::Stack(), alpha,
        epsilon, tiling);
}

/// x / sqrt(mean of squares + epsilon) * gamma.
template <typename T, bool isBasicBlock = false>
ASC_API void RmsNorm(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, const RmsNormTiling& tiling)
{
    ASCENDC_CHECK_DTYPE(RmsNorm, T, half, float);
    namespace norm = detail::norm;
    namespace rows = detail::rows;
    using detail::lanes::Floats;
    const rows::Shape all = {
        tiling.bLength * tiling.sLength, tiling.hLength,
        tiling.originalHLength == 0 ? tiling.hLength : tiling.originalHLength};
    if (!norm::WholeBlocks<T>("RmsNorm", all.stride)) {
        return;
    }
    constexpr bool wide = sizeof(T) < sizeof(float);
    const uint32_t perRow = (wide ? 2 : 1) * all.stride + rows::BLOCK;
    const norm::Layout layout = norm::LayOut("RmsNorm", sharedTmpBuffer, all, false, false, perRow);
    for (uint32_t row = 0; layout.step != 0 && row < all.count; row += layout.step) {
        const rows::Shape shape = {rows::AtMost(all.count - row, layout.step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const uint32_t at = row * all.stride;
        const Floats squares = layout.rowsAt;
        const Floats wideRows = squares + elements;
        const Floats values = wideRows + (wide ? elements : 0);
        const Floats blocks = squares;
        const Floats x = rows::LoadRows(detail::Ub(srcLocal) + at, wideRows, elements);
        const Floats d = rows::ResultRows(detail::Ub(dstLocal) + at, wideRows);
        rows::Count(elements);
        detail::lanes::Mul(squares, x, x);
        rows::Normal();
        rows::ReduceSpending<rows::SumOf>(values, squares, shape);
        rows::SpreadWithin(blocks, values, shape.count, elements);
        rows::Count(shape.count * rows::BLOCK);
        detail::lanes::Muls(blocks, blocks, 1.0f / static_cast<float>(all.columns));
        detail::lanes::Adds(blocks, blocks, static_cast<float>(epsilon));
        detail::lanes::Sqrt(blocks, blocks);
        rows::Normal();
        rows::DivBlocks(d, x, blocks, {shape.count, shape.stride, shape.stride});
        norm::MulByRow(d, d, norm::ParameterRow(detail::Ub(gammaLocal), blocks, all.columns), shape);
        rows::StoreRows(detail::Ub(dstLocal) + at, d, elements);
    }
}
template <typename T, bool isBasicBlock = false>
ASC_API void RmsNorm(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal, const T epsilon,
    const RmsNormTiling& tiling)
{
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, detail::lanes::Stack(), epsilon, tiling);
}

/// One more block of samples: mean += (x - mean) / n, and the sum of squared deviations with it.
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
ASC_API void WelfordUpdate(
    const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance, const LocalTensor<U>& inputMean,
    const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const WelfordUpdateParam& para)
{
    ASCENDC_CHECK_DTYPE(WelfordUpdate, T, half, bfloat16_t, float);
    ASCENDC_CHECK_DTYPE(WelfordUpdate, U, float);
    namespace lanes = detail::lanes;
    const lanes::Share share = lanes::ShareOut("WelfordUpdate", sharedTmpBuffer, 2, false, true);
    if (share.room == 0) {
        return;
    }
    const lanes::Slots<2> t = lanes::CutSlots<2>(sharedTmpBuffer, share);
    const uint32_t count = para.rnLength * para.abComputeLength;
    const uint32_t all = para.rnLength * para.abLength;
    set_mask_count();
    if (config.isInplace && count < all) {
        // What is not computed is passed on; from a block's begin, so that this comes before what is computed.
        const uint32_t rest = detail::rows::WholeEights(all - count);
        const uint32_t from = all - rest;
        set_vector_mask(0, rest);
        lanes::Muls(detail::Ub(outputMean) + from, detail::Ub(inputMean) + from, 1.0f);
        lanes::Muls(detail::Ub(outputVariance) + from, detail::Ub(inputVariance) + from, 1.0f);
    }
    for (uint32_t done = 0; done < count; done += share.room) {
        set_vector_mask(0, count - done < share.room ? count - done : share.room);
        const lanes::Floats mean = detail::Ub(inputMean) + done;
        const lanes::Floats newMean = detail::Ub(outputMean) + done;
        if constexpr (sizeof(T) == sizeof(float)) {
            lanes::Sub(t[0], detail::Ub(inputX) + done, mean);
        } else {
            lanes::Widen(t[0], detail::Ub(inputX) + done);
            lanes::Sub(t[0], t[0], mean);
        }
        // (x - new mean) = (x - mean) - (new mean - mean)
        lanes::Muls(t[1], t[0], para.nRec);
        lanes::Add(newMean, mean, t[1]);
        lanes::Sub(t[1], t[0], t[1]);
        lanes::Mul(t[1], t[1], t[0]);
        lanes::Add(detail::Ub(outputVariance) + done, detail::Ub(inputVariance) + done, t[1]);
    }
    detail::EndCount();
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
ASC_API void WelfordUpdate(
    const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance, const LocalTensor<U>& inputMean,
    const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX, const WelfordUpdateParam& para)
{
    WelfordUpdate<T, U, isReuseSource, config>(
        outputMean, outputVariance, inputMean, inputVariance, inputX, detail::lanes::Stack(), para);
}

}  // namespace AscendC

#endif
