// Names of the toolkit's library internals that kernels call although they are not part of its interface: the
// functions behind the tensor functions, which take addresses.
#ifndef ASCENDC_UTILS_H
#define ASCENDC_UTILS_H

#include "ascendc/data_copy.h"
#include "ascendc/transpose.h"
#include "ascendc/vec_duplicate.h"

namespace AscendC {

/// How a count divides into repeats of at most MAX_REPEAT_TIMES.
struct IntriInfo {
    uint32_t c0Count = 0;
    uint32_t repeat = 0;
    uint32_t repeatRounding = 0;
    uint32_t repeatRemaining = 0;
    uint32_t tail = 0;
};

class AscendCUtils {
public:
    ASC_API static int32_t GetBitSize(int32_t byteSize) { return byteSize * ONE_BYTE_BIT_SIZE; }
    ASC_API static int32_t GetC0Size() { return DEFAULT_C0_SIZE; }
    ASC_API static int32_t GetC0Count(const int32_t dtypeSize) { return DEFAULT_C0_SIZE / dtypeSize; }
    ASC_API static int32_t GetDefaultBlockNum() { return DEFAULT_BLK_NUM; }
    ASC_API static int64_t GetRsvdCnt() { return get_rsvd_cnt(); }

    template <typename T, bool isSetMask = true>
    ASC_API static void SetMask(const uint64_t& maskHigh, const uint64_t& maskLow)
    {
        detail::SetMask<T, isSetMask>(maskHigh, maskLow);
    }
    template <typename T, bool isSetMask = true>
    ASC_API static void SetMask(int32_t len)
    {
        detail::SetMask<T, isSetMask>(len);
    }
    template <typename T>
    ASC_API static void SetMaskCount()
    {
        set_mask_count();
    }
    template <typename T>
    ASC_API static void SetMaskNorm()
    {
        set_mask_norm();
    }
    template <bool isSetMask = true>
    ASC_API static void ResetMask()
    {
        if constexpr (isSetMask) {
            set_vector_mask(FULL_MASK, FULL_MASK);
        }
    }
    /// 1: infinities and NaNs are results; 0: results saturate.
    ASC_API static void SetOverflow(uint64_t ctrlValue)
    {
        constexpr int64_t overflowBit = 48;
        const uint64_t ctrl = static_cast<uint64_t>(get_ctrl());
        set_ctrl(ctrlValue == 1 ? sbitset1(ctrl, overflowBit) : sbitset0(ctrl, overflowBit));
    }
    template <bool isInt4 = false>
    ASC_API static IntriInfo CalIntriInfo(
        const uint32_t dtypeSize, const uint32_t count, uint32_t repStride = DEFAULT_BLK_NUM)
    {
        IntriInfo info;
        info.c0Count = isInt4 ? DEFAULT_C0_SIZE * INT4_TWO : DEFAULT_C0_SIZE / dtypeSize;
        const uint32_t perRepeat = repStride * info.c0Count;
        info.repeat = count / perRepeat;
        info.tail = count % perRepeat;
        info.repeatRounding = info.repeat / MAX_REPEAT_TIMES;
        info.repeatRemaining = info.repeat % MAX_REPEAT_TIMES;
        return info;
    }
    template <typename T>
    ASC_API static __ubuf__ T* GetTemporaryBufferAddr(const int32_t bufferOffset, const int32_t bufferSize)
    {
        (void)bufferSize;
        return reinterpret_cast<__ubuf__ T*>(ascendsim::UbBase() + bufferOffset);
    }
    template <typename T>
    ASC_API static void FreeTemporaryBuffer(__ubuf__ T* addr)
    {
        (void)addr;
    }
};

namespace detail {
/// Tensors over raw addresses, so that the functions below are the tensor functions.
template <typename T>
ASC_API LocalTensor<T> LocalAt(const __ubuf__ T* address)
{
    const uint64_t offset = reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(ascendsim::UbBase());
    return LocalTensor<T>(TPosition::VECCALC, static_cast<uint32_t>(offset), 0);
}
template <typename T>
ASC_API GlobalTensor<T> GlobalAt(const __gm__ T* address)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(const_cast<__gm__ T*>(address));
    return tensor;
}
}  // namespace detail

