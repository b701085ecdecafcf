// Normalisation by means and variances that are known, and the end of Welford's method.
#ifndef ASCENDC_ADV_NORMALIZE_H
#define ASCENDC_ADV_NORMALIZE_H

#include "ascendc/adv/layernorm.h"
#include "kernel_tiling/library_choices.h"

namespace AscendC {

struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig GetNormalizeConfig(bool isNoBeta, bool isNoGamma)
{
    return {ReducePattern::AR, -1, isNoBeta, isNoGamma, false};
}
constexpr NormalizeConfig NLCFG_NORM = GetNormalizeConfig(false, false);
constexpr NormalizeConfig NLCFG_NOBETA = GetNormalizeConfig(true, false);
constexpr NormalizeConfig NLCFG_NOGAMMA = GetNormalizeConfig(false, true);
constexpr NormalizeConfig NLCFG_NOOPT = GetNormalizeConfig(true, true);
/// Rows, elements of a row that count, elements from row to row.
struct NormalizePara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

struct WelfordFinalizeConfig {
    constexpr WelfordFinalizeConfig(const bool correction) : isCorrection(correction) {}
    bool isCorrection;
};
constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};
struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
    float rRecWithCorrection;
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta over [A, R]; gives 1 / sqrt(variance + epsilon) too.
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
ASC_API void Normalize(
    const LocalTensor<T>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
    const LocalTensor<float>& inputVariance, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
    const LocalTensor<U>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer, const float epsilon,
    const NormalizePara& para)
{
    ASCENDC_CHECK_DTYPE(Normalize, T, half, bfloat16_t, float);
    static_assert(config.reducePattern == ReducePattern::AR, "Normalize: the reduce pattern is AR");
    namespace norm = detail::norm;
    namespace rows = detail::rows;
    using detail::lanes::Floats;
    constexpr bool wide = sizeof(T) < sizeof(float);
    const rows::Shape all = {para.aLength, para.rLengthWithPadding, para.rLength};
    if (!norm::WholeBlocks<T>("Normalize", all.stride)) {
        return;
    }
    const uint32_t perRow = (wide ? all.stride : 0) + rows::REDUCE_FLOATS;
    const norm::Layout layout = norm::LayOut(
        "Normalize", sharedTmpBuffer, all, sizeof(U) < sizeof(float), config.isOnlyOutput, perRow);
    if (layout.step == 0) {
        return;
    }
    const detail::lanes::Run<U> none = nullptr;
    const Floats factor = norm::ParameterRow(config.isNoGamma ? none : detail::Ub(gamma), layout.gamma, all.columns);
    const Floats shift = norm::ParameterRow(config.isNoBeta ? none : detail::Ub(beta), layout.beta, all.columns);
    const Floats rstd = config.isOnlyOutput ? layout.means : detail::Ub(outputRstd);
    // The memory of the rows holds the ones that the reciprocals are taken of.
    const uint32_t room = layout.step * perRow / rows::BLOCK * rows::BLOCK;
    for (uint32_t done = 0; done < all.count; done += room) {
        const uint32_t now = rows::AtMost(all.count - done, room);
        rows::Count(now);
        detail::lanes::Muls(rstd + done, detail::Ub(inputVariance) + done, 1.0f);
        rows::Normal();
        norm::Reciprocals(rstd + done, epsilon, layout.rowsAt, now);
    }
    for (uint32_t row = 0; row < all.count; row += layout.step) {
        const rows::Shape shape = {rows::AtMost(all.count - row, layout.step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const uint32_t at = row * all.stride;
        const Floats wideRows = layout.rowsAt;
        const Floats blocks = wideRows + (wide ? elements : 0);
        const Floats x = rows::LoadRows(detail::Ub(inputX) + at, wideRows, elements);
        const Floats d = rows::ResultRows(detail::Ub(output) + at, wideRows);
        norm::SpreadFrom(blocks, detail::Ub(inputMean), row, shape.count, blocks);
        rows::SubBlocks(d, x, blocks, shape);
        norm::SpreadFrom(blocks, rstd, row, shape.count, blocks);
        rows::MulBlocks(d, d, blocks, shape);
        if (factor != nullptr) {
            norm::MulByRow(d, d, factor, shape);
        }
        if (shift != nullptr) {
            norm::AddRow(d, d, shift, shape);
        }
        rows::StoreRows(detail::Ub(output) + at, d, elements);
    }
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
ASC_API void Normalize(
    const LocalTensor<T>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
    const LocalTensor<float>& inputVariance, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
    const LocalTensor<U>& beta, const float epsilon, const NormalizePara& para)
{
    Normalize<U, T, isReuseSource, config>(
        output, outputRstd, inputMean, inputVariance, inputX, gamma, beta, detail::lanes::Stack(), epsilon, para);
}

namespace detail {
namespace norm {

/// How many samples each mean stands for: one number for the first ones and one for the rest, or a tensor.
struct Counts {
    uint32_t head;
    uint32_t headLength;
    uint32_t tail;
    Run<int32_t> each;  // or null
    ASC_API void Weigh(Floats d, Floats x, Floats room, uint32_t length) const
    {
        if (each != nullptr) {
            rows::Count(length);
            vconv_s322f32(room, each, 1, BLK, BLK, REP, REP);
            pipe_barrier(PIPE_V);
            lanes::Mul(d, x, room);
        } else {
            // The first ones apart, because the boundary need not be aligned.
            if (headLength > 0) {
                rows::Count(headLength);
                lanes::Muls(room, x, static_cast<float>(head));
            }
            rows::Count(length);
            lanes::Muls(d, x, static_cast<float>(tail));
            if (headLength > 0) {
                rows::Count(headLength);
                lanes::Muls(d, room, 1.0f);
            }
        }
        rows::Normal();
    }
};

/// blocks = eight times factor * sum of x.
ASC_API void Sum(Floats blocks, Floats x, float factor, Floats scratch, uint32_t length)
{
    rows::Reduce<rows::SumOf>(blocks, x, scratch, {1, rows::WholeEights(length), length});
    rows::Count(rows::BLOCK);
    lanes::Muls(blocks, blocks, factor);
    rows::Normal();
}

/// mean = sum of counts * means / R; variance = (sum of deviations + sum of counts * (means - mean)^2) / R.
ASC_API void Finish(
    const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
    const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
    const LocalTensor<uint8_t>& temporary, const Counts& counts, uint32_t length, float part)
{
    const uint32_t padded = rows::WholeEights(length);
    const uint64_t need = (2ull * padded + rows::REDUCE_FLOATS) * sizeof(float);
    if (temporary.GetSize() < need) {
        ascendsim::Fault(
            "bad_argument", Describe("WelfordFinalize: the temporary buffer has ", temporary.GetSize(),
                                     " bytes, it takes ", need).Text());
        return;
    }
    const Floats values = UbAs<float>(temporary);
    const Floats room = values + padded;
    const Floats scratch = room + padded;
    const Floats blocks = scratch + rows::BLOCK;
    counts.Weigh(values, Ub(inputMean), room, length);
    Sum(blocks, values, part, scratch, length);
    // Differences from the mean, before the block that holds it is needed again.
    const Shape one = {1, padded, length};
    rows::SubBlocks(values, Ub(inputMean), blocks, one);
    Compact(Ub(outputMean), blocks, 1);
    rows::Count(length);
    lanes::Mul(values, values, values);
    rows::Normal();
    counts.Weigh(values, values, room, length);
    rows::Count(length);
    lanes::Add(values, values, Ub(inputVariance));
    rows::Normal();
    Sum(blocks, values, part, scratch, length);
    Compact(Ub(outputVariance), blocks, 1);
}

}  // namespace norm
}  // namespace detail

/// Mean and variance of all samples from those that WelfordUpdate left per position. On this architecture there is no corrected variance:
/// `config` changes nothing.
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
ASC_API void WelfordFinalize(
    const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
    const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance, const LocalTensor<int32_t>& counts,
    const LocalTensor<uint8_t>& sharedTmpBuffer, WelfordFinalizePara& para)
{
    detail::norm::Finish(
        outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer, {0, 0, 0, detail::Ub(counts)},
        para.abLength, para.rRec);
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
ASC_API void WelfordFinalize(
    const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
    const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance, const LocalTensor<int32_t>& counts,
    WelfordFinalizePara& para)
{
    WelfordFinalize<isReuseSource, config>(
        outputMean, outputVariance, inputMean, inputVariance, counts, detail::lanes::Stack(), para);
}
/// Without a tensor of counts: without a tail every position saw rnLength samples.
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
ASC_API void WelfordFinalize(
    const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
    const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
    const LocalTensor<uint8_t>& sharedTmpBuffer, WelfordFinalizePara& para)
{
    const bool tail = para.tailCount != 0;
    detail::norm::Finish(
        outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer,
        {para.headCount, tail ? para.headCountLength : 0, tail ? para.tailCount : para.rnLength, nullptr},
        para.abLength, para.rRec);
}
template <bool isReuseSource = false, const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>
ASC_API void WelfordFinalize(
    const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
    const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance, WelfordFinalizePara& para)
{
    WelfordFinalize<isReuseSource, config>(
        outputMean, outputVariance, inputMean, inputVariance, detail::lanes::Stack(), para);
}

}  // namespace AscendC

#endif
