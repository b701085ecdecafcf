// What goes with softmax: its gradient, its logarithm, replacing rows of its results.
#ifndef ASCENDC_ADV_SOFTMAX_GRAD_H
#define ASCENDC_ADV_SOFTMAX_GRAD_H

#include "ascendc/adv/softmax.h"

namespace AscendC {
namespace detail {
namespace softmax {

/// dst = (grad - sum of grad * src) * src; with `front` only the sums, a block per row.
template <bool front, typename T>
ASC_API void Gradient(
    const char* api, lanes::Run<T> dst, lanes::Run<T> grad, lanes::Run<T> src, const LocalTensor<float>& work,
    const SoftMaxTiling& tiling, const Shape& all)
{
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    // Products, then the second operand where it has to be widened.
    const uint32_t perRow = all.stride + WideFloats<T>(all.stride) + rows::REDUCE_FLOATS;
    const uint32_t step = RowsAtOnce<T>(api, work, all, tiling, perRow);
    for (uint32_t row = 0; step != 0 && row < all.count; row += step) {
        const Shape shape = {rows::AtMost(all.count - row, step), all.stride, all.columns};
        const Shape padded = {shape.count, shape.stride, shape.stride};
        const uint32_t elements = shape.count * shape.stride;
        const Floats products = Ub(work);
        const Floats wide = products + elements;
        const Parts parts = CutParts(wide, WideFloats<T>(all.stride), shape.count);
        const Floats y = rows::LoadRows(src + row * all.stride, wide, elements);
        const Floats g = rows::LoadRows(grad + row * all.stride, products, elements);
        rows::Count(elements);
        lanes::Mul(products, g, y);
        rows::Normal();
        rows::Reduce<rows::SumOf>(parts.blocks, products, parts.reduce, shape);
        if constexpr (front) {
            rows::StoreBlocks(dst + row * perBlock, parts.blocks, parts.convert, shape.count);
            continue;
        }
        const Floats again = rows::LoadRows(grad + row * all.stride, products, elements);
        rows::SubBlocks(products, again, parts.blocks, padded);
        const Floats d = rows::ResultRows(dst + row * all.stride, products);
        rows::Count(elements);
        lanes::Mul(d, products, y);
        rows::Normal();
        rows::StoreRows(dst + row * all.stride, d, elements);
    }
}

}  // namespace softmax
}  // namespace detail

#define ASCENDC_TEMPORARY const LocalTensor<uint8_t>& sharedTmpBuffer,
#define ASCENDC_NO_TEMPORARY
#define ASCENDC_SOFTMAX_GRAD(Temporary, WORK)                                                                      \
    template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>                                  \
    ASC_API void SoftmaxGradFront(                                                                                 \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor, const LocalTensor<T>& srcTensor,        \
        Temporary const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {})                      \
    {                                                                                                              \
        ASCENDC_SOFTMAX_CHECK(SoftmaxGradFront);                                                                   \
        detail::softmax::Gradient<true>(                                                                           \
            "SoftmaxGradFront", detail::Ub(dstTensor), detail::Ub(gradTensor), detail::Ub(srcTensor), WORK,        \
            tiling, detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo));                                \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>                                 \
    ASC_API void SoftmaxGrad(                                                                                      \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor, const LocalTensor<T>& srcTensor,        \
        Temporary const SoftMaxTiling& tiling, bool isFront = false,                                               \
        const SoftMaxShapeInfo& softmaxShapeInfo = {})                                                             \
    {                                                                                                              \
        ASCENDC_SOFTMAX_CHECK(SoftmaxGrad);                                                                        \
        const detail::rows::Shape shape = detail::softmax::ShapeOf(srcTensor, tiling, softmaxShapeInfo);           \
        if (isFront) {                                                                                             \
            detail::softmax::Gradient<true>(                                                                       \
                "SoftmaxGrad", detail::Ub(dstTensor), detail::Ub(gradTensor), detail::Ub(srcTensor), WORK,         \
                tiling, shape);                                                                                    \
        } else {                                                                                                   \
            detail::softmax::Gradient<false>(                                                                      \
                "SoftmaxGrad", detail::Ub(dstTensor), detail::Ub(gradTensor), detail::Ub(srcTensor), WORK,         \
                tiling, shape);                                                                                    \
        }                                                                                                          \
    }
ASCENDC_SOFTMAX_GRAD(ASCENDC_TEMPORARY, detail::softmax::Work(sharedTmpBuffer))
ASCENDC_SOFTMAX_GRAD(ASCENDC_NO_TEMPORARY, detail::softmax::Work())
#undef ASCENDC_SOFTMAX_GRAD
#undef ASCENDC_NO_TEMPORARY
#undef ASCENDC_TEMPORARY

/// Decimal logarithm of the softmax.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
ASC_API void LogSoftMax(
    const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max, const LocalTensor<T>& src,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const LogSoftMaxTiling& tiling,
    const SoftMaxShapeInfo& softmaxShapeInfo = {})
{
    ASCENDC_SOFTMAX_CHECK(LogSoftMax);
    SoftMaxTiling plain;
    plain.srcM = tiling.srcM;
    plain.srcK = tiling.srcK;
    plain.splitM = tiling.splitM;
    detail::softmax::Whole<detail::softmax::Result::kLogarithm>(
        "LogSoftMax", detail::Ub(dst), detail::Ub(sum), detail::Ub(max), detail::Ub(src),
        detail::softmax::Work(sharedTmpBuffer), plain, detail::softmax::ShapeOf(src, plain, softmaxShapeInfo));
}

/// Fills the rows whose maximum has exactly the bits `from` with `to`; whether there was one. stepSizeMode other than 0:
/// the maxima stand one behind the other.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
ASC_API bool AdjustSoftMaxRes(
    const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const uint32_t from, const T1 to,
    const SoftMaxShapeInfo& softmaxShapeInfo)
{
    using T = T1;
    ASCENDC_SOFTMAX_CHECK(AdjustSoftMaxRes);
    ASCENDC_CHECK_DTYPE(AdjustSoftMaxRes, T2, half, float);
    using Lane = std::conditional_t<sizeof(T2) == 2, uint16_t, uint32_t>;
    constexpr uint32_t step = stepSizeMode == 0 ? ONE_BLK_SIZE / sizeof(T2) : 1;
    const LocalTensor<Lane> bits = maxTensor.template ReinterpretCast<Lane>();
    detail::Order(HardEvent::V_S);
    bool found = false;
    for (uint32_t row = 0; row < softmaxShapeInfo.srcM; ++row) {
        if (bits.GetValue(row * step) == static_cast<Lane>(from)) {
            found = true;
            Duplicate(softMaxRes[row * softmaxShapeInfo.srcK], to, static_cast<int32_t>(softmaxShapeInfo.srcK));
        }
    }
    PipeBarrier<PIPE_V>();
    return found;
}

}  // namespace AscendC

#endif
