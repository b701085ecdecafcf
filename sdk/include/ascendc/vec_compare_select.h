// Comparisons, which give one bit per element, and selections by such bits.
#ifndef ASCENDC_VEC_COMPARE_SELECT_H
#define ASCENDC_VEC_COMPARE_SELECT_H

#include "ascendc/vec_duplicate.h"

namespace AscendC {

namespace detail {

template <typename T>
ASC_API void CompareInstr(
    __ubuf__ uint8_t* dst, __ubuf__ T* src0, __ubuf__ T* src1, CMPMODE mode, uint8_t repeat,
    const BinaryRepeatParams& p)
{
#define ASCENDC_COMPARE(rel)                                                                                        \
    vcmpv_##rel(dst, src0, src1, repeat, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride,          \
                p.src0RepStride, p.src1RepStride)
    if constexpr (std::is_same<T, int32_t>::value) {
        if (mode != CMPMODE::EQ) {
            ascendsim::Fault("dtype_unsupported", "Compare: int32_t has the mode EQ only on NPU architecture 2201");
            return;
        }
        ASCENDC_COMPARE(eq);
    } else {
        switch (mode) {
            case CMPMODE::LT: ASCENDC_COMPARE(lt); return;
            case CMPMODE::GT: ASCENDC_COMPARE(gt); return;
            case CMPMODE::EQ: ASCENDC_COMPARE(eq); return;
            case CMPMODE::LE: ASCENDC_COMPARE(le); return;
            case CMPMODE::GE: ASCENDC_COMPARE(ge); return;
            case CMPMODE::NE: ASCENDC_COMPARE(ne); return;
        }
    }
#undef ASCENDC_COMPARE
}

template <typename T>
ASC_API void CompareMaskInstr(__ubuf__ T* src0, __ubuf__ T* src1, CMPMODE mode, const BinaryRepeatParams& p)
{
#define ASCENDC_COMPARE(rel)                                                                                       \
    vcmp_##rel(src0, src1, 1, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride, p.src0RepStride,   \
               p.src1RepStride)
    switch (mode) {
        case CMPMODE::LT: ASCENDC_COMPARE(lt); return;
        case CMPMODE::GT: ASCENDC_COMPARE(gt); return;
        case CMPMODE::EQ: ASCENDC_COMPARE(eq); return;
        case CMPMODE::LE: ASCENDC_COMPARE(le); return;
        case CMPMODE::GE: ASCENDC_COMPARE(ge); return;
        case CMPMODE::NE: ASCENDC_COMPARE(ne); return;
    }
#undef ASCENDC_COMPARE
}

template <typename T>
ASC_API void CompareScalarInstr(
    __ubuf__ uint8_t* dst, __ubuf__ T* src, T value, CMPMODE mode, uint8_t repeat, const UnaryRepeatParams& p)
{
#define ASCENDC_COMPARE(rel) \
    vcmpvs_##rel(dst, src, value, repeat, p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride)
    if constexpr (std::is_same<T, int32_t>::value) {
        if (mode != CMPMODE::EQ) {
            ascendsim::Fault(
                "dtype_unsupported", "CompareScalar: int32_t has the mode EQ only on NPU architecture 2201");
            return;
        }
        ASCENDC_COMPARE(eq);
    } else {
        switch (mode) {
            case CMPMODE::LT: ASCENDC_COMPARE(lt); return;
            case CMPMODE::GT: ASCENDC_COMPARE(gt); return;
            case CMPMODE::EQ: ASCENDC_COMPARE(eq); return;
            case CMPMODE::LE: ASCENDC_COMPARE(le); return;
            case CMPMODE::GE: ASCENDC_COMPARE(ge); return;
            case CMPMODE::NE: ASCENDC_COMPARE(ne); return;
        }
    }
#undef ASCENDC_COMPARE
}

// Comparisons by count run over whole repeats, at most 252 at a time so that result blocks stay aligned.
constexpr uint32_t COMPARE_REPEATS = 252;

template <typename T>
ASC_API uint32_t WholeRepeats(const char* api, uint32_t count)
{
    const uint64_t bytes = uint64_t(count) * sizeof(T);
    if (bytes % ONE_REPEAT_BYTE_SIZE != 0) {
        FaultText text;
        text << api << ": " << bytes << " bytes are not a multiple of 256; the last "
             << (bytes % ONE_REPEAT_BYTE_SIZE) / sizeof(T) << " elements are not compared";
        ascendsim::Fault("misaligned", text.Text());
    }
    return static_cast<uint32_t>(bytes / ONE_REPEAT_BYTE_SIZE);
}

}  // namespace detail

// The results of comparisons and the masks of selections are bits, whatever the dtype of the tensor that holds them.
#define ASCENDC_CHECK_COMPARE(API) ASCENDC_CHECK_DTYPE(API, T, half, float, int32_t)

