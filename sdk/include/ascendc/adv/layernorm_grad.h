// Gradients of LayerNorm: of the rows, and of gamma and beta.
#ifndef ASCENDC_ADV_LAYERNORM_GRAD_H
#define ASCENDC_ADV_LAYERNORM_GRAD_H

#include "ascendc/adv/layernorm.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

/// With xhat = (x - mean) * rstd (given as resForGamma), g = dy * gamma and sums over a row of H elements:
/// dx = rstd * (g - xhat * sum(g * xhat) / H - sum(g) / H + sum(g * xhat) * sum(xhat) / H^2).
template <typename T, bool isReuseSource = false>
ASC_API void LayerNormGrad(
    const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
    const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
    const LocalTensor<T>& inputGamma, const LocalTensor<uint8_t>& sharedTmpBuffer, T epsilon,
    LayerNormGradTiling& tiling, const LayerNormGradShapeInfo& shapeInfo = {})
{
    ASCENDC_CHECK_DTYPE(LayerNormGrad, T, half, float);
    namespace norm = detail::norm;
    namespace rows = detail::rows;
    namespace lanes = detail::lanes;
    using lanes::Floats;
    constexpr bool wide = sizeof(T) < sizeof(float);
    const rows::Shape all = {
        tiling.bLength * tiling.sLength, tiling.hLength,
        tiling.originalHLength == 0 ? tiling.hLength : tiling.originalHLength};
    if (shapeInfo.dataFormat != DataFormat::ND) {
        ascendsim::Fault("bad_argument", "LayerNormGrad: the data format is ND");
        return;
    }
    if (!norm::WholeBlocks<T>("LayerNormGrad", all.stride)) {
        return;
    }
    // Products; xhat and g where the results cannot hold them; blocks of rstd and of two sums.
    const uint32_t perRow = (wide ? 3 : 1) * all.stride + rows::REDUCE_FLOATS + 3 * rows::BLOCK;
    const norm::Layout layout = norm::LayOut("LayerNormGrad", sharedTmpBuffer, all, wide, wide, perRow);
    if (layout.step == 0) {
        return;
    }
    const Floats gamma = norm::ParameterRow(detail::Ub(inputGamma), layout.gamma, all.columns);
    const Floats means = rows::LoadRows(detail::Ub(inputMean), layout.means, all.count);
    const Floats variances = rows::LoadRows(detail::Ub(inputVariance), layout.variances, all.count);
    const float part = 1.0f / static_cast<float>(all.columns);
    for (uint32_t row = 0; row < all.count; row += layout.step) {
        const rows::Shape shape = {rows::AtMost(all.count - row, layout.step), all.stride, all.columns};
        const uint32_t elements = shape.count * shape.stride;
        const uint32_t values = shape.count * rows::BLOCK;
        const uint32_t at = row * all.stride;
        const Floats products = layout.rowsAt;
        const Floats other = products + elements;
        const Floats rstd = products + (wide ? 3 : 1) * elements;
        const Floats first = rstd + values;
        const Floats second = first + values;
        const Floats reduce = second + values;
        const Floats folded = reduce + rows::WholeEights(shape.count);
        const Floats xhat = rows::ResultRows(detail::Ub(resForGamma) + at, other);
        const Floats g = rows::ResultRows(detail::Ub(outputPdX) + at, other + elements);
        // rstd = 1 / sqrt(variance + epsilon)
        norm::SpreadFrom(rstd, variances, row, shape.count, folded);
        norm::Reciprocals(rstd, static_cast<float>(epsilon), first, values);
        norm::SpreadFrom(first, means, row, shape.count, folded);
        rows::SubBlocks(xhat, rows::LoadRows(detail::Ub(inputX) + at, xhat, elements), first, shape);
        rows::MulBlocks(xhat, xhat, rstd, shape);
        rows::StoreRows(detail::Ub(resForGamma) + at, xhat, elements);
        norm::MulByRow(g, rows::LoadRows(detail::Ub(inputDy) + at, g, elements), gamma, shape);
        rows::Count(shape.columns);
        for (uint32_t r = 0; r < shape.count; ++r) {
            lanes::Mul(products + r * shape.stride, g + r * shape.stride, xhat + r * shape.stride);
        }
        rows::Normal();
        // first = mean of g * xhat, second = mean of g - first * mean of xhat
        const auto average = [&](Floats to, Floats from) __attribute__((always_inline)) {
            rows::Reduce<rows::SumOf>(to, from, reduce, shape);
            rows::Count(values);
            lanes::Muls(to, to, part);
            rows::Normal();
        };
        average(first, products);
        average(second, xhat);
        rows::Count(values);
        lanes::Mul(second, second, first);
        rows::Normal();
        average(folded, g);
        rows::Count(values);
        lanes::Sub(second, folded, second);
        rows::Normal();
        rows::MulBlocks(products, xhat, first, shape);
        rows::SubBlocks(g, g, second, shape);
        rows::Count(shape.columns);
        for (uint32_t r = 0; r < shape.count; ++r) {
            lanes::Sub(g + r * shape.stride, g + r * shape.stride, products + r * shape.stride);
        }
        rows::Normal();
        rows::MulBlocks(g, g, rstd, shape);
        rows::StoreRows(detail::Ub(outputPdX) + at, g, elements);
    }
}
template <typename T, bool isReuseSource = false>
ASC_API void LayerNormGrad(
    const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
    const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
    const LocalTensor<T>& inputGamma, T epsilon, LayerNormGradTiling& tiling,
    const LayerNormGradShapeInfo& shapeInfo = {})
{
    LayerNormGrad<T, isReuseSource>(
        outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma, detail::lanes::Stack(), epsilon,
        tiling, shapeInfo);
}

