// Transposition of small matrices in the Unified Buffer.
#ifndef ASCENDC_TRANSPOSE_H
#define ASCENDC_TRANSPOSE_H

#include "ascendc/params.h"
#include "ascendc/sync.h"

namespace AscendC {

/// 16 x 16 elements of 16 bits.
template <typename T>
ASC_API void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src)
{
    ASCENDC_CHECK_DTYPE(Transpose, T, int16_t, uint16_t, half);
    vtranspose(detail::UbAs<uint16_t>(dst), detail::UbAs<uint16_t>(src));
}

namespace detail {
template <typename T>
ASC_API void TransposeInstr(const TransDataTo5HDParams& p)
{
    if constexpr (sizeof(T) == 1) {
        scatter_vnchwconv_b8(VA0, VA2, p.repeatTimes, p.dstRepStride, p.srcRepStride, p.dstHighHalf, p.srcHighHalf);
    } else if constexpr (sizeof(T) == 2) {
        scatter_vnchwconv_b16(VA0, VA2, p.repeatTimes, p.dstRepStride, p.srcRepStride);
    } else {
        scatter_vnchwconv_b32(VA0, VA2, p.repeatTimes, p.dstRepStride, p.srcRepStride);
    }
}
}  // namespace detail

#define ASCENDC_CHECK_5HD \
    ASCENDC_CHECK_DTYPE(TransDataTo5HD, T, int8_t, uint8_t, int16_t, uint16_t, half, float, int32_t, uint32_t)

/// Transposes what sixteen source addresses point at to sixteen destination addresses.
template <typename T>
ASC_API void TransDataTo5HD(
    uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
    const TransDataTo5HDParams& nchwconvParams)
{
    ASCENDC_CHECK_5HD;
    set_va_reg_sb(VA0, dstList);
    set_va_reg_sb(VA1, dstList + VA_REG_ARRAY_LEN);
    set_va_reg_sb(VA2, srcList);
    set_va_reg_sb(VA3, srcList + VA_REG_ARRAY_LEN);
    detail::TransposeInstr<T>(nchwconvParams);
}
template <typename T>
ASC_API void TransDataTo5HD(
    const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
    const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& nchwconvParams)
{
    uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
    uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
    for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
        dst[i] = dstList[i].GetPhyAddr();
        src[i] = srcList[i].GetPhyAddr();
    }
    TransDataTo5HD<T>(dst, src, nchwconvParams);
}
/// The addresses come from tensors in the Unified Buffer.
template <typename T>
ASC_API void TransDataTo5HD(
    const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src, const TransDataTo5HDParams& nchwconvParams)
{
    ASCENDC_CHECK_5HD;
    vld_va_reg(VA0, detail::Ub(dst), L128);
    vld_va_reg(VA1, detail::Ub(dst), H128);
    vld_va_reg(VA2, detail::Ub(src), L128);
    vld_va_reg(VA3, detail::Ub(src), H128);
    detail::TransposeInstr<T>(nchwconvParams);
}
#undef ASCENDC_CHECK_5HD

}  // namespace AscendC

#endif
