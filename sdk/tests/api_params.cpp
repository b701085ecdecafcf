// Parameter structures as they are when nothing is said, what their constructors put where, and constants and words that are numbers:
// all as documented.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

using Numbers = std::vector<int64_t>;

void Same(const char* what, const Numbers& got, const Numbers& want)
{
    std::string text = what;
    for (int64_t number : got) {
        text += " " + std::to_string(number);
    }
    Expect(got == want, text);
}

template <typename... Ts>
Numbers Of(Ts... values)
{
    return {static_cast<int64_t>(values)...};
}

// ---- members by type; the type tells them apart -----------------------------------------------------------------------------------
Numbers In(const A::UnaryRepeatParams& p)
{
    return Of(p.dstBlkStride, p.srcBlkStride, p.dstRepStride, p.srcRepStride, p.halfBlock, p.blockNumber, p.repeatStrideMode, p.strideSizeMode);
}
Numbers In(const A::BinaryRepeatParams& p)
{
    return Of(p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride, p.blockNumber, p.repeatStrideMode,
              p.strideSizeMode);
}
Numbers In(const A::BrcbRepeatParams& p) { return Of(p.dstBlkStride, p.dstRepStride, p.blockNumber); }
Numbers In(const A::GatherRepeatParams& p) { return Of(p.dstBlkStride, p.dstRepStride, p.blockNumber); }
Numbers In(const A::GatherMaskParams& p) { return Of(p.src0BlockStride, p.repeatTimes, p.src0RepeatStride, p.src1RepeatStride); }
Numbers In(const A::CopyRepeatParams& p) { return Of(p.dstStride, p.srcStride, p.dstRepeatSize, p.srcRepeatSize); }
Numbers In(const A::DataCopyParams& p) { return Of(p.blockCount, p.blockLen, p.srcStride, p.dstStride); }
Numbers In(const A::SliceInfo& p) { return Of(p.startIndex, p.endIndex, p.stride, p.burstLen, p.shapeValue); }
Numbers In(const A::DataCopyPadParams& p) { return Of(p.isPad, p.leftPadding, p.rightPadding, p.paddingValue); }
Numbers In(const A::DataCopyPadExtParams<float>& p) { return Of(p.isPad, p.leftPadding, p.rightPadding, p.paddingValue); }
Numbers In(const A::DataCopyExtParams& p) { return Of(p.blockCount, p.blockLen, p.srcStride, p.dstStride, p.rsv); }
Numbers In(const A::TransDataTo5HDParams& p) { return Of(p.dstHighHalf, p.srcHighHalf, p.repeatTimes, p.dstRepStride, p.srcRepStride); }
Numbers In(const A::Nd2NzParams& p)
{
    return Of(p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride, p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride);
}
Numbers In(const A::LoadData2DParams& p) { return Of(p.startIndex, p.repeatTimes, p.srcStride, p.sid, p.dstGap, p.ifTranspose, p.addrMode); }
Numbers In(const A::LoadData2dTransposeParams& p) { return Of(p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.dstFracGap, p.addrMode); }
Numbers In(const A::LoadData3DParamsV2<float>& p)
{
    return Of(p.padList[0], p.padList[1], p.padList[2], p.padList[3], p.l1H, p.l1W, p.channelSize, p.kExtension, p.mExtension, p.kStartPt, p.mStartPt,
              p.strideW, p.strideH, p.filterW, p.filterH, p.dilationFilterW, p.dilationFilterH, p.enTranspose, p.enSmallK, p.padValue, p.filterSizeW,
              p.filterSizeH, p.fMatrixCtrl);
}
Numbers In(const A::LoadDataRepeatParam& p) { return Of(p.repeatStride, p.repeatTime, p.repeatMode); }
Numbers In(const A::InitConstValueParams<half>& p) { return Of(p.repeatTimes, p.blockNum, p.dstGap, static_cast<float>(p.initValue)); }
Numbers In(const A::MmadParams& p)
{
    return Of(p.m, p.n, p.k, p.isBias, p.fmOffset, p.enSsparse, p.enWinogradA, p.enWinogradB, p.unitFlag, p.kDirectionAlign, p.cmatrixSource,
              p.cmatrixInitVal);
}
Numbers In(const A::FixpipeParamsV220& p)
{
    return Of(p.nSize, p.mSize, p.srcStride, p.dstStride, p.reluEn, p.quantPre, p.deqScalar, p.ndNum, p.srcNdStride, p.dstNdStride, p.unitFlag,
              p.isChannelSplit);
}
Numbers In(const A::FixpipeParams<float>& p)
{
    return Of(p.cburstNum, p.burstLen, p.srcStride, p.dstStride, p.quantParams.quantPre, p.quantParams.deqScalar, p.reluEn, p.nz2ndParams.nz2ndEn,
              p.nz2ndParams.ndNum, p.nz2ndParams.srcNdStride, p.nz2ndParams.dstNdStride, p.nz2ndParams.originalNSize, p.unitFlag);
}
Numbers In(const A::DataCopyCO12DstParams& p)
{
    return Of(p.nSize, p.mSize, p.dstStride, p.srcStride, p.quantPre, p.reluPre, p.channelSplit, p.nz2ndEn, p.sid, p.unitFlag, p.clipReluPre, p.eltWiseOp);
}
Numbers In(const A::MrgSort4Info& p)
{
    return Of(p.elementLengths[0], p.elementLengths[1], p.elementLengths[2], p.elementLengths[3], p.ifExhaustedSuspension, p.validBit, p.repeatTimes);
}
Numbers In(const A::TransposeParamsExt& p) { return Of(p.nSize, p.cSize, p.hSize, p.wSize, p.transposeType); }
Numbers In(const A::PadParams& p) { return Of(p.leftPad, p.rightPad, p.padValue); }
Numbers In(const A::UnPadParams& p) { return Of(p.leftPad, p.rightPad); }
Numbers In(const A::CumSumConfig& p) { return Of(p.isLastAxis, p.isReuseSource, p.outputLastRow, p.algorithm); }
Numbers In(const A::CumSumInfo& p) { return Of(p.outter, p.inner); }
Numbers In(const A::DropOutShapeInfo& p) { return Of(p.firstAxis, p.srcLastAxis, p.maskLastAxis); }
Numbers In(const A::LayerNormConfig& p) { return Of(p.isNoBeta, p.isNoGamma, p.isOnlyOutput, p.isOutputRstd); }
Numbers In(const A::NormalizeConfig& p) { return Of(p.reducePattern == A::ReducePattern::AR, p.aLength, p.isNoBeta, p.isNoGamma, p.isOnlyOutput); }
Numbers In(const A::AscendQuantConfig& p) { return Of(p.calcCount, p.offsetCount, p.scaleCount, p.workLocalSize); }
Numbers In(const A::SoftmaxConfig& p) { return Of(p.isCheckTiling, p.oriSrcM, p.oriSrcK, p.mode); }
Numbers In(const A::SoftMaxShapeInfo& p) { return Of(p.srcM, p.srcK, p.oriSrcM, p.oriSrcK); }
Numbers In(const A::TQueConfig& p)
{
    return Of(p.nd2nz, p.nz2nd, p.scmBlockGroup, p.bufferLen, p.bufferNumber, p.consumerSize, p.consumer[0], p.consumer[7], p.enableStaticEvtId,
              p.enableLoopQueue);
}