/// d(gamma) = sum of dy * resForGamma, d(beta) = sum of dy, over all rows.
template <typename T, bool isReuseSource = false>
ASC_API void LayerNormGradBeta(
    const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta, const LocalTensor<T>& resForGamma,
    const LocalTensor<T>& inputDy, const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormGradBetaTiling& tiling)
{
    ASCENDC_CHECK_DTYPE(LayerNormGradBeta, T, half, float);
    namespace lanes = detail::lanes;
    namespace rows = detail::rows;
    const uint32_t rowCount = tiling.bLength * tiling.sLength;
    const uint32_t length = tiling.hLength;
    // Two sums, a product, and an operand that has to be widened; as many columns at a time as there is room for.
    constexpr bool wide = sizeof(T) < sizeof(float);
    constexpr uint32_t slots = wide ? 4 : 3;
    const lanes::Share share = lanes::ShareOut("LayerNormGradBeta", sharedTmpBuffer, slots, false, wide);
    if (share.room == 0) {
        return;
    }
    const lanes::Slots<slots> t = lanes::CutSlots<slots>(sharedTmpBuffer, share);
    for (uint32_t column = 0; column < length; column += share.room) {
        const uint32_t now = rows::AtMost(length - column, share.room);
        rows::Count(now);
        lanes::Fill(t[0], 0.0f);
        lanes::Fill(t[1], 0.0f);
        for (uint32_t row = 0; row < rowCount; ++row) {
            const uint32_t at = row * length + column;
            if constexpr (!wide) {
                lanes::Add(t[1], t[1], detail::Ub(inputDy) + at);
                lanes::Mul(t[2], detail::Ub(inputDy) + at, detail::Ub(resForGamma) + at);
            } else {
                lanes::Widen(t[2], detail::Ub(inputDy) + at);
                lanes::Widen(t[3], detail::Ub(resForGamma) + at);
                lanes::Add(t[1], t[1], t[2]);
                lanes::Mul(t[2], t[2], t[3]);
            }
            lanes::Add(t[0], t[0], t[2]);
        }
        if constexpr (!wide) {
            lanes::Muls(detail::Ub(outputPdGamma) + column, t[0], 1.0f);
            lanes::Muls(detail::Ub(outputPdBeta) + column, t[1], 1.0f);
        } else {
            lanes::Narrow(detail::Ub(outputPdGamma) + column, t[0]);
            lanes::Narrow(detail::Ub(outputPdBeta) + column, t[1]);
        }
        rows::Normal();
    }
}
template <typename T, bool isReuseSource = false>
ASC_API void LayerNormGradBeta(
    const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta, const LocalTensor<T>& resForGamma,
    const LocalTensor<T>& inputDy, LayerNormGradBetaTiling& tiling)
{
    LayerNormGradBeta<T, isReuseSource>(
        outputPdGamma, outputPdBeta, resForGamma, inputDy, detail::lanes::Stack(), tiling);
}

}  // namespace AscendC

#endif
