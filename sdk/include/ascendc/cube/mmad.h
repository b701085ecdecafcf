// Matrix multiplication into L0C, and the fixpipe that empties it.
#ifndef ASCENDC_CUBE_MMAD_H
#define ASCENDC_CUBE_MMAD_H

#include "ascendc/cube/load_data.h"

namespace AscendC {
namespace detail {
template <typename T>
ASC_API __cc__ T* Accumulators(const LocalTensor<T>& tensor)
{
    return reinterpret_cast<__cc__ T*>(tensor.GetPhyAddr());
}
}  // namespace detail

template <typename T, typename U, typename S>
ASC_API void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& a, const LocalTensor<S>& b, const MmadParams& p)
{
    if constexpr (g_coreType == AIC) {
        mad(detail::Accumulators(dst), reinterpret_cast<__ca__ U*>(a.GetPhyAddr()),
            reinterpret_cast<__cb__ S*>(b.GetPhyAddr()), p.m, p.k, p.n, p.unitFlag, p.kDirectionAlign, p.cmatrixSource,
            p.cmatrixInitVal && !p.isBias);
    }
}
/// Starts from a bias for each column, in the bias table (C2).
template <typename T, typename U, typename S, typename V>
ASC_API void Mmad(
    const LocalTensor<T>& dst, const LocalTensor<U>& a, const LocalTensor<S>& b, const LocalTensor<V>& bias,
    const MmadParams& p)
{
    if constexpr (g_coreType == AIC) {
        const bool inTable = detail::MemoryOf(bias) == Hardware::BIAS;
        mad(detail::Accumulators(dst), reinterpret_cast<__ca__ U*>(a.GetPhyAddr()),
            reinterpret_cast<__cb__ S*>(b.GetPhyAddr()), bias.GetPhyAddr(), p.m, p.k, p.n, p.unitFlag,
            p.kDirectionAlign, inTable, false);
    }
}

// ---- fixpipe ------------------------------------------------------------------------------------------------------------
ASC_API void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride)
{
    if constexpr (g_coreType == AIC) {
        set_nd_para(uint64_t(ndNum) | uint64_t(srcNdStride) << 16 | uint64_t(dstNdStride) << 32);
    }
}
ASC_API void SetFixpipePreQuantFlag(uint64_t config)
{
    if constexpr (g_coreType == AIC) {
        set_quant_pre(config);
    }
}
/// Factors in the fixpipe buffer (C2PIPE2GM): for the activation, or for quantisation.
template <typename T, bool setRelu = false>
ASC_API void SetFixPipeConfig(const LocalTensor<T>& factors, bool isUnitFlag = false)
{
    if constexpr (g_coreType == AIC) {
        const uint64_t at = factors.address_.bufferAddr;
        set_fpc((setRelu ? at >> 6 : (at >> 7) << 8) | uint64_t(isUnitFlag) << 63);
    }
}
template <typename T>
ASC_API void SetFixPipeConfig(const LocalTensor<T>& relu, const LocalTensor<T>& quant, bool isUnitFlag = false)
{
    if constexpr (g_coreType == AIC) {
        set_fpc(
            uint64_t(relu.address_.bufferAddr) >> 6 | (uint64_t(quant.address_.bufferAddr) >> 7) << 8
            | uint64_t(isUnitFlag) << 63);
    }
}