void VectorParameters()
{
    Same("UnaryRepeatParams", In(A::UnaryRepeatParams()), {1, 1, 8, 8, 0, 8, 0, 0});
    Same("UnaryRepeatParams of five", In(A::UnaryRepeatParams(2, 3, 4, 5, true)), {2, 3, 4, 5, 1, 8, 0, 0});
    Same("UnaryRepeatParams of four", In(A::UnaryRepeatParams(2, 3, 4, 5)), {2, 3, 4, 5, 0, 8, 0, 0});
    Same("BinaryRepeatParams", In(A::BinaryRepeatParams()), {1, 1, 1, 8, 8, 8, 8, 0, 0});
    Same("BinaryRepeatParams of six", In(A::BinaryRepeatParams(2, 3, 4, 5, 6, 7)), {2, 3, 4, 5, 6, 7, 8, 0, 0});
    Same("BrcbRepeatParams", In(A::BrcbRepeatParams()), {1, 8, 8});
    Same("BrcbRepeatParams of two", In(A::BrcbRepeatParams(2, 3)), {2, 3, 8});
    Same("GatherRepeatParams", In(A::GatherRepeatParams()), {1, 8, 8});
    Same("GatherRepeatParams of two", In(A::GatherRepeatParams(2, 3)), {2, 3, 8});
    Same("GatherMaskParams", In(A::GatherMaskParams()), {1, 0, 8, 8});
    Same("GatherMaskParams of four", In(A::GatherMaskParams(2, 3, 4, 5)), {2, 3, 4, 5});
    Same("CopyRepeatParams", In(A::CopyRepeatParams()), {0, 0, 8, 8});
    Same("CopyRepeatParams of four", In(A::CopyRepeatParams(2, 3, 4, 5)), {2, 3, 4, 5});
    const uint16_t lengths[] = {2, 3, 4, 5};
    Same("MrgSort4Info", In(A::MrgSort4Info()), {0, 0, 0, 0, 0, 0, 1});
    Same("MrgSort4Info of four", In(A::MrgSort4Info(lengths, true, 7, 9)), {2, 3, 4, 5, 1, 7, 9});
    Same("TransDataTo5HDParams", In(A::TransDataTo5HDParams()), {0, 0, 1, 0, 0});
    Same("TransDataTo5HDParams of five", In(A::TransDataTo5HDParams(true, false, 2, 3, 4)), {1, 0, 2, 3, 4});
}

