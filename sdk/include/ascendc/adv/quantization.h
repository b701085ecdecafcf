// Quantisation to int8, from int32 sums back to floating point, and from int8 weights.
#ifndef ASCENDC_ADV_QUANTIZATION_H
#define ASCENDC_ADV_QUANTIZATION_H

#include "ascendc/adv/rows.h"
#include "ascendc/gather.h"

namespace AscendC {

struct AscendQuantConfig {
    constexpr AscendQuantConfig(
        const uint32_t calc, const uint32_t offset, const uint32_t scale, const uint32_t workSize)
        : calcCount(calc), offsetCount(offset), scaleCount(scale), workLocalSize(workSize)
    {}
    uint32_t calcCount;
    uint32_t offsetCount;
    uint32_t scaleCount;
    uint32_t workLocalSize;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };
/// Rows, elements per row, and how many of a row are converted.
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};

struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

namespace detail {
namespace quantization {

using lanes::Floats;
using lanes::Run;

/// Elements per piece when an element takes `bytesEach` bytes of a temporary buffer: whole blocks of int8.
ASC_API uint32_t PieceOf(const char* api, const LocalTensor<uint8_t>& temporary, uint32_t bytesEach)
{
    const uint32_t room = temporary.GetSize() / bytesEach / ONE_BLK_SIZE * ONE_BLK_SIZE;
    if (room == 0) {
        FaultText text;
        text << api << ": a temporary buffer of " << temporary.GetSize() << " bytes is too small; it takes at least "
             << uint64_t(bytesEach) * ONE_BLK_SIZE;
        ascendsim::Fault("bad_argument", text.Text());
    }
    return room;
}

// A scale or an offset of Quant as halves: a scalar, or a tensor with a value per column.
struct Scalar {
    half value;
    ASC_API void Multiply(Run<half> x, uint32_t, Run<half>) const { lanes::Muls(x, x, value); }
    ASC_API void AddTo(Run<half> x, uint32_t, Run<half>) const { lanes::Adds(x, x, value); }
};
template <typename T>
struct PerColumn {
    Run<T> values;
    ASC_API Run<half> At(uint32_t column, Run<half> room) const
    {
        if constexpr (sizeof(T) == sizeof(half)) {
            return values + column;
        } else {
            lanes::Narrow(room, values + column);
            return room;
        }
    }
    ASC_API void Multiply(Run<half> x, uint32_t column, Run<half> room) const { lanes::Mul(x, x, At(column, room)); }
    ASC_API void AddTo(Run<half> x, uint32_t column, Run<half> room) const { lanes::Add(x, x, At(column, room)); }
};

/// dst = round(src * scale + offset), in half as the hardware's conversion to int8 takes it; rows of `columns`.
template <typename T, typename Scale, typename Offset>
ASC_API void Quantize(
    const LocalTensor<int8_t>& dst, const LocalTensor<T>& src, const Scale& scale, const Offset& offset,
    const LocalTensor<uint8_t>& temporary, uint32_t columns, uint32_t count)
{
    ASCENDC_CHECK_DTYPE(AscendQuant, T, half, float);
    if (columns == 0 || count % ONE_BLK_SIZE != 0 || columns % ONE_BLK_SIZE != 0) {
        ascendsim::Fault(
            "misaligned", Describe("AscendQuant: ", count, " elements in rows of ", columns,
                                   " do not fill blocks of 32 results").Text());
        return;
    }
    // Products, and a converted scale or offset.
    const uint32_t room = PieceOf("AscendQuant", temporary, 2 * sizeof(half));
    const Run<half> x = UbAs<half>(temporary);
    const Run<half> other = x + room;
    set_mask_count();
    for (uint32_t row = 0; room != 0 && row < count; row += columns) {
        for (uint32_t column = 0; column < columns; column += room) {
            set_vector_mask(0, rows::AtMost(columns - column, room));
            const Run<T> from = Ub(src) + row + column;
            if constexpr (sizeof(T) == sizeof(half)) {
                lanes::Muls(x, from, half(1.0f));
            } else {
                lanes::Narrow(x, from);
            }
            scale.Multiply(x, column, other);
            offset.AddTo(x, column, other);
            vconv_f162s8r(Ub(dst) + row + column, x, 1, BLK, BLK, HALF_REP, REP);
            pipe_barrier(PIPE_V);
        }
    }
    EndCount();
}

// A scale of Dequant in float.
ASC_API Floats ScaleRun(Run<float> scale, Floats) { return scale; }
ASC_API Floats ScaleRun(Run<bfloat16_t> scale, Floats room)
{
    lanes::Widen(room, scale);
    return room;
}
template <typename S>
struct TensorScale {
    Run<S> values;
    ASC_API void Multiply(Floats x, uint32_t column, Floats room) const
    {
        lanes::Mul(x, x, ScaleRun(values + column, room));
    }
};
struct ScalarScale {
    float value;
    ASC_API void Multiply(Floats x, uint32_t, Floats) const { lanes::Muls(x, x, value); }
};

ASC_API void Deliver(Run<float> to, Floats x) { lanes::Muls(to, x, 1.0f); }
ASC_API void Deliver(Run<half> to, Floats x) { lanes::Narrow(to, x); }
ASC_API void Deliver(Run<bfloat16_t> to, Floats x) { lanes::Narrow(to, x); }

/// Rows of dst = float(src) * scale. Rows of the destination are padded to whole blocks.
template <DeQuantMode mode, typename D, typename Scale>
ASC_API void Dequantize(
    const LocalTensor<D>& dst, const LocalTensor<int32_t>& src, const Scale& scale,
    const LocalTensor<uint8_t>& temporary, DequantParams params)
{
    ASCENDC_CHECK_DTYPE(AscendDequant, D, half, bfloat16_t, float);
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(D);
    if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 && params.calCount != 0
        && params.calCount % perBlock == 0 && params.n % params.calCount == 0) {
        params = {params.n / params.calCount, params.calCount, params.calCount};
    }
    if (params.calCount > params.n || (params.m > 1 && params.n % ONE_BLK_FLOAT_NUM != 0)) {
        ascendsim::Fault(
            "bad_argument", Describe("AscendDequant: ", params.calCount, " elements of rows of ", params.n,
                                     "; rows fill whole blocks of 32 bytes").Text());
        return;
    }
    const uint32_t room = PieceOf("AscendDequant", temporary, 2 * sizeof(float));
    const Floats x = UbAs<float>(temporary);
    const uint32_t stride = (params.n + perBlock - 1) / perBlock * perBlock;
    set_mask_count();
    for (uint32_t row = 0; room != 0 && row < params.m; ++row) {
        for (uint32_t column = 0; column < params.calCount; column += room) {
            set_vector_mask(0, rows::AtMost(params.calCount - column, room));
            vconv_s322f32(x, Ub(src) + row * params.n + column, 1, BLK, BLK, REP, REP);
            pipe_barrier(PIPE_V);
            scale.Multiply(x, column, x + room);
            Deliver(Ub(dst) + row * stride + column, x);
        }
    }
    EndCount();
}

}  // namespace quantization
}  // namespace detail

