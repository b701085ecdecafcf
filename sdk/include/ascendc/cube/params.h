// Parameter structures of the cube core's functions. A fractal is 512 bytes: 16 rows of 32 bytes.
#ifndef ASCENDC_CUBE_PARAMS_H
#define ASCENDC_CUBE_PARAMS_H

#include "ascendc/params.h"
#include "ascendsim/isa_types.h"

namespace AscendC {
using ::QuantMode_t;

/// `ndNum` row-major matrices of nValue x dValue elements become columns of 32-byte blocks. Source strides count
/// elements; dstNzC0Stride and dstNzNStride count blocks, dstNzMatrixStride elements.
struct Nd2NzParams {
    ASC_API Nd2NzParams() {}
    ASC_API Nd2NzParams(
        const uint16_t matrices, const uint16_t rows, const uint16_t columns, const uint16_t matrixStride,
        const uint16_t rowStride, const uint16_t c0Stride, const uint16_t nStride, const uint16_t dstMatrixStride)
        : ndNum(matrices), nValue(rows), dValue(columns), srcNdMatrixStride(matrixStride), srcDValue(rowStride),
          dstNzC0Stride(c0Stride), dstNzNStride(nStride), dstNzMatrixStride(dstMatrixStride)
    {}
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;
};

/// `repeatTimes` fractals from number startIndex on; srcStride from start to start, dstGap between, in fractals.
struct LoadData2DParams {
    ASC_API LoadData2DParams() {}
    ASC_API LoadData2DParams(
        const uint16_t start, const uint8_t repeat, const uint16_t stride, const uint8_t sidIn, const uint16_t gap,
        const bool transpose, const uint8_t mode)
        : startIndex(start), dstGap(gap), srcStride(stride), ifTranspose(transpose), repeatTimes(repeat), sid(sidIn),
          addrMode(mode)
    {}
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

/// Square groups of fractals (two of bytes, one of halves, two by one of floats) that are transposed on their way.
struct LoadData2dTransposeParams {
    ASC_API LoadData2dTransposeParams() {}
    ASC_API LoadData2dTransposeParams(
        const uint16_t start, const uint8_t repeat, const uint16_t stride, const uint16_t gap,
        const uint16_t fractalGap, const uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeat), srcStride(stride), dstGap(gap), dstFracGap(fractalGap),
          addrMode(mode)
    {}
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};

constexpr int32_t PAD_SIZE = 4;

/// A window of the matrix that a convolution sees in a feature map (l1H x l1W x channelSize).
template <typename T>
struct LoadData3DParamsV2 {
    ASC_API LoadData3DParamsV2() {}
    ASC_API LoadData3DParamsV2(
        const uint8_t padding[PAD_SIZE], const uint16_t height, const uint16_t width, const uint16_t channels,
        const uint16_t k, const uint16_t m, const uint16_t kStart, const uint16_t mStart, const uint8_t stepW,
        const uint8_t stepH, const uint8_t windowW, const uint8_t windowH, const uint8_t dilationW,
        const uint8_t dilationH, const bool transpose, const bool smallK, const T value, const bool wideFilter = false,
        const bool highFilter = false, const bool useB = false)
        : l1H(height), l1W(width), channelSize(channels), kExtension(k), mExtension(m), kStartPt(kStart),
          mStartPt(mStart), strideW(stepW), strideH(stepH), filterW(windowW), filterH(windowH),
          dilationFilterW(dilationW), dilationFilterH(dilationH), enTranspose(transpose), enSmallK(smallK),
          padValue(value), filterSizeW(wideFilter), filterSizeH(highFilter), fMatrixCtrl(useB)
    {
        for (int32_t i = 0; i < PAD_SIZE; ++i) {
            padList[i] = padding[i];
        }
    }
    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

/// The same window with its numbers packed as the instruction takes them; feature map and padding value are set beside it
/// (SetFmatrix, SetLoadDataPaddingValue). extConfig: 16 bits each of kExtension, mExtension, kStartPt and mStartPt;
/// filterConfig: 8 bits each of strideW, strideH, filterW, filterH, dilationFilterW and dilationFilterH.
struct LoadData3DParamsV2Pro {
    ASC_API LoadData3DParamsV2Pro() {}
    ASC_API LoadData3DParamsV2Pro(
        const uint16_t channels, const bool transpose, const bool smallK, const bool wideFilter, const bool highFilter,
        const bool useB, const uint64_t extents, const uint64_t filter)
        : channelSize(channels), enTranspose(transpose), enSmallK(smallK), filterSizeW(wideFilter),
          filterSizeH(highFilter), fMatrixCtrl(useB), extConfig(extents), filterConfig(filter)
    {}
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;
    uint64_t filterConfig = 0x010101010101;
};

struct LoadDataRepeatParam {
    ASC_API LoadDataRepeatParam() {}
    ASC_API LoadDataRepeatParam(const uint16_t stride, const uint8_t time, const uint8_t mode)
        : repeatStride(stride), repeatTime(time), repeatMode(mode)
    {}
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
};

/// `repeatTimes` stretches of `blockNum` blocks (32 bytes in L1, 512 in L0A and L0B), dstGap blocks apart.
template <typename T>
struct InitConstValueParams {
    ASC_API InitConstValueParams() {}
    ASC_API InitConstValueParams(const uint16_t repeat, const uint16_t blocks, const uint16_t gap, const T value)
        : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value)
    {}
    ASC_API InitConstValueParams(const uint16_t repeat, const T value) : repeatTimes(repeat), initValue(value) {}
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = 0;
};

/// C (m x n) = A (m x k) B (k x n) + what C starts from: zero (cmatrixInitVal), or else C itself, or with cmatrixSource
/// the bias table.
struct MmadParams {
    ASC_API MmadParams() {}
    ASC_API MmadParams(
        const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool accumulate, const int32_t offset,
        const bool sparse, const bool winogradA, const bool winogradB)
        : m(mIn), n(nIn), k(kIn), isBias(accumulate), fmOffset(offset), enSsparse(sparse), enWinogradA(winogradA),
          enWinogradB(winogradB)
    {}
    ASC_API MmadParams(
        const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t flag, const bool source,
        const bool initial)
        : m(mIn), n(nIn), k(kIn), unitFlag(flag), cmatrixSource(source), cmatrixInitVal(initial)
    {}
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

/// srcStride counts blocks of 16 rows of accumulators (rows, rounded up to 16); dstStride elements of a row for
/// row-major results, else blocks of 32 bytes.
struct FixpipeParamsV220 {
    ASC_API FixpipeParamsV220() {}
    ASC_API FixpipeParamsV220(
        const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn, const uint32_t dstStrideIn,
        const bool relu, const QuantMode_t quant = QuantMode_t::NoQuant, const int64_t scalar = 0,
        const uint16_t matrices = 1, const uint16_t srcMatrixStride = 0, const uint16_t dstMatrixStride = 0,
        const uint8_t flag = 0, const bool channelSplit = false)
        : nSize(nSizeIn), mSize(mSizeIn), srcStride(srcStrideIn), dstStride(dstStrideIn), quantPre(quant),
          deqScalar(static_cast<uint64_t>(scalar)), ndNum(matrices), srcNdStride(srcMatrixStride),
          dstNdStride(dstMatrixStride), reluEn(relu), unitFlag(flag), isChannelSplit(channelSplit)
    {}
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

struct QuantParams {
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
};
struct Nz2NdParams {
    bool nz2ndEn = false;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    uint16_t originalNSize = 0;
};
/// The older form: bursts of 16 columns, lengths in blocks of 32 bytes of accumulators, gaps instead of strides.
template <typename T>
struct FixpipeParams {
    ASC_API FixpipeParams() {}
    ASC_API FixpipeParams(
        const uint16_t count, const uint16_t len, const uint16_t srcGap, const uint32_t dstGap)
        : cburstNum(count), burstLen(len), srcStride(srcGap), dstStride(dstGap)
    {}
    uint16_t cburstNum = DEFAULT_DATA_COPY_NBURST;
    uint16_t burstLen = 1;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    QuantParams quantParams;
    bool reluEn = false;
    Nz2NdParams nz2ndParams;
    uint8_t unitFlag = 0;
};

/// The form of DataCopy from accumulators to global memory or L1.
struct DataCopyCO12DstParams {
    ASC_API DataCopyCO12DstParams() {}
    ASC_API DataCopyCO12DstParams(
        const uint16_t nSizeIn, const uint16_t mSizeIn, const uint32_t dstStrideIn, const uint16_t srcStrideIn,
        const QuantMode_t quant, const uint8_t relu, const bool split, const bool rowMajor)
        : nSize(nSizeIn), mSize(mSizeIn), dstStride(dstStrideIn), srcStride(srcStrideIn), quantPre(quant),
          reluPre(relu), channelSplit(split), nz2ndEn(rowMajor)
    {}
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };
enum class HF32Mode { ENABLE, DISABLE };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };
}  // namespace AscendC

#endif