void Transfers()
{
    Same("DataCopyParams", In(A::DataCopyParams()), {1, 0, 0, 0});
    Same("DataCopyParams of four", In(A::DataCopyParams(2, 3, 4, 5)), {2, 3, 4, 5});
    A::DataCopyParams gaps(2, 3, 4, 5);
    gaps.srcGap = 6;
    gaps.dstGap = 7;
    Same("gaps are strides by another name", In(gaps), {2, 3, 6, 7});
    Same("SliceInfo", In(A::SliceInfo()), {0, 31, 0, 32, 0});
    Same("SliceInfo of four", In(A::SliceInfo(2, 3, 4, 5)), {2, 3, 4, 5, 0});
    Same("SliceInfo of five", In(A::SliceInfo(2, 3, 4, 5, 6)), {2, 3, 4, 5, 6});
    Same("DataCopyPadParams", In(A::DataCopyPadParams()), {0, 0, 0, 0});
    Same("DataCopyPadParams of four", In(A::DataCopyPadParams(true, 2, 3, 4)), {1, 2, 3, 4});
    Same("DataCopyPadExtParams", In(A::DataCopyPadExtParams<float>()), {0, 0, 0, 0});
    Same("DataCopyPadExtParams of four", In(A::DataCopyPadExtParams<float>(true, 2, 3, 4)), {1, 2, 3, 4});
    Same("DataCopyExtParams", In(A::DataCopyExtParams()), {1, 0, 0, 0, 0});
    Same("DataCopyExtParams of five", In(A::DataCopyExtParams(2, 70000, 80000, 90000, 6)), {2, 70000, 80000, 90000, 6});
}