template <typename T, typename U, bool isSetMask = true>
ASC_API void Compare(
    const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
    const uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_COMPARE(Compare);
    (void)mask;  // a comparison to memory covers all lanes
    detail::CompareInstr(
        detail::UbAs<uint8_t>(dst), detail::Ub(src0), detail::Ub(src1), cmpMode, repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Compare(
    const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
    const uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_COMPARE(Compare);
    (void)mask;
    detail::CompareInstr(
        detail::UbAs<uint8_t>(dst), detail::Ub(src0), detail::Ub(src1), cmpMode, repeatTime, repeatParams);
}
/// One repeat; the result stays in the comparison mask register.
template <typename T, bool isSetMask = true>
ASC_API void Compare(
    const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
    const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Compare, T, half, float);
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    detail::CompareMaskInstr(detail::Ub(src0), detail::Ub(src1), cmpMode, repeatParams);
}
template <typename T, bool isSetMask = true>
ASC_API void Compare(
    const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
    const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Compare, T, half, float);
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    detail::CompareMaskInstr(detail::Ub(src0), detail::Ub(src1), cmpMode, repeatParams);
}
template <typename T, typename U>
ASC_API void Compare(
    const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
    uint32_t count)
{
    ASCENDC_CHECK_COMPARE(Compare);
    constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);
    const uint32_t repeats = detail::WholeRepeats<T>("Compare", count);
    for (uint32_t done = 0; done < repeats; done += detail::COMPARE_REPEATS) {
        const uint32_t now = repeats - done < detail::COMPARE_REPEATS ? repeats - done : detail::COMPARE_REPEATS;
        detail::CompareInstr(
            detail::UbAs<uint8_t>(dst) + done * lanes / 8, detail::Ub(src0) + done * lanes,
            detail::Ub(src1) + done * lanes, cmpMode, static_cast<uint8_t>(now), BinaryRepeatParams());
    }
}