template <typename T>
ASC_API void DataCopyGM2UBImpl(__ubuf__ T* dst, __gm__ T* src, const DataCopyParams& intriParams)
{
    DataCopy(detail::LocalAt(dst), detail::GlobalAt(src), intriParams);
}
template <typename T>
ASC_API void DataCopyUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& intriParams)
{
    DataCopy(detail::GlobalAt(dst), detail::LocalAt(src), intriParams);
}
template <typename T>
ASC_API void DataCopyUB2UBIntf(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& intriParams)
{
    DataCopy(dst, src, intriParams);
}
template <typename T>
ASC_API void DataCopyPadGm2UBImpl(
    __ubuf__ T* dst, __gm__ T* src, const DataCopyParams& intriParams, const DataCopyPadParams& padParams)
{
    DataCopyPad(detail::LocalAt(dst), detail::GlobalAt(src), intriParams, padParams);
}
template <typename T>
ASC_API void DataCopyPadGm2UBImpl(
    __ubuf__ T* dst, __gm__ T* src, const DataCopyExtParams& intriParams, const DataCopyPadExtParams<T>& padParams)
{
    DataCopyPad(detail::LocalAt(dst), detail::GlobalAt(src), intriParams, padParams);
}
template <typename T>
ASC_API void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyParams& intriParams)
{
    DataCopyPad(detail::GlobalAt(dst), detail::LocalAt(src), intriParams);
}
template <typename T>
ASC_API void DataCopyPadUB2GMImpl(__gm__ T* dst, __ubuf__ T* src, const DataCopyExtParams& intriParams)
{
    DataCopyPad(detail::GlobalAt(dst), detail::LocalAt(src), intriParams);
}

template <typename T>
ASC_API void TransDataTo5HDImpl(
    uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
    const TransDataTo5HDParams& params)
{
    TransDataTo5HD<T>(dstList, srcList, params);
}
template <typename T>
ASC_API void TransDataTo5HDImpl(
    __ubuf__ T* dstList[NCHW_CONV_ADDR_LIST_SIZE], __ubuf__ T* srcList[NCHW_CONV_ADDR_LIST_SIZE],
    const TransDataTo5HDParams& params)
{
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
    uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
        src[i] = reinterpret_cast<uint64_t>(srcList[i]);
    }
    TransDataTo5HD<T>(dst, src, params);
}

template <typename T, bool isSetMask = true>
ASC_API void DuplicateImpl(
    __ubuf__ T* dst, const T& scalarValue, uint64_t mask, const uint8_t repeatTime, const uint16_t dstBlockStride,
    const uint8_t dstRepeatStride)
{
    Duplicate<T, isSetMask>(detail::LocalAt(dst), scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride);
}
template <typename T, bool isSetMask = true>
ASC_API void DuplicateImpl(
    __ubuf__ T* dst, const T& scalarValue, uint64_t mask[], const uint8_t repeatTime, const uint16_t dstBlockStride,
    const uint8_t dstRepeatStride)
{
    Duplicate<T, isSetMask>(detail::LocalAt(dst), scalarValue, mask, repeatTime, dstBlockStride, dstRepeatStride);
}
template <typename T>
ASC_API void DuplicateImpl(__ubuf__ T* dst, const T& scalarValue, const int32_t& count)
{
    Duplicate(detail::LocalAt(dst), scalarValue, count);
}

// The bare instructions, with the mask as it is.
#define ASCENDC_REDUCE_INTRINSIC(Name, instr)                                                             \
    template <typename T>                                                                                 \
    ASC_API void Name(                                                                                    \
        __ubuf__ T* dst, __ubuf__ T* src, const int32_t repeatTime, const int32_t dstRepStride,           \
        const int32_t srcBlkStride, const int32_t srcRepStride)                                           \
    {                                                                                                     \
        instr(dst, src, static_cast<uint8_t>(repeatTime), static_cast<uint16_t>(dstRepStride),            \
              static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride));                  \
    }
ASCENDC_REDUCE_INTRINSIC(BlockReduceSumIntrinsicsImpl, vcgadd)
ASCENDC_REDUCE_INTRINSIC(BlockReduceMaxIntrinsicsImpl, vcgmax)
ASCENDC_REDUCE_INTRINSIC(BlockReduceMinIntrinsicsImpl, vcgmin)
ASCENDC_REDUCE_INTRINSIC(PairReduceSumIntrinsicsImpl, vcpadd)
#undef ASCENDC_REDUCE_INTRINSIC

}  // namespace AscendC

#endif