void CubeParameters()
{
    Same("Nd2NzParams", In(A::Nd2NzParams()), {0, 0, 0, 0, 0, 0, 0, 0});
    Same("Nd2NzParams of eight", In(A::Nd2NzParams(2, 3, 4, 5, 6, 7, 8, 9)), {2, 3, 4, 5, 6, 7, 8, 9});
    Same("LoadData2DParams", In(A::LoadData2DParams()), {0, 0, 0, 0, 0, 0, 0});
    Same("LoadData2DParams of seven", In(A::LoadData2DParams(2, 3, 4, 5, 6, true, 1)), {2, 3, 4, 5, 6, 1, 1});
    Same("LoadData2dTransposeParams", In(A::LoadData2dTransposeParams()), {0, 0, 0, 0, 0, 0});
    Same("LoadData2dTransposeParams of five", In(A::LoadData2dTransposeParams(2, 3, 4, 5, 6)), {2, 3, 4, 5, 6, 0});
    Same("LoadData2dTransposeParams of six", In(A::LoadData2dTransposeParams(2, 3, 4, 5, 6, 1)), {2, 3, 4, 5, 6, 1});
    using Windows = A::LoadData3DParamsV2<float>;
    const uint8_t pads[] = {2, 3, 4, 5};
    Same("LoadData3DParamsV2", In(Windows()), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
    Same("LoadData3DParamsV2 with defaults", In(Windows(pads, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, false, false, 19)),
         {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0, 0, 19, 0, 0, 0});
    for (int flag = 0; flag < 5; ++flag) {
        Same("flags of LoadData3DParamsV2", In(Windows(pads, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, flag == 0, flag == 1, 19, flag == 2, flag == 3, flag == 4)),
             {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, flag == 0, flag == 1, 19, flag == 2, flag == 3, flag == 4});
    }
    Same("LoadDataRepeatParam", In(A::LoadDataRepeatParam()), {0, 1, 0});
    Same("LoadDataRepeatParam of three", In(A::LoadDataRepeatParam(2, 3, 1)), {2, 3, 1});
    Same("InitConstValueParams", In(A::InitConstValueParams<half>()), {0, 0, 0, 0});
    Same("InitConstValueParams of four", In(A::InitConstValueParams<half>(2, 3, 4, half(5.0f))), {2, 3, 4, 5});
    Same("InitConstValueParams of two", In(A::InitConstValueParams<half>(2, half(5.0f))), {2, 0, 0, 5});
    Same("MmadParams", In(A::MmadParams()), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    for (int flag = 0; flag < 4; ++flag) {
        Same("MmadParams of eight", In(A::MmadParams(2, 3, 4, flag == 0, 5, flag == 1, flag == 2, flag == 3)),
             {2, 3, 4, flag == 0, 5, flag == 1, flag == 2, flag == 3, 0, 0, 0, 1});
    }
    Same("MmadParams of six", In(A::MmadParams(2, 3, 4, uint8_t(3), true, false)), {2, 3, 4, 0, 0, 0, 0, 0, 3, 0, 1, 0});
    Same("MmadParams of six, the other way", In(A::MmadParams(2, 3, 4, uint8_t(2), false, true)), {2, 3, 4, 0, 0, 0, 0, 0, 2, 0, 0, 1});
    Same("FixpipeParamsV220", In(A::FixpipeParamsV220()), {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    Same("FixpipeParamsV220 of five", In(A::FixpipeParamsV220(2, 3, 4, 5, true)), {2, 3, 4, 5, 1, 0, 0, 1, 0, 0, 0, 0});
    Same("FixpipeParamsV220 of all", In(A::FixpipeParamsV220(2, 3, 4, 5, false, QuantMode_t::F322F16, 6, 7, 8, 9, 3, true)),
         {2, 3, 4, 5, 0, 1, 6, 7, 8, 9, 3, 1});
    Same("FixpipeParams", In(A::FixpipeParams<float>()), {1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    Same("FixpipeParams of four", In(A::FixpipeParams<float>(2, 3, 4, 5)), {2, 3, 4, 5, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    Same("DataCopyCO12DstParams", In(A::DataCopyCO12DstParams()), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    Same("DataCopyCO12DstParams of eight", In(A::DataCopyCO12DstParams(2, 3, 4, 5, QuantMode_t::F322BF16, 1, false, true)),
         {2, 3, 4, 5, 16, 1, 0, 1, 0, 0, 0, 0});
    Same("DataCopyCO12DstParams, split", In(A::DataCopyCO12DstParams(2, 3, 4, 5, QuantMode_t::NoQuant, 0, true, false)),
         {2, 3, 4, 5, 0, 0, 1, 0, 0, 0, 0, 0});
    Same("IsResetLoad3dConfig", Of(A::IS_RESER_LOAD3D_DEFAULT_CONFIG.isSetFMatrix, A::IS_RESER_LOAD3D_DEFAULT_CONFIG.isSetPadding), {1, 1});
}

void LibraryParameters()
{
    Same("TransposeParamsExt", In(A::TransposeParamsExt()), {0, 0, 0, 0, 10});
    Same("TransposeParamsExt of five", In(A::TransposeParamsExt(2, 3, 4, 5, A::TransposeType::TRANSPOSE_NHWC2NCHW)), {2, 3, 4, 5, 12});
    Same("PadParams", In(A::PadParams()), {0, 0, 0});
    Same("PadParams of three", In(A::PadParams(2, 3, -4)), {2, 3, -4});
    Same("UnPadParams", In(A::UnPadParams()), {0, 0});
    Same("UnPadParams of two", In(A::UnPadParams(2, 3)), {2, 3});
    Same("CumSumConfig", In(A::CumSumConfig()), {1, 0, 0, 0});
    Same("defaultCumSumConfig", In(A::defaultCumSumConfig), {1, 0, 1, 0});
    Same("CumSumInfo", In(A::CumSumInfo()), {0, 0});
    Same("DropOutShapeInfo", In(A::DropOutShapeInfo()), {0, 0, 0});
    Same("LayerNormConfig", In(A::LayerNormConfig()), {0, 0, 0, 1});
    Same("LNCFG_NORM", In(A::LNCFG_NORM), {0, 0, 0, 1});
    Same("WelfordUpdateConfig", Of(A::WFUPDATE_DEFAULT_CFG.isInplace, A::WelfordUpdateConfig(true).isInplace), {0, 1});
    Same("WelfordFinalizeConfig", Of(A::WFFINALIZE_DEFAULT_CFG.isCorrection, A::WelfordFinalizeConfig(true).isCorrection), {0, 1});
    Same("NormalizeConfig", In(A::NormalizeConfig()), {1, -1, 0, 0, 0});
    Same("NLCFG_NORM", In(A::NLCFG_NORM), {1, -1, 0, 0, 0});
    Same("NLCFG_NOBETA", In(A::NLCFG_NOBETA), {1, -1, 1, 0, 0});
    Same("NLCFG_NOGAMMA", In(A::NLCFG_NOGAMMA), {1, -1, 0, 1, 0});
    Same("NLCFG_NOOPT", In(A::NLCFG_NOOPT), {1, -1, 1, 1, 0});
    Same("ASCEND_QUANT_DEFAULT_CFG", In(A::ASCEND_QUANT_DEFAULT_CFG), {0, 0, 0, 0});
    Same("AscendQuantConfig", In(A::AscendQuantConfig(2, 3, 4, 5)), {2, 3, 4, 5});
    Same("SOFTMAX_DEFAULT_CFG", In(A::SOFTMAX_DEFAULT_CFG), {1, 0, 0, 0});
    Same("SoftmaxConfig", In(A::SoftmaxConfig(false)), {0, 0, 0, 0});
    Same("SoftmaxConfig of four", In(A::SoftmaxConfig(true, 2, 3, A::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC)), {1, 2, 3, 1});
    Same("SoftMaxShapeInfo", In(A::SoftMaxShapeInfo()), {0, 0, 0, 0});
    Same("TopKInfo", Of(A::TopKInfo().outter), {1});
    Same("SumParams", Of(A::SumParams().outter, A::MeanParams().outter), {1, 1});
    const A::AntiQuantShapeInfo factors;
    Same("AntiQuantShapeInfo", Of(factors.offsetHeight, factors.offsetWidth, factors.scaleHeight, factors.scaleWidth), {0, 0, 0, 0});
    const A::SelectWithBytesMaskShapeInfo select;
    Same("SelectWithBytesMaskShapeInfo", Of(select.firstAxis, select.srcLastAxis, select.maskLastAxis), {0, 0, 0});
    Same("TQueConfig", In(A::TQueConfig()), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

void Words()
{
    using P = A::TPosition;
    Same("TPosition", Of(P::GM, P::A1, P::A2, P::B1, P::B2, P::C1, P::C2, P::CO1, P::CO2, P::VECIN, P::VECOUT, P::VECCALC, P::LCM, P::SPM, P::SHM, P::TSCM,
                         P::C2PIPE2GM, P::C2PIPE2LOCAL, P::MAX),
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 13, 14, 15, 16});
    using F = A::DataFormat;
    Same("DataFormat", Of(F::ND, F::NZ, F::NCHW, F::NC1HWC0, F::NHWC, F::NCDHW, F::NDC1HWC0, F::FRACTAL_Z_3D), {0, 1, 2, 3, 4, 5, 6, 7});
    using R = A::RoundMode;
    Same("RoundMode", Of(R::CAST_NONE, R::CAST_RINT, R::CAST_FLOOR, R::CAST_CEIL, R::CAST_ROUND, R::CAST_TRUNC, R::CAST_ODD, R::UNKNOWN),
         {0, 1, 2, 3, 4, 5, 6, 255});
    using C = A::CMPMODE;
    Same("CMPMODE", Of(C::LT, C::GT, C::EQ, C::LE, C::GE, C::NE), {0, 1, 2, 3, 4, 5});
    using S = A::SELMODE;
    Same("SELMODE", Of(S::VSEL_CMPMASK_SPR, S::VSEL_TENSOR_SCALAR_MODE, S::VSEL_TENSOR_TENSOR_MODE), {0, 1, 2});
    Same("ReduceMode", Of(A::ReduceMode::REDUCE_MAX, A::ReduceMode::REDUCE_MIN, A::ReduceMode::REDUCE_SUM), {0, 1, 2});
    using O = A::ReduceOrder;
    Same("ReduceOrder", Of(O::ORDER_VALUE_INDEX, O::ORDER_INDEX_VALUE, O::ORDER_ONLY_VALUE, O::ORDER_ONLY_INDEX), {0, 1, 2, 3});
    Same("ReduceType", Of(A::ReduceType::SUM, A::ReduceType::MAX, A::ReduceType::MIN), {0, 1, 2});
    Same("MaskMode", Of(A::MaskMode::NORMAL, A::MaskMode::COUNTER), {0, 1});
    using M = A::CacheMode;
    Same("CacheMode", Of(M::CACHE_MODE_DISABLE, M::CACHE_MODE_NORMAL, M::CACHE_MODE_LAST, M::CACHE_MODE_PERSISTENT), {0, 1, 2, 4});
    Same("CacheRwMode", Of(A::CacheRwMode::READ, A::CacheRwMode::WRITE, A::CacheRwMode::RW), {1, 2, 3});
    Same("CacheLine", Of(A::CacheLine::SINGLE_CACHE_LINE, A::CacheLine::ENTIRE_DATA_CACHE), {0, 1});
    using D = A::DcciDst;
    Same("DcciDst", Of(D::CACHELINE_ALL, D::CACHELINE_UB, D::CACHELINE_OUT, D::CACHELINE_ATOMIC), {0, 1, 2, 3});
    using B = A::MemDsbT;
    Same("MemDsbT", Of(B::ALL, B::DDR, B::UB, B::SEQ), {0, 1, 2, 3});
    Same("GatherMaskMode", Of(A::GatherMaskMode::VERSION_V1, A::GatherMaskMode::VERSION_V2, A::defaultGatherMaskMode), {0, 1, 1});
    Same("CO2Layout", Of(A::CO2Layout::NZ, A::CO2Layout::ROW_MAJOR, A::CO2Layout::COLUMN_MAJOR, A::CFG_NZ.format, A::CFG_ROW_MAJOR.format), {0, 1, 2, 0, 1});
    Same("FmatrixMode", Of(A::FmatrixMode::FMATRIX_LEFT, A::FmatrixMode::FMATRIX_RIGHT), {0, 1});
    Same("HF32Mode", Of(A::HF32Mode::ENABLE, A::HF32Mode::DISABLE), {0, 1});
    Same("HF32TransMode", Of(A::HF32TransMode::NEAREST_ZERO, A::HF32TransMode::NEAREST_EVEN), {0, 1});
    Same("SoftmaxMode", Of(A::SoftmaxMode::SOFTMAX_NORMAL, A::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC), {0, 1});
    Same("CumSumAlgorithm", Of(A::CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE, A::CumSumAlgorithm::CUMSUM_ALGORITHM_SKLANSKY), {0, 1});
    Same("DeQuantMode", Of(A::DeQuantMode::DEQUANT_WITH_SINGLE_ROW, A::DeQuantMode::DEQUANT_WITH_MULTI_ROW), {0, 1});
    Same("DROPOUT_MODE", Of(A::DROPOUT_MODE_BYTE_MISALIGN, A::DROPOUT_MODE_BYTE_ALIGN, A::DROPOUT_MODE_BIT_ALIGN, A::DROPOUT_MODE_BIT_MISALIGN), {1, 2, 3, 4});
    Same("kinds of cores", Of(A::AIC, A::AIV, A::MIX), {1, 2, 3});
}

void Constants()
{
    Same("blocks and repeats", Of(A::ONE_BLK_SIZE, A::ONE_REPEAT_BYTE_SIZE, A::DEFAULT_BLOCK_SIZE, A::DEFAULT_C0_SIZE, A::DEFAULT_BLK_NUM, A::MAX_REPEAT_TIMES,
                                  A::MIN_REPEAT_TIMES),
         {32, 256, 256, 32, 8, 255, 0});
    Same("strides", Of(A::DEFAULT_BLK_STRIDE, A::DEFAULT_REPEAT_STRIDE, A::HALF_DEFAULT_REPEAT_STRIDE, A::ONE_FOURTH_DEFAULT_REPEAT_STRIDE,
                       A::DEFAULT_REDUCE_DST_REP_STRIDE, A::DEFAULT_DATA_COPY_NBURST, A::DEFAULT_DATA_COPY_STRIDE, A::VREDUCE_PER_REP_OUTPUT),
         {1, 8, 4, 2, 1, 1, 0, 2});
    Same("masks", Of(A::FULL_MASK, A::FULL_MASK_LEN, A::HALF_MASK_LEN, A::MASK_PLACEHOLDER, A::MASK_PLACEHOLDER_LIST[0], A::MASK_PLACEHOLDER_LIST[1]),
         {-1, 128, 64, 0, 0, 0});
    Same("sizes of elements", Of(A::ONE_BYTE_BIT_SIZE, A::B64_BYTE_SIZE, A::B32_BYTE_SIZE, A::B16_BYTE_SIZE, A::B8_BYTE_SIZE, A::INT4_TWO, A::INT4_BIT_NUM),
         {8, 8, 4, 2, 1, 2, 4});
    Same("elements", Of(A::B32_DATA_NUM_PER_BLOCK, A::B16_DATA_NUM_PER_BLOCK, A::B16_DATA_NUM_PER_REPEAT, A::B32_DATA_NUM_PER_REPEAT, A::ONE_BLK_HALF_NUM,
                        A::ONE_BLK_FLOAT_NUM, A::ONE_REPEAT_HALF_SIZE, A::ONE_REPEAT_FLOAT_SIZE, A::HALF_REPEAT_SIZE, A::FLOAT_REPEAT_SIZE),
         {8, 16, 128, 64, 16, 8, 128, 64, 128, 64});
    Same("most elements", Of(A::MAX_REPEAT_FLOAT_SIZE, A::MAX_REPEAT_HALF_SIZE, A::BRCB_BROADCAST_NUMBER, A::BRCB_MAX_REPEAT_SIZE), {16320, 32640, 8, 2040});
    Same("lists", Of(A::NCHW_CONV_ADDR_LIST_SIZE, A::VA_REG_ARRAY_LEN, A::MRG_SORT_ELEMENT_LEN, A::K_MAX_DIM, A::QBUF_MAX_LEN, A::QUE_MAX_EVENT, A::PAD_SIZE),
         {16, 8, 4, 8, 64, 8, 4});
    Same("fractals", Of(A::BLOCK_CUBE, A::VALUE_512, A::UINT12_MAX), {16, 512, 4095});
    Same("bits of floats", Of(A::F32_INF, A::F32_NEG_INF, A::F32_NAN), {0x7F800000, 0xFF800000, 0x7FC00000});
    Same("memories", Of(A::TOTAL_VEC_LOCAL_SIZE, A::TOTAL_UB_SIZE, A::TMP_UB_OFFSET, A::TMP_UB_SIZE, A::TOTAL_L1_SIZE, A::TOTAL_L0A_SIZE, A::TOTAL_L0B_SIZE,
                        A::TOTAL_L0C_SIZE, A::CACHE_LINE_SIZE, A::RESERVED_WORKSPACE),
         {188416, 196608, 188416, 8192, 524288, 65536, 65536, 131072, 64, 16777216});
}

}  // namespace

int main()
{
    VectorParameters();
    Transfers();
    CubeParameters();
    LibraryParameters();
    Words();
    Constants();
    return Report("api_params");
}