namespace detail {
constexpr bool TakesOneFactor(QuantMode_t mode)
{
    return mode == DEQF16 || mode == QF322B8_PRE || mode == REQ8;
}
constexpr bool TakesFactors(QuantMode_t mode)
{
    return mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8;
}

template <bool toGm, typename T, typename U>
ASC_API void Drain(T* to, const LocalTensor<U>& src, const FixpipeParamsV220& p, bool rowMajor)
{
    const uint32_t columns = p.isChannelSplit ? 8 : BLOCK_CUBE;
    if (!rowMajor && p.nSize % columns != 0) {
        ascendsim::Fault(
            "bad_argument", Describe("Fixpipe: ", p.nSize, " columns as fractals, which have ", columns, " each").Text());
    }
    if (TakesOneFactor(p.quantPre)) {
        SetFixpipePreQuantFlag(p.deqScalar);
    }
    if (rowMajor) {
        SetFixpipeNz2ndFlag(p.ndNum, p.srcNdStride, p.dstNdStride);
    }
    if constexpr (toGm) {
        copy_matrix_cc_to_gm(
            to, Accumulators(src), 0, p.nSize, p.mSize, p.dstStride, p.srcStride, p.unitFlag, p.quantPre,
            static_cast<uint8_t>(p.reluEn), p.isChannelSplit, rowMajor);
    } else {
        copy_matrix_cc_to_cbuf(
            to, Accumulators(src), 0, p.nSize, p.mSize, p.dstStride, p.srcStride, p.unitFlag, p.quantPre,
            static_cast<uint8_t>(p.reluEn), p.isChannelSplit, rowMajor);
    }
}

/// Factors of the columns from L1 into the fixpipe buffer.
template <typename S>
ASC_API void LoadFactors(const LocalTensor<S>& factors, uint16_t columns)
{
    const uint16_t units = static_cast<uint16_t>((columns * sizeof(uint64_t) + 127) / 128);
    copy_cbuf_to_fbuf(
        ascendsim::OnChipBase(7), reinterpret_cast<__cbuf__ void*>(factors.GetPhyAddr()), 1, units, 0, 0);
    set_fpc(0);
    pipe_barrier(PIPE_FIX);
}
}  // namespace detail

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
ASC_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p)
{
    if constexpr (g_coreType == AIC) {
        const detail::L2Hint hint(dst.BypassesL2(CacheRwMode::WRITE));
        detail::Drain<true>(dst.GetPhyAddr(0), src, p, config.format == CO2Layout::ROW_MAJOR);
    }
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR, typename S = uint64_t>
ASC_API void Fixpipe(
    const GlobalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<S>& factors, const FixpipeParamsV220& p)
{
    if constexpr (g_coreType == AIC) {
        if (detail::TakesFactors(p.quantPre)) {
            detail::LoadFactors(factors, p.nSize);
        }
        Fixpipe<T, U, config>(dst, src, p);
    }
}
/// To L1, as columns of blocks.
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
ASC_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p)
{
    if constexpr (g_coreType == AIC) {
        detail::Drain<false>(reinterpret_cast<__cbuf__ T*>(dst.GetPhyAddr()), src, p, false);
    }
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR, typename S = uint64_t>
ASC_API void Fixpipe(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<S>& factors, const FixpipeParamsV220& p)
{
    if constexpr (g_coreType == AIC) {
        if (detail::TakesFactors(p.quantPre)) {
            detail::LoadFactors(factors, p.nSize);
        }
        Fixpipe<T, U, config>(dst, src, p);
    }
}

namespace detail {
template <typename T, typename U>
ASC_API FixpipeParamsV220 FromBursts(const FixpipeParams<U>& p)
{
    const uint16_t rows = static_cast<uint16_t>(p.burstLen * ONE_BLK_SIZE / sizeof(float) / BLOCK_CUBE);
    FixpipeParamsV220 f;
    f.nSize = static_cast<uint16_t>(p.nz2ndParams.nz2ndEn ? p.nz2ndParams.originalNSize : p.cburstNum * BLOCK_CUBE);
    f.mSize = rows;
    f.srcStride = static_cast<uint16_t>(p.srcStride * BLOCK_CUBE + (rows + BLOCK_CUBE - 1) / BLOCK_CUBE * BLOCK_CUBE);
    f.dstStride = p.nz2ndParams.nz2ndEn
        ? p.dstStride
        : p.dstStride + p.burstLen * static_cast<uint32_t>(sizeof(T)) / static_cast<uint32_t>(sizeof(float));
    f.quantPre = p.quantParams.quantPre;
    f.deqScalar = p.quantParams.deqScalar;
    f.reluEn = p.reluEn;
    f.ndNum = p.nz2ndParams.ndNum;
    f.srcNdStride = p.nz2ndParams.srcNdStride;
    f.dstNdStride = p.nz2ndParams.dstNdStride;
    f.unitFlag = p.unitFlag;
    return f;
}
}  // namespace detail
template <typename T, typename U>
ASC_API void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& p)
{
    if (p.nz2ndParams.nz2ndEn) {
        Fixpipe<T, U, CFG_ROW_MAJOR>(dst, src, detail::FromBursts<T>(p));
    } else {
        Fixpipe<T, U, CFG_NZ>(dst, src, detail::FromBursts<T>(p));
    }
}
template <typename T, typename U>
ASC_API void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& p)
{
    Fixpipe<T, U, CFG_NZ>(dst, src, detail::FromBursts<T>(p));
}
template <typename T, typename U, typename S>
ASC_API void Fixpipe(
    const GlobalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<S>& factors, const FixpipeParams<U>& p)
{
    if (p.nz2ndParams.nz2ndEn) {
        Fixpipe<T, U, CFG_ROW_MAJOR>(dst, src, factors, detail::FromBursts<T>(p));
    } else {
        Fixpipe<T, U, CFG_NZ>(dst, src, factors, detail::FromBursts<T>(p));
    }
}
template <typename T, typename U, typename S>
ASC_API void Fixpipe(
    const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<S>& factors, const FixpipeParams<U>& p)
{
    Fixpipe<T, U, CFG_NZ>(dst, src, factors, detail::FromBursts<T>(p));
}

