// DropOut: keeps the elements that a mask names, scaled up, and clears the others.
#ifndef ASCENDC_ADV_DROPOUT_H
#define ASCENDC_ADV_DROPOUT_H

#include "ascendc/adv/lanes.h"

namespace AscendC {

/// Rows, elements per row of the data, and of the mask (bytes).
struct DropOutShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

// A byte or a bit per element; rows of the mask padded ("misaligned") or one behind the other.
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;

namespace detail {
namespace dropout {

using lanes::Bits;
using lanes::Run;

/// `count` elements by the bits at `bits`; the comparison mask register holds a zero.
template <typename T>
ASC_API void ByBits(Run<T> d, Run<T> x, Bits bits, T factor, uint32_t count)
{
    set_vector_mask(0, count);
    vsel(d, x, static_cast<__ubuf__ void*>(bits), 1, BLK, BLK, BLK, REP, REP, REP,
         static_cast<uint8_t>(SELMODE::VSEL_TENSOR_SCALAR_MODE));
    pipe_barrier(PIPE_V);
    lanes::Muls(d, d, factor);
}

/// `count` elements by bytes: turned into bits by way of halves, as many at a time as the temporary buffer has room for.
template <typename T>
ASC_API void ByBytes(
    Run<T> d, Run<T> x, Run<uint8_t> bytes, T factor, uint32_t count, const LocalTensor<uint8_t>& temporary)
{
    // Two bytes for the half, one bit; multiples of 128 elements keep both aligned.
    constexpr uint32_t unit = 128;
    const uint32_t room = temporary.GetSize() * 8 / 17 / unit * unit;
    if (room == 0) {
        ascendsim::Fault(
            "bad_argument", Describe("DropOut: a temporary buffer of ", temporary.GetSize(),
                                     " bytes is too small; it takes at least ", unit * 17 / 8).Text());
        return;
    }
    const Run<half> wide = UbAs<half>(temporary);
    const Bits bits = Ub(temporary) + room * sizeof(half);
    for (uint32_t done = 0; done < count; done += room) {
        const uint32_t now = count - done < room ? count - done : room;
        set_vector_mask(0, now);
        vconv_u82f16(wide, bytes + done, 1, BLK, BLK, REP, HALF_REP);
        pipe_barrier(PIPE_V);
        lanes::GreaterScalar(bits, wide, half(0.0f));
        ByBits(d + done, x + done, bits, factor, now);
    }
}

template <uint32_t mode, typename T>
ASC_API void Apply(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& mask,
    const LocalTensor<uint8_t>& temporary, float keepProb, const DropOutShapeInfo& info)
{
    constexpr bool bytes = mode == DROPOUT_MODE_BYTE_MISALIGN || mode == DROPOUT_MODE_BYTE_ALIGN;
    constexpr bool padded = mode == DROPOUT_MODE_BYTE_MISALIGN || mode == DROPOUT_MODE_BIT_MISALIGN;
    const T factor = static_cast<T>(1.0f / keepProb);
    const uint32_t rowCount = padded ? info.firstAxis : 1;
    const uint32_t length = padded ? info.srcLastAxis : info.firstAxis * info.srcLastAxis;
    if (padded && (info.maskLastAxis % ONE_BLK_SIZE != 0 || info.srcLastAxis * sizeof(T) % ONE_BLK_SIZE != 0)) {
        ascendsim::Fault(
            "misaligned", Describe("DropOut: rows of ", info.srcLastAxis * sizeof(T), " bytes with a mask of ",
                                   info.maskLastAxis, " bytes do not fill blocks of 32").Text());
        return;
    }
    SetMaskLen<T>(ONE_BLK_SIZE / sizeof(T));
    LoadCmpMask<T>(static_cast<T>(0.0f));
    set_mask_count();
    for (uint32_t row = 0; row < rowCount; ++row) {
        const Run<T> d = Ub(dst) + row * info.srcLastAxis;
        const Run<T> x = Ub(src) + row * info.srcLastAxis;
        const Run<uint8_t> names = Ub(mask) + row * info.maskLastAxis;
        if constexpr (bytes) {
            ByBytes(d, x, names, factor, length, temporary);
        } else {
            ByBits(d, x, names, factor, length);
        }
    }
    EndCount();
}

}  // namespace dropout
}  // namespace detail

/// dst = mask ? src / keepProb : 0. Mode 0 tells the kind of mask by the sizes of the rows.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
ASC_API void DropOut(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& maskLocal,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const float keepProb, const DropOutShapeInfo& info)
{
    ASCENDC_CHECK_DTYPE(DropOut, T, half, float);
    static_assert(dropOutMode <= DROPOUT_MODE_BIT_MISALIGN, "DropOut: the modes are 0 to 4");
    namespace dropout = detail::dropout;
    if constexpr (dropOutMode != 0) {
        dropout::Apply<dropOutMode>(dstLocal, srcLocal, maskLocal, sharedTmpBuffer, keepProb, info);
    } else if (info.srcLastAxis < info.maskLastAxis) {
        dropout::Apply<DROPOUT_MODE_BYTE_MISALIGN>(dstLocal, srcLocal, maskLocal, sharedTmpBuffer, keepProb, info);
    } else if (info.srcLastAxis == info.maskLastAxis) {
        dropout::Apply<DROPOUT_MODE_BYTE_ALIGN>(dstLocal, srcLocal, maskLocal, sharedTmpBuffer, keepProb, info);
    } else if (info.srcLastAxis == info.maskLastAxis * ONE_BYTE_BIT_SIZE) {
        dropout::Apply<DROPOUT_MODE_BIT_ALIGN>(dstLocal, srcLocal, maskLocal, sharedTmpBuffer, keepProb, info);
    } else {
        dropout::Apply<DROPOUT_MODE_BIT_MISALIGN>(dstLocal, srcLocal, maskLocal, sharedTmpBuffer, keepProb, info);
    }
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
ASC_API void DropOut(
    const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<uint8_t>& maskLocal,
    const float keepProb, const DropOutShapeInfo& info)
{
    DropOut<T, isInitBitMode, dropOutMode>(
        dstLocal, srcLocal, maskLocal, detail::lanes::Stack(), keepProb, info);
}

/// The toolkit's bit modes compact the mask with a pattern that a kernel prepares once. Here rows are read where they are.
template <typename T>
ASC_API void DropOutBitModeInit(const LocalTensor<T>& sharedTmpBuffer)
{
    (void)sharedTmpBuffer;
}
ASC_API void DropOutBitModeInit() {}

}  // namespace AscendC

#endif
