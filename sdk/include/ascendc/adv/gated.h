// Gated linear units: one tensor times an activation of another.
#ifndef ASCENDC_ADV_GATED_H
#define ASCENDC_ADV_GATED_H

#include "ascendc/adv/gelu.h"

namespace AscendC {
namespace detail {

struct GeGLUStep {
    static ASC_API void Compute(lanes::Floats d, lanes::Floats a, lanes::Floats b)
    {
        lanes::Slots<1> t;
        t.run[0] = d;
        GeluStep::Compute(d, b, t);
        lanes::Mul(d, a, d);
    }
};
struct SwiGLUStep {
    float scale;
    ASC_API void Compute(lanes::Floats d, lanes::Floats a, lanes::Floats b) const
    {
        lanes::Muls(d, b, -scale);
        lanes::Exp(d, d);
        lanes::Adds(d, d, 1.0f);
        lanes::Div(d, b, d);
        lanes::Mul(d, a, d);
    }
};
struct ReGluStep {
    static ASC_API void Compute(lanes::Floats d, lanes::Floats a, lanes::Floats b)
    {
        lanes::Relu(d, b);
        lanes::Mul(d, a, d);
    }
};

/// dst = src0 * activation(src1). Float is computed in dst; narrower dtypes in the temporary buffer.
template <typename Step, typename T>
ASC_API void Gate(
    const char* api, const Step& step, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
    const LocalTensor<T>& src1, const LocalTensor<uint8_t>& temporary, uint32_t count)
{
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)temporary;
        if (Ub(dst) == Ub(src0) || Ub(dst) == Ub(src1)) {
            FaultText text;
            text << api << ": a float destination must not be a source";
            ascendsim::Fault("bad_argument", text.Text());
            return;
        }
        BeginCount(count);
        step.Compute(Ub(dst), Ub(src0), Ub(src1));
        EndCount();
    } else {
        const lanes::Share share = lanes::ShareOut(api, temporary, 3, false, true);
        if (share.room == 0) {
            return;
        }
        const lanes::Slots<3> t = lanes::CutSlots<3>(temporary, share);
        set_mask_count();
        for (uint32_t done = 0; done < count; done += share.room) {
            set_vector_mask(0, count - done < share.room ? count - done : share.room);
            lanes::Widen(t[0], Ub(src0) + done);
            lanes::Widen(t[1], Ub(src1) + done);
            step.Compute(t[2], t[0], t[1]);
            lanes::Narrow(Ub(dst) + done, t[2]);
        }
        EndCount();
    }
}

}  // namespace detail

#define ASCENDC_ADV_GATED(Name, ...)                                                                               \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,       \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::Gate(#Name, detail::Name##Step(), dstTensor, srcTensor0, srcTensor1, sharedTmpBuffer, calCount);   \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,       \
        const uint32_t calCount)                                                                                   \
    {                                                                                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, detail::lanes::Stack(), calCount);               \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,       \
        const LocalTensor<uint8_t>& sharedTmpBuffer)                                                               \
    {                                                                                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, sharedTmpBuffer, srcTensor0.GetSize());          \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1)       \
    {                                                                                                              \
        Name<T, isReuseSource>(                                                                                    \
            dstTensor, srcTensor0, srcTensor1, detail::lanes::Stack(), srcTensor0.GetSize());                      \
    }
/// src0 * Gelu(src1)
ASCENDC_ADV_GATED(GeGLU, half, float)
/// src0 * max(src1, 0)
ASCENDC_ADV_GATED(ReGlu, half, float, bfloat16_t)
#undef ASCENDC_ADV_GATED

/// src0 * src1 / (1 + exp(-scalar * src1))
template <typename T, bool isReuseSource = false>
ASC_API void SwiGLU(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
    const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)
{
    ASCENDC_CHECK_DTYPE(SwiGLU, T, half, float);
    detail::Gate(
        "SwiGLU", detail::SwiGLUStep{scalarValue}, dstTensor, srcTensor0, srcTensor1, sharedTmpBuffer, calCount);
}
template <typename T, bool isReuseSource = false>
ASC_API void SwiGLU(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
    const float& scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer)
{
    SwiGLU<T, isReuseSource>(
        dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer, srcTensor0.GetSize());
}
template <typename T, bool isReuseSource = false>
ASC_API void SwiGLU(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
    const float& scalarValue, const uint32_t calCount)
{
    SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, detail::lanes::Stack(), calCount);
}
template <typename T, bool isReuseSource = false>
ASC_API void SwiGLU(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0, const LocalTensor<T>& srcTensor1,
    const float& scalarValue)
{
    SwiGLU<T, isReuseSource>(
        dstTensor, srcTensor0, srcTensor1, scalarValue, detail::lanes::Stack(), srcTensor0.GetSize());
}

}  // namespace AscendC

#endif