/// The same by its older name; what row-major results and factors need has been set before.
template <typename T, typename U>
ASC_API void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& p)
{
    if constexpr (g_coreType == AIC) {
        const detail::L2Hint hint(dst.BypassesL2(CacheRwMode::WRITE));
        copy_matrix_cc_to_gm(
            dst.GetPhyAddr(0), detail::Accumulators(src), p.sid, p.nSize, p.mSize, p.dstStride, p.srcStride, p.unitFlag,
            p.quantPre, p.reluPre, p.channelSplit, p.nz2ndEn);
    }
}
template <typename T, typename U>
ASC_API void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& p)
{
    if constexpr (g_coreType == AIC) {
        copy_matrix_cc_to_cbuf(
            reinterpret_cast<__cbuf__ T*>(dst.GetPhyAddr()), detail::Accumulators(src), p.sid, p.nSize, p.mSize,
            p.dstStride, p.srcStride, p.unitFlag, p.quantPre, p.reluPre, p.channelSplit, p.nz2ndEn);
    }
}

// ---- modes of the matrix unit --------------------------------------------------------------------------------------------
namespace detail {
constexpr uint64_t CTRL_HF32 = 46;
constexpr uint64_t CTRL_HF32_TOWARDS_ZERO = 47;
ASC_API void SetControlBit(uint64_t bit, bool on)
{
    const uint64_t word = static_cast<uint64_t>(get_ctrl());
    set_ctrl(on ? word | uint64_t{1} << bit : word & ~(uint64_t{1} << bit));
}
}  // namespace detail
/// Whether floats are rounded to HF32 before they are multiplied, and how.
ASC_API void SetHF32Mode(bool enable) { detail::SetControlBit(detail::CTRL_HF32, enable); }
ASC_API void SetHF32Mode(HF32Mode mode) { SetHF32Mode(mode == HF32Mode::ENABLE); }
ASC_API void SetHF32TransMode(bool towardsZero) { detail::SetControlBit(detail::CTRL_HF32_TOWARDS_ZERO, towardsZero); }
ASC_API void SetHF32TransMode(HF32TransMode mode) { SetHF32TransMode(mode == HF32TransMode::NEAREST_ZERO); }
/// The order in which the unit walks through C; it changes timing, not results.
ASC_API void SetMMLayoutTransform(bool columnFirst) { (void)columnFirst; }
ASC_API void SetMMRowMajor() {}
ASC_API void SetMMColumnMajor() {}
}  // namespace AscendC

#endif
