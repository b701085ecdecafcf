// Floating-point values of int8 weights: scale * (weight + offset).
#ifndef ASCENDC_ADV_ANTIQUANTIZATION_H
#define ASCENDC_ADV_ANTIQUANTIZATION_H

#include "ascendc/adv/quantization.h"

namespace AscendC {
namespace detail {
namespace quantization {

/// The weights of a piece as D, computed in half, or in float for bfloat16.
template <typename D>
struct Weights;
template <>
struct Weights<half> {
    static constexpr uint32_t bytes = sizeof(half);
    Run<half> to;
    ASC_API Weights(Run<half> d, const LocalTensor<uint8_t>&, uint32_t) : to(d) {}
    ASC_API void Load(Run<int8_t> from) const
    {
        vconv_s82f16(to, from, 1, BLK, BLK, REP, HALF_REP);
        pipe_barrier(PIPE_V);
    }
    ASC_API void Add(Run<half> offset) const { lanes::Add(to, to, offset); }
    ASC_API void Multiply(Run<half> scale) const { lanes::Mul(to, to, scale); }
    ASC_API void Add(half offset) const { lanes::Adds(to, to, offset); }
    ASC_API void Multiply(half scale) const { lanes::Muls(to, to, scale); }
    ASC_API void Store() const {}
};
template <>
struct Weights<bfloat16_t> {
    static constexpr uint32_t bytes = 2 * sizeof(float);
    Run<bfloat16_t> to;
    Floats x;
    Floats other;
    ASC_API Weights(Run<bfloat16_t> d, const LocalTensor<uint8_t>& temporary, uint32_t room)
        : to(d), x(UbAs<float>(temporary)), other(x + room)
    {}
    ASC_API void Load(Run<int8_t> from) const
    {
        const Run<half> narrow = reinterpret_cast<Run<half>>(other);
        vconv_s82f16(narrow, from, 1, BLK, BLK, REP, HALF_REP);
        pipe_barrier(PIPE_V);
        lanes::Widen(x, narrow);
    }
    ASC_API void Add(Run<bfloat16_t> offset) const
    {
        lanes::Widen(other, offset);
        lanes::Add(x, x, other);
    }
    ASC_API void Multiply(Run<bfloat16_t> scale) const
    {
        lanes::Widen(other, scale);
        lanes::Mul(x, x, other);
    }
    ASC_API void Add(bfloat16_t offset) const { lanes::Adds(x, x, static_cast<float>(offset)); }
    ASC_API void Multiply(bfloat16_t scale) const { lanes::Muls(x, x, static_cast<float>(scale)); }
    ASC_API void Store() const { lanes::Narrow(to, x); }
};

#define ASCENDC_CHECK_ANTIQUANT                                                                            \
    static_assert(std::is_same<InputDataType, int8_t>::value,                                              \
                  "AscendAntiQuant: weights other than int8_t are not available in this SDK");             \
    ASCENDC_CHECK_DTYPE(AscendAntiQuant, OutputDataType, half, bfloat16_t)

/// One offset and one scale for all.
template <bool withOffset, typename D>
ASC_API void AntiQuantizeAll(
    const LocalTensor<D>& dst, const LocalTensor<int8_t>& src, D offset, D scale,
    const LocalTensor<uint8_t>& temporary)
{
    const uint32_t count = src.GetSize();
    const uint32_t room = PieceOf("AscendAntiQuant", temporary, Weights<D>::bytes);
    set_mask_count();
    for (uint32_t done = 0; room != 0 && done < count; done += room) {
        set_vector_mask(0, rows::AtMost(count - done, room));
        const Weights<D> weights(Ub(dst) + done, temporary, room);
        weights.Load(Ub(src) + done);
        if constexpr (withOffset) {
            weights.Add(offset);
        }
        weights.Multiply(scale);
        weights.Store();
    }
    EndCount();
}

/// [k, n] weights: a row of offsets and scales for every group of rows.
template <bool withOffset, typename D>
ASC_API void AntiQuantizeColumns(
    const LocalTensor<D>& dst, const LocalTensor<int8_t>& src, const LocalTensor<D>& offset,
    const LocalTensor<D>& scale, const LocalTensor<uint8_t>& temporary, uint32_t k, uint32_t groups)
{
    const uint32_t n = src.GetSize() / k;
    const uint32_t perGroup = k / groups;
    const uint32_t room = PieceOf("AscendAntiQuant", temporary, Weights<D>::bytes);
    set_mask_count();
    for (uint32_t row = 0; room != 0 && row < k; ++row) {
        const uint32_t parameters = row / perGroup * n;
        for (uint32_t column = 0; column < n; column += room) {
            set_vector_mask(0, rows::AtMost(n - column, room));
            const Weights<D> weights(Ub(dst) + row * n + column, temporary, room);
            weights.Load(Ub(src) + row * n + column);
            if constexpr (withOffset) {
                weights.Add(Ub(offset) + parameters + column);
            }
            weights.Multiply(Ub(scale) + parameters + column);
            weights.Store();
        }
    }
    EndCount();
}

/// [n, k] weights: offsets and scales stand for runs of k / groups weights of a row; the scalar unit reads them.
template <bool withOffset, typename D>
ASC_API void AntiQuantizeRuns(
    const LocalTensor<D>& dst, const LocalTensor<int8_t>& src, const LocalTensor<D>& offset,
    const LocalTensor<D>& scale, const LocalTensor<uint8_t>& temporary, uint32_t k, uint32_t groups)
{
    const uint32_t perGroup = k / groups;
    const uint32_t count = src.GetSize() / perGroup;
    const uint32_t room = PieceOf("AscendAntiQuant", temporary, Weights<D>::bytes);
    Order(HardEvent::V_S);
    set_mask_count();
    for (uint32_t run = 0; room != 0 && run < count; ++run) {
        const D factor = scale.GetValue(run);
        for (uint32_t column = 0; column < perGroup; column += room) {
            set_vector_mask(0, rows::AtMost(perGroup - column, room));
            const Weights<D> weights(Ub(dst) + run * perGroup + column, temporary, room);
            weights.Load(Ub(src) + run * perGroup + column);
            if constexpr (withOffset) {
                weights.Add(offset.GetValue(run));
            }
            weights.Multiply(factor);
            weights.Store();
        }
    }
    EndCount();
}

template <bool isTranspose, bool withOffset, typename D>
ASC_API void AntiQuantize(
    const LocalTensor<D>& dst, const LocalTensor<int8_t>& src, const LocalTensor<D>& offset,
    const LocalTensor<D>& scale, const LocalTensor<uint8_t>& temporary, uint32_t k, const AntiQuantShapeInfo& info)
{
    const ShapeInfo known = scale.GetShapeInfo();
    uint32_t groups = isTranspose ? info.scaleWidth : info.scaleHeight;
    if (groups == 0 && known.shapeDim == 2) {
        groups = known.shape[isTranspose ? 1 : 0];
    }
    groups = groups == 0 ? 1 : groups;
    if (k == 0 || src.GetSize() % k != 0 || k % groups != 0) {
        FaultText text;
        text << "AscendAntiQuant: " << src.GetSize() << " weights with k = " << k << " do not make " << groups
             << " groups";
        ascendsim::Fault("bad_argument", text.Text());
        return;
    }
    if constexpr (isTranspose) {
        AntiQuantizeRuns<withOffset>(dst, src, offset, scale, temporary, k, groups);
    } else {
        AntiQuantizeColumns<withOffset>(dst, src, offset, scale, temporary, k, groups);
    }
}

}  // namespace quantization
}  // namespace detail

#define ASCENDC_TEMPORARY const LocalTensor<uint8_t>& sharedTmpBuffer,
#define ASCENDC_NO_TEMPORARY
#define ASCENDC_ADV_ANTIQUANT(Temporary, TEMPORARY)                                                                \
    template <typename InputDataType, typename OutputDataType, bool isTranspose>                                   \
    ASC_API void AscendAntiQuant(                                                                                  \
        const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,                             \
        const LocalTensor<OutputDataType>& offset, const LocalTensor<OutputDataType>& scale, Temporary             \
        const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {})                                                \
    {                                                                                                              \
        ASCENDC_CHECK_ANTIQUANT;                                                                                   \
        detail::quantization::AntiQuantize<isTranspose, true>(dst, src, offset, scale, TEMPORARY, k, shapeInfo);   \
    }                                                                                                              \
    template <typename InputDataType, typename OutputDataType, bool isTranspose>                                   \
    ASC_API void AscendAntiQuant(                                                                                  \
        const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,                             \
        const OutputDataType offset, const OutputDataType scale, Temporary const uint32_t k,                       \
        const AntiQuantShapeInfo& shapeInfo = {})                                                                  \
    {                                                                                                              \
        ASCENDC_CHECK_ANTIQUANT;                                                                                   \
        (void)k;                                                                                                   \
        (void)shapeInfo;                                                                                           \
        detail::quantization::AntiQuantizeAll<true>(dst, src, offset, scale, TEMPORARY);                           \
    }
ASCENDC_ADV_ANTIQUANT(ASCENDC_TEMPORARY, sharedTmpBuffer)
ASCENDC_ADV_ANTIQUANT(ASCENDC_NO_TEMPORARY, detail::lanes::Stack())
#undef ASCENDC_ADV_ANTIQUANT
#undef ASCENDC_NO_TEMPORARY
#undef ASCENDC_TEMPORARY
/// Without offsets.
template <typename InputDataType, typename OutputDataType, bool isTranspose>
ASC_API void AscendAntiQuant(
    const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src,
    const LocalTensor<OutputDataType>& scale, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,
    const AntiQuantShapeInfo& shapeInfo = {})
{
    ASCENDC_CHECK_ANTIQUANT;
    detail::quantization::AntiQuantize<isTranspose, false>(dst, src, scale, scale, sharedTmpBuffer, k, shapeInfo);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
ASC_API void AscendAntiQuant(
    const LocalTensor<OutputDataType>& dst, const LocalTensor<InputDataType>& src, const OutputDataType scale,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k, const AntiQuantShapeInfo& shapeInfo = {})
{
    ASCENDC_CHECK_ANTIQUANT;
    (void)k;
    (void)shapeInfo;
    detail::quantization::AntiQuantizeAll<false>(dst, src, scale, scale, sharedTmpBuffer);
}
#undef ASCENDC_CHECK_ANTIQUANT

}  // namespace AscendC

#endif
