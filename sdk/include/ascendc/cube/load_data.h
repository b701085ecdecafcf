// Movements of the cube core towards the matrix unit: global memory to L1, L1 to L0A and L0B, constants.
#ifndef ASCENDC_CUBE_LOAD_DATA_H
#define ASCENDC_CUBE_LOAD_DATA_H

#include "ascendc/cube/params.h"
#include "ascendc/data_copy.h"

namespace AscendC {
namespace detail {

/// Integers of sixteen bits move like halves.
template <typename T>
using MovedAs = std::conditional_t<std::is_same<T, int16_t>::value || std::is_same<T, uint16_t>::value, half, T>;

template <typename T>
ASC_API __cbuf__ MovedAs<T>* Local(const LocalTensor<T>& tensor)
{
    return reinterpret_cast<__cbuf__ MovedAs<T>*>(tensor.GetPhyAddr());
}
ASC_API void NoSuchPlace(const char* message) { ascendsim::Fault("unsupported", message); }

}  // namespace detail

// ---- global memory to L1 ------------------------------------------------------------------------------------------
/// Row-major matrices become columns of blocks; what is missing in the last block of a row becomes zero.
template <typename T>
ASC_API void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& p)
{
    if constexpr (g_coreType == AIC) {
        const detail::L2Hint hint(src.BypassesL2(CacheRwMode::READ));
        auto* from = const_cast<__gm__ T*>(src.GetPhyAddr());
        auto* to = reinterpret_cast<__cbuf__ T*>(dst.GetPhyAddr());
        if constexpr (sizeof(T) == 1) {
            copy_gm_to_cbuf_multi_nd2nz_b8(
                reinterpret_cast<int8_t*>(to), reinterpret_cast<int8_t*>(from), 0, p.ndNum, p.nValue, p.dValue,
                p.srcNdMatrixStride, p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride);
        } else if constexpr (sizeof(T) == 2) {
            copy_gm_to_cbuf_multi_nd2nz_b16(
                to, from, 0, p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride, p.srcDValue, p.dstNzC0Stride,
                p.dstNzNStride, p.dstNzMatrixStride);
        } else {
            static_assert(sizeof(T) == 4, "DataCopy with Nd2NzParams: elements must have 1, 2 or 4 bytes");
            copy_gm_to_cbuf_multi_nd2nz_b32s(
                to, from, 0, p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride, p.srcDValue, p.dstNzC0Stride,
                p.dstNzNStride, p.dstNzMatrixStride);
        }
    } else {
        detail::NoSuchPlace("DataCopy with Nd2NzParams: a vector core has no L1");
    }
}

// ---- fractals to L0A and L0B ------------------------------------------------------------------------------------------
template <typename T>
ASC_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p)
{
    if constexpr (g_coreType == AIC) {
        auto* to = detail::Local(dst);
        auto* from = detail::Local(src);
        const auto direction = static_cast<addr_cal_mode_t>(p.addrMode);
        if (detail::MemoryOf(dst) == Hardware::L0A) {
            load_cbuf_to_ca(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, p.ifTranspose, direction);
        } else if (detail::MemoryOf(dst) == Hardware::L0B) {
            load_cbuf_to_cb(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, p.ifTranspose, direction);
        } else {
            detail::NoSuchPlace("LoadData: fractals go from L1 to A2 or B2");
        }
    }
}
template <typename T>
ASC_API void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p)
{
    if constexpr (g_coreType == AIC) {
        auto* to = detail::Local(dst);
        auto* from = reinterpret_cast<__gm__ detail::MovedAs<T>*>(const_cast<__gm__ T*>(src.GetPhyAddr()));
        const auto direction = static_cast<addr_cal_mode_t>(p.addrMode);
        switch (detail::MemoryOf(dst)) {
            case Hardware::L0A:
                load_gm_to_ca(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, direction);
                return;
            case Hardware::L0B:
                load_gm_to_cb(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, direction);
                return;
            case Hardware::L1:
                load_gm_to_cbuf(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, direction);
                return;
            default: detail::NoSuchPlace("LoadData: fractals go from global memory to A1, B1, A2 or B2");
        }
    }
}

template <typename T>
ASC_API void LoadDataWithTranspose(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2dTransposeParams& p)
{
    if constexpr (g_coreType == AIC) {
        auto* to = detail::Local(dst);
        auto* from = detail::Local(src);
        if (detail::MemoryOf(dst) == Hardware::L0A) {
            load_cbuf_to_ca_transpose(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, inc, p.dstFracGap);
        } else if (detail::MemoryOf(dst) == Hardware::L0B) {
            load_cbuf_to_cb_transpose(to, from, p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, inc, p.dstFracGap);
        } else {
            detail::NoSuchPlace("LoadDataWithTranspose: fractals go from L1 to A2 or B2");
        }
    }
}