#define ASCENDC_COMPARE_SCALAR(Name)                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                      \
    ASC_API void Name(                                                                                            \
        const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,               \
        const uint64_t mask[], uint8_t repeatTime, const UnaryRepeatParams& repeatParams)                         \
    {                                                                                                             \
        ASCENDC_CHECK_COMPARE(Name);                                                                              \
        (void)mask;                                                                                               \
        detail::CompareScalarInstr(                                                                               \
            detail::UbAs<uint8_t>(dst), detail::Ub(src0), src1Scalar, cmpMode, repeatTime, repeatParams);         \
    }                                                                                                             \
    template <typename T, typename U, bool isSetMask = true>                                                      \
    ASC_API void Name(                                                                                            \
        const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,               \
        const uint64_t mask, uint8_t repeatTime, const UnaryRepeatParams& repeatParams)                           \
    {                                                                                                             \
        ASCENDC_CHECK_COMPARE(Name);                                                                              \
        (void)mask;                                                                                               \
        detail::CompareScalarInstr(                                                                               \
            detail::UbAs<uint8_t>(dst), detail::Ub(src0), src1Scalar, cmpMode, repeatTime, repeatParams);         \
    }                                                                                                             \
    template <typename T, typename U>                                                                             \
    ASC_API void Name(                                                                                            \
        const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar, CMPMODE cmpMode,               \
        uint32_t count)                                                                                           \
    {                                                                                                             \
        ASCENDC_CHECK_COMPARE(Name);                                                                              \
        constexpr uint32_t lanes = ONE_REPEAT_BYTE_SIZE / sizeof(T);                                              \
        const uint32_t repeats = detail::WholeRepeats<T>(#Name, count);                                           \
        for (uint32_t done = 0; done < repeats; done += detail::COMPARE_REPEATS) {                                \
            const uint32_t now =                                                                                  \
                repeats - done < detail::COMPARE_REPEATS ? repeats - done : detail::COMPARE_REPEATS;              \
            detail::CompareScalarInstr(                                                                           \
                detail::UbAs<uint8_t>(dst) + done * lanes / 8, detail::Ub(src0) + done * lanes, src1Scalar,       \
                cmpMode, static_cast<uint8_t>(now), UnaryRepeatParams());                                         \
        }                                                                                                         \
    }
ASCENDC_COMPARE_SCALAR(CompareScalar)
ASCENDC_COMPARE_SCALAR(Compares)
#undef ASCENDC_COMPARE_SCALAR
#undef ASCENDC_CHECK_COMPARE

template <typename T>
ASC_API void GetCmpMask(const LocalTensor<T>& dst)
{
    get_cmpmask(detail::Ub(dst));
}
template <typename T>
ASC_API void SetCmpMask(const LocalTensor<T>& src)
{
    set_cmpmask(detail::Ub(src));
}

namespace detail {

/// Puts a 32-bit or 16-bit value into the comparison mask register by way of scratch memory.
template <typename T>
ASC_API void LoadCmpMask(T value)
{
    DuplicateInstr(UbScratch<T>(), value, 1, DEFAULT_BLK_STRIDE, DEFAULT_REPEAT_STRIDE);
    PipeBarrier<PIPE_V>();
    set_cmpmask(UbScratch<T>());
    ascendsim::LoadedCmpMask(&value, sizeof(value));
    PipeBarrier<PIPE_V>();
}
/// Offset in UB by which the two-tensor mode finds its selection bits.
template <typename U>
ASC_API uint32_t UbOffset(const LocalTensor<U>& tensor)
{
    return tensor.address_.bufferAddr;
}

template <typename T, typename U>
ASC_API void SelectTensors(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
    SELMODE selMode, uint8_t repeat, const BinaryRepeatParams& p)
{
    (void)selMask;
    if (selMode == SELMODE::VSEL_CMPMASK_SPR) {
        vsel(Ub(dst), Ub(src0), Ub(src1), repeat, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride,
             p.src0RepStride, p.src1RepStride);
    } else if (selMode == SELMODE::VSEL_TENSOR_TENSOR_MODE) {
        vsel(Ub(dst), Ub(src0), static_cast<__ubuf__ void*>(Ub(src1)), repeat, p.dstBlkStride, p.src0BlkStride,
             p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride, static_cast<uint8_t>(selMode));
    } else {
        ascendsim::Fault("bad_argument", "Select: VSEL_TENSOR_SCALAR_MODE takes a scalar as the second source");
    }
}

template <typename U>
ASC_API void PrepareSelection(const LocalTensor<U>& selMask, SELMODE selMode, bool counter)
{
    if (selMode == SELMODE::VSEL_CMPMASK_SPR) {
        set_cmpmask(Ub(selMask));
        PipeBarrier<PIPE_V>();
    } else if (selMode == SELMODE::VSEL_TENSOR_TENSOR_MODE) {
        if (counter) {
            set_vector_mask(0, ONE_BLK_SIZE);
        } else {
            SetMaskLen<uint32_t>(ONE_BLK_SIZE);
        }
        LoadCmpMask<uint32_t>(UbOffset(selMask));
    }
}

template <typename T, typename U>
ASC_API void SelectScalar(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, SELMODE selMode,
    uint8_t repeat, const BinaryRepeatParams& p)
{
    if (selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        ascendsim::Fault("bad_argument", "Select: a scalar second source needs VSEL_TENSOR_SCALAR_MODE");
        return;
    }
    vsel(Ub(dst), Ub(src0), static_cast<__ubuf__ void*>(Ub(selMask)), repeat, p.dstBlkStride, p.src0BlkStride,
         p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride, static_cast<uint8_t>(selMode));
}

}  // namespace detail

#define ASCENDC_CHECK_SELECT ASCENDC_CHECK_DTYPE(Select, T, half, float)

template <typename T, typename U, bool isSetMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
    SELMODE selMode, uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_SELECT;
    detail::PrepareSelection(selMask, selMode, false);
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    detail::SelectTensors(dst, selMask, src0, src1, selMode, repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
    SELMODE selMode, uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_SELECT;
    detail::PrepareSelection(selMask, selMode, false);
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    detail::SelectTensors(dst, selMask, src0, src1, selMode, repeatTime, repeatParams);
}
template <typename T, typename U>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
    SELMODE selMode, uint32_t count)
{
    ASCENDC_CHECK_SELECT;
    set_mask_count();
    detail::PrepareSelection(selMask, selMode, true);
    set_vector_mask(0, count);
    detail::SelectTensors(dst, selMask, src0, src1, selMode, 1, BinaryRepeatParams());
    PipeBarrier<PIPE_V>();
    detail::EndCountMaskFirst();
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
    uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_SELECT;
    detail::SetMaskLen<T>(ONE_BLK_SIZE);
    detail::LoadCmpMask<T>(src1);
    detail::SetMask<T, isSetMask>(mask[1], mask[0]);
    detail::SelectScalar(dst, selMask, src0, selMode, repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
    uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_SELECT;
    detail::SetMaskLen<T>(ONE_BLK_SIZE);
    detail::LoadCmpMask<T>(src1);
    detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));
    detail::SelectScalar(dst, selMask, src0, selMode, repeatTime, repeatParams);
}
template <typename T, typename U>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, T src1, SELMODE selMode,
    uint32_t count)
{
    ASCENDC_CHECK_SELECT;
    set_mask_count();
    set_vector_mask(0, ONE_BLK_SIZE);
    detail::LoadCmpMask<T>(src1);
    set_vector_mask(0, count);
    detail::SelectScalar(dst, selMask, src0, selMode, 1, BinaryRepeatParams());
    detail::EndCountMaskFirst();
}
#undef ASCENDC_CHECK_SELECT

/// Selection with the mask and the comparison mask register as they are.
template <typename T, SELMODE selMode>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint8_t repeatTime,
    const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Select, T, half, float);
    detail::SelectTensors(dst, src1, src0, src1, selMode, repeatTime, repeatParams);
}
template <typename T, typename U>
ASC_API void Select(
    const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, uint8_t repeatTime,
    const BinaryRepeatParams& repeatParams)
{
    ASCENDC_CHECK_DTYPE(Select, T, half, float);
    detail::SelectScalar(dst, selMask, src0, SELMODE::VSEL_TENSOR_SCALAR_MODE, repeatTime, repeatParams);
}

}  // namespace AscendC

#endif