// One kind of scale and offset, with and without a temporary buffer, with and without counts.
#define ASCENDC_ADV_QUANT(ScaleArg, OffsetArg, COUNTS, PASSED, WHOLE, SCALE, OFFSET, COLUMNS)                      \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>  \
    ASC_API void AscendQuant(                                                                                      \
        const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,                                     \
        const LocalTensor<uint8_t>& sharedTmpBuffer, ScaleArg scale, OffsetArg offset, COUNTS                      \
        const uint32_t calCount)                                                                                   \
    {                                                                                                              \
        namespace q = detail::quantization;                                                                        \
        q::Quantize(dstTensor, srcTensor, SCALE, OFFSET, sharedTmpBuffer, COLUMNS, calCount);                      \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>  \
    ASC_API void AscendQuant(                                                                                      \
        const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, ScaleArg scale, OffsetArg offset,   \
        COUNTS const uint32_t calCount)                                                                            \
    {                                                                                                              \
        AscendQuant<T, isReuseSource, config>(                                                                     \
            dstTensor, srcTensor, detail::lanes::Stack(), scale, offset, PASSED calCount);                         \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>  \
    ASC_API void AscendQuant(                                                                                      \
        const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,                                     \
        const LocalTensor<uint8_t>& sharedTmpBuffer, ScaleArg scale, OffsetArg offset)                             \
    {                                                                                                              \
        AscendQuant<T, isReuseSource, config>(                                                                     \
            dstTensor, srcTensor, sharedTmpBuffer, scale, offset, WHOLE srcTensor.GetSize());                      \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>  \
    ASC_API void AscendQuant(                                                                                      \
        const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor, ScaleArg scale, OffsetArg offset)   \
    {                                                                                                              \
        AscendQuant<T, isReuseSource, config>(                                                                     \
            dstTensor, srcTensor, detail::lanes::Stack(), scale, offset, WHOLE srcTensor.GetSize());               \
    }
#define ASCENDC_NOTHING
#define ASCENDC_SCALE_COUNT const uint32_t scaleCount,
#define ASCENDC_BOTH_COUNTS const uint32_t scaleCount, const uint32_t offsetCount,
#define ASCENDC_PASS_SCALE scaleCount,
#define ASCENDC_PASS_BOTH scaleCount, offsetCount,
#define ASCENDC_WHOLE_SCALE scale.GetSize(),
#define ASCENDC_WHOLE_BOTH scale.GetSize(), offset.GetSize(),
ASCENDC_ADV_QUANT(const float, const float, ASCENDC_NOTHING, ASCENDC_NOTHING, ASCENDC_NOTHING,
                  q::Scalar{half(scale)}, q::Scalar{half(offset)}, calCount)
ASCENDC_ADV_QUANT(const LocalTensor<T>&, const T, ASCENDC_SCALE_COUNT, ASCENDC_PASS_SCALE, ASCENDC_WHOLE_SCALE,
                  q::PerColumn<T>{detail::Ub(scale)}, q::Scalar{half(static_cast<float>(offset))}, scaleCount)
ASCENDC_ADV_QUANT(const LocalTensor<T>&, const LocalTensor<T>&, ASCENDC_BOTH_COUNTS, ASCENDC_PASS_BOTH,
                  ASCENDC_WHOLE_BOTH, q::PerColumn<T>{detail::Ub(scale)}, q::PerColumn<T>{detail::Ub(offset)},
                  (scaleCount < offsetCount ? scaleCount : offsetCount))
#undef ASCENDC_WHOLE_BOTH
#undef ASCENDC_WHOLE_SCALE
#undef ASCENDC_PASS_BOTH
#undef ASCENDC_PASS_SCALE
#undef ASCENDC_BOTH_COUNTS
#undef ASCENDC_SCALE_COUNT
#undef ASCENDC_NOTHING
#undef ASCENDC_ADV_QUANT

/// Floating-point values of int32 sums, one scale per column.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale,
    const LocalTensor<uint8_t>& sharedTmpBuffer, DequantParams params)
{
    namespace q = detail::quantization;
    if constexpr (std::is_same<scaleT, uint64_t>::value) {
        // Every scale is a float in the lower half of eight bytes: they are packed in front of the working memory.
        const uint32_t count = params.calCount;
        const uint32_t aside = (count * static_cast<uint32_t>(sizeof(float)) + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
        if (sharedTmpBuffer.GetSize() <= aside) {
            ascendsim::Fault(
                "bad_argument", detail::Describe("AscendDequant: a temporary buffer of ", sharedTmpBuffer.GetSize(),
                                                 " bytes has no room for ", count, " scales").Text());
            return;
        }
        uint64_t kept = 0;
        const LocalTensor<uint32_t> packed = sharedTmpBuffer.ReinterpretCast<uint32_t>();
        GatherMask(packed, deqScale.template ReinterpretCast<uint32_t>(), 1, true, 2 * count, {1, 1, 8, 0}, kept);
        SetMaskNorm();
        ResetMask();
        PipeBarrier<PIPE_V>();
        const q::TensorScale<float> scale = {detail::UbAs<float>(sharedTmpBuffer)};
        q::Dequantize<mode>(dstTensor, srcTensor, scale, sharedTmpBuffer[aside], params);
    } else {
        ASCENDC_CHECK_DTYPE(AscendDequant, scaleT, float, bfloat16_t);
        const q::TensorScale<scaleT> scale = {detail::Ub(deqScale)};
        q::Dequantize<mode>(dstTensor, srcTensor, scale, sharedTmpBuffer, params);
    }
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale,
    DequantParams params)
{
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, detail::lanes::Stack(), params);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)
{
    AscendDequant<dstT, scaleT, mode>(
        dstTensor, srcTensor, deqScale, sharedTmpBuffer, DequantParams{1, srcTensor.GetSize(), calCount});
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale,
    const uint32_t calCount)
{
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, detail::lanes::Stack(), calCount);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale,
    const LocalTensor<uint8_t>& sharedTmpBuffer)
{
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, sharedTmpBuffer, deqScale.GetSize());
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const LocalTensor<scaleT>& deqScale)
{
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, detail::lanes::Stack(), deqScale.GetSize());
}
/// The same with one scale for all.
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const scaleT deqScale,
    const LocalTensor<uint8_t>& sharedTmpBuffer, DequantParams params)
{
    ASCENDC_CHECK_DTYPE(AscendDequant, scaleT, float, bfloat16_t);
    namespace q = detail::quantization;
    q::Dequantize<mode>(
        dstTensor, srcTensor, q::ScalarScale{static_cast<float>(deqScale)}, sharedTmpBuffer, params);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
ASC_API void AscendDequant(
    const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, const scaleT deqScale,
    DequantParams params)
{
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, detail::lanes::Stack(), params);
}

}  // namespace AscendC

#endif