// ---- convolution windows ------------------------------------------------------------------------------------------------
ASC_API void SetFmatrix(
    uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode& mode = FmatrixMode::FMATRIX_LEFT)
{
    if constexpr (g_coreType == AIC) {
        uint64_t config = uint64_t(l1W) | uint64_t(l1H) << 16;
        for (uint32_t i = 0; i < 4; ++i) {
            config |= uint64_t(padList[i]) << (32 + 8 * i);
        }
        if (mode == FmatrixMode::FMATRIX_LEFT) {
            set_fmatrix(config);
        } else {
            set_fmatrix_b(config);
        }
    }
}
template <typename T>
ASC_API void SetLoadDataPaddingValue(const T value)
{
    if constexpr (g_coreType == AIC) {
        set_padding(value);
    }
}
ASC_API void SetLoadDataBoundary(uint32_t boundary)
{
    if constexpr (g_coreType == AIC) {
        set_l1_3d_size(boundary);
    }
}
ASC_API void SetLoadDataRepeat(const LoadDataRepeatParam& p)
{
    if constexpr (g_coreType == AIC) {
        set_l3d_rpt(uint64_t(p.repeatStride) | uint64_t(p.repeatTime) << 16 | uint64_t(p.repeatMode) << 24);
    }
}

struct IsResetLoad3dConfig {
    ASC_API constexpr IsResetLoad3dConfig(const bool fMatrix, const bool padding)
        : isSetFMatrix(fMatrix), isSetPadding(padding)
    {}
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

template <typename T, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
ASC_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& p)
{
    if constexpr (g_coreType == AIC) {
        if constexpr (config.isSetFMatrix) {
            SetFmatrix(
                p.l1H, p.l1W, p.padList, p.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
        }
        if constexpr (config.isSetPadding) {
            SetLoadDataPaddingValue(p.padValue);
        }
        auto* to = detail::Local(dst);
        auto* from = detail::Local(src);
        if (detail::MemoryOf(dst) == Hardware::L0A) {
            img2colv2_cbuf_to_ca(
                to, from, p.kExtension, p.mExtension, p.kStartPt, p.mStartPt, p.strideW, p.strideH, p.filterW, p.filterH,
                p.dilationFilterW, p.dilationFilterH, p.filterSizeW, p.filterSizeH, p.enTranspose, p.fMatrixCtrl,
                p.channelSize);
        } else if (detail::MemoryOf(dst) == Hardware::L0B) {
            img2colv2_cbuf_to_cb(
                to, from, p.kExtension, p.mExtension, p.kStartPt, p.mStartPt, p.strideW, p.strideH, p.filterW, p.filterH,
                p.dilationFilterW, p.dilationFilterH, p.filterSizeW, p.filterSizeH, p.enTranspose, p.fMatrixCtrl,
                p.channelSize);
        } else {
            detail::NoSuchPlace("LoadData with LoadData3DParamsV2: windows go from L1 to A2 or B2");
        }
    }
}

namespace detail {
constexpr IsResetLoad3dConfig kAsSetBefore = {false, false};
}  // namespace detail

ASC_API void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[4]) { SetFmatrix(l1H, l1W, padList); }
template <typename T>
ASC_API void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2Pro& p)
{
    const auto extent = [&](uint32_t place) { return static_cast<uint16_t>(p.extConfig >> (16 * place)); };
    const auto filter = [&](uint32_t place) { return static_cast<uint8_t>(p.filterConfig >> (8 * place)); };
    const uint8_t none[PAD_SIZE] = {};
    const LoadData3DParamsV2<T> unpacked(
        none, 0, 0, p.channelSize, extent(0), extent(1), extent(2), extent(3), filter(0), filter(1), filter(2),
        filter(3), filter(4), filter(5), p.enTranspose, p.enSmallK, T{}, p.filterSizeW, p.filterSizeH, p.fMatrixCtrl);
    LoadData<T, detail::kAsSetBefore>(dst, src, unpacked);
}

// ---- constants --------------------------------------------------------------------------------------------------------------
template <typename T, typename U = T>
ASC_API void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<U>& p)
{
    if constexpr (g_coreType == AIC) {
        const int64_t repeat = static_cast<int64_t>(
            uint64_t(p.repeatTimes) | uint64_t(p.blockNum) << 16 | uint64_t(p.dstGap) << 32);
        const Hardware memory = detail::MemoryOf(dst);
        const auto fill = [&](auto* to, auto value) {
            if (memory == Hardware::L0A) {
                create_ca_matrix(to, repeat, value);
            } else if (memory == Hardware::L0B) {
                create_cb_matrix(to, repeat, value);
            } else {
                create_cbuf_matrix(to, repeat, value);
            }
        };
        auto* to = reinterpret_cast<T*>(dst.GetPhyAddr());
        if constexpr (sizeof(T) == 2) {
            uint16_t bits;
            const U value = p.initValue;
            __builtin_memcpy(&bits, &value, sizeof(bits));
            fill(reinterpret_cast<half*>(to), half::FromBits(bits));
        } else if constexpr (std::is_same<T, float>::value) {
            fill(to, static_cast<float>(p.initValue));
        } else {
            static_assert(sizeof(T) == 4, "InitConstValue: elements must have 2 or 4 bytes");
            fill(to, static_cast<uint32_t>(p.initValue));
        }
    }
}
template <typename T, typename U = T>
ASC_API void Fill(const LocalTensor<T>& dst, const InitConstValueParams<U>& p)
{
    InitConstValue(dst, p);
}
}  // namespace AscendC

#endif
