// What tiling functions call of the library: sizes of temporaries and tilings of library functions.
#include <cstring>
#include <utility>

#include "host_check.h"
#include "tiling/tiling_api.h"

using ge::Shape;

namespace {
const platform_ascendc::PlatformAscendC& Platform()
{
    return *platform_ascendc::PlatformAscendCManager::GetInstance();
}

void ElementwiseSizes()
{
    uint32_t most = 0;
    uint32_t least = 0;
    uint32_t live = 9;
    uint32_t extra = 9;
    const Shape thousand({10, 100});
    AscendC::GetErfMaxMinTmpSize(thousand, 2, false, most, least);
    CHECK(most == 8 * 2000 && least == 8 * 256);
    AscendC::GetErfTmpBufferFactorSize(4, live, extra);
    CHECK(live == 3 && extra == 0);
    // Less than a repeat counts as one.
    AscendC::GetAtanMaxMinTmpSize(Shape({1, 3}), 4, false, most, least);
    CHECK(most == 5 * 256 && least == most);
    // An operand that may be overwritten saves a temporary.
    AscendC::GetSinMaxMinTmpSize(thousand, 4, true, most, least);
    CHECK(most == 2 * 4000 && least == 512);
    AscendC::GetPowerMaxMinTmpSize(thousand, Shape(std::vector<int64_t>{1}), false, 4, false, most, least);
    CHECK(most == 5 * 4000 + 256 && least == 5 * 256 + 256);
    AscendC::GetPowerTmpBufferFactorSize(true, true, true, 4, live, extra);
    CHECK(live == 6 && extra == 0);
    AscendC::GetLogMaxMinTmpSize(thousand, 4, false, most, least);
    CHECK(most == 0 && least == 0);
    AscendC::GetLog2MaxMinTmpSize(thousand, 2, false, most, least);
    CHECK(most == 4000 && least == 256);
    AscendC::GetSwiGLUMaxMinTmpSize(thousand, 2, most, least, false);
    CHECK(most == 6 * 2000 && least == 6 * 256);
}

void Softmax()
{
    const Shape shape({100, 128});
    CHECK(AscendC::GetSoftMaxMinTmpSize(shape, 4, false) == (8 + 128 + 64) * 4);
    CHECK(AscendC::GetSoftMaxMaxTmpSize(shape, 4, false) == 100 * (8 + 128 + 64) * 4);
    // Room for 30 rows: rounded down to a multiple of eight rows; 100 = 4 * 24 + 4.
    optiling::SoftMaxTiling tiling;
    AscendC::SoftMaxTilingFunc(shape, 4, 30 * (8 + 128 + 64) * 4, tiling);
    CHECK(tiling.get_srcM() == 100 && tiling.get_srcK() == 128 && tiling.get_splitM() == 24);
    CHECK(tiling.get_rangeM() == 4 && tiling.get_tailM() == 4 && tiling.get_tailSplitSize() == 4 * 128);
    CHECK(tiling.get_outMaxK() == 8 && tiling.get_reduceSize() == 24 * 8);
    // The structure of the device has the same bytes.
    AscendC::tiling::SoftMaxTiling plain;
    AscendC::SoftMaxTilingFunc(shape, 4, 30 * (8 + 128 + 64) * 4, plain);
    uint8_t bytes[sizeof plain];
    tiling.SaveToBuffer(bytes, sizeof bytes);
    CHECK(std::memcmp(bytes, &plain, sizeof plain) == 0);
    CHECK(!AscendC::IsBasicBlockInSoftMax(plain, 4));
    AscendC::SoftMaxTilingFunc(Shape({96, 128}), 4, 30 * (8 + 128 + 64) * 4, plain);
    CHECK(plain.splitM == 24 && plain.tailM == 0 && AscendC::IsBasicBlockInSoftMax(plain, 4));
    // Basic blocks stop below 16384 elements.
    AscendC::SoftMaxFlashV2TilingFunc(Shape({64, 1024}), 4, 4, 1 << 20, plain, false, true);
    CHECK(plain.splitM == 8 && plain.rangeM == 8 && plain.tailM == 0);
}

void Normalisation()
{
    uint32_t most = 0;
    uint32_t least = 0;
    const Shape shape({2, 8, 32, 30});
    AscendC::GetLayerNormMaxMinTmpSize(shape, 2, false, most, least);
    CHECK(most == 3 * 2 * 8 * 32 * 4 + 2 * 64 && least == 3 * 32 * 4 + 2 * 64);
    AscendC::tiling::LayerNormTiling tiling;
    AscendC::GetLayerNormNDTilingInfo(shape, least + 3 * 4 * 32 * 4, 2, false, tiling);
    CHECK(tiling.oneTmpSize == 5 * 32 && tiling.loopRound == 3 && tiling.inputTailSize == 32);
    CHECK(tiling.firstTmpStartPos == 32 && tiling.thirdTmpStartPos == 32 + 2 * 5 * 32);
    CHECK(tiling.lastDimValueBack == 1.0f / 30);
    AscendC::tiling::RmsNormTiling rms;
    CHECK(AscendC::GetRmsNormTilingInfo(Shape({1, 16, 64}), Shape({1, 16, 64}), 16 * 1024, 4, rms));
    CHECK(rms.mainBsLength == 16 && rms.loopRound == 1 && rms.tailBsLength == 0);
    CHECK(!AscendC::GetRmsNormTilingInfo(Shape({1, 16, 63}), Shape({1, 16, 63}), 16 * 1024, 4, rms));
}

void SortAndReduce()
{
    uint32_t most = 0;
    uint32_t least = 0;
    CHECK(AscendC::GetSortTmpSize(Platform(), 1000, 4) == 8000 && AscendC::GetSortTmpSize(Platform(), 1000, 2) == 8000);
    CHECK(AscendC::GetConcatTmpSize(Platform(), 1000, 4) == 0);
    CHECK(AscendC::GetTopKMaxMinTmpSize(Platform(), 64, 2, false, false, AscendC::TopKMode::TOPK_NORMAL, true, 4, most,
                                        least));
    CHECK(most == 20 * 64 && least == most);
    AscendC::tiling::TopkTiling topk;
    CHECK(AscendC::TopKTilingFunc(Platform(), 32, 4, 3, 2, true, AscendC::TopKMode::TOPK_NSMALL, true, topk));
    CHECK(topk.allDataSize == 128 && topk.innerDataSize == 512 && topk.vreduceIdxMask0 == 0x2A);
    CHECK(topk.vreducehalfValMask0 == 0x111 && topk.vreducehalfValMask1 == 0);
    AscendC::GetReduceSumMaxMinTmpSize(Shape({5, 100}), ge::DT_FLOAT, AscendC::ReducePattern::AR, true, false, most,
                                       least);
    CHECK(most == 5 * 64 * 4 && least == most);
    AscendC::GetReduceMaxMaxMinTmpSize(Shape({9, 10}), ge::DT_FLOAT16, AscendC::ReducePattern::RA, true, false, most,
                                       least);
    CHECK(most == 8 * 32);
    AscendC::GetBroadCastMaxMinTmpSize(Platform(), Shape({10, 1}), Shape({10, 8}), 4, false, most, least);
    CHECK(most == 16 * 32 && least == 8 * 32);
}
// A tiling has to fit the memories, cover the shape, and leave room for the second set of what moves.
void CheckLegal(const AscendC::tiling::TCubeTiling& t, int32_t m, int32_t n, int32_t k, int32_t bytes, int32_t cores)
{
    const auto ceil = [](int32_t a, int32_t b) { return (a + b - 1) / b; };
    CHECK(t.usedCoreNum >= 1 && t.usedCoreNum <= cores);
    CHECK(ceil(m, t.singleCoreM) * ceil(n, t.singleCoreN) * ceil(k, t.singleCoreK) == t.usedCoreNum);
    CHECK(t.baseM % 16 == 0 && t.baseN % 16 == 0 && t.baseK % (32 / bytes) == 0);
    CHECK(t.baseM * t.baseK * bytes * t.dbL0A <= 64 * 1024 && t.baseN * t.baseK * bytes * t.dbL0B <= 64 * 1024);
    CHECK(t.baseM * t.baseN * 4 * t.dbL0C <= 128 * 1024);
    CHECK((t.depthA1 * t.baseM + t.depthB1 * t.baseN) * t.baseK * bytes + t.isBias * t.baseN * 4 <= 512 * 1024);
    CHECK(t.depthA1 % (t.stepM * t.stepKa) == 0 && t.depthB1 % (t.stepN * t.stepKb) == 0);
    CHECK(t.isBias == 0 || t.baseN <= 256);
}

void Matmul()
{
    using namespace matmul_tiling;
    const int32_t shapes[][3] = {{16, 16, 16}, {1, 4096, 4096}, {4096, 4096, 4096}, {333, 777, 555}, {64, 64, 8192}};
    const std::pair<DataType, int32_t> dtypes[] = {
        {DataType::DT_FLOAT16, 2}, {DataType::DT_FLOAT, 4}, {DataType::DT_INT8, 1}};
    for (const auto& shape : shapes) {
        for (const auto& dtype : dtypes) {
            for (const bool bias : {false, true}) {
                AscendC::tiling::TCubeTiling t;
                MultiCoreMatmulTiling many(Platform());
                CHECK(many.SetDim(20) == 0);
                many.SetAType(TPosition::GM, CubeFormat::ND, dtype.first);
                many.SetBType(TPosition::GM, CubeFormat::ND, dtype.first, true);
                many.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
                many.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
                many.SetShape(shape[0], shape[1], shape[2]);
                many.EnableBias(bias);
                CHECK(many.GetTiling(t) == 0);
                CheckLegal(t, shape[0], shape[1], shape[2], dtype.second, 20);
                CHECK(t.M == shape[0] && t.N == shape[1] && t.Ka == shape[2] && t.Kb == shape[2]);
                int32_t dim = 0;
                int32_t m_dim = 0;
                int32_t n_dim = 0;
                many.GetCoreNum(dim, m_dim, n_dim);
                CHECK(dim == m_dim * n_dim && dim == t.usedCoreNum);
                // Large work uses nearly all cores.
                CHECK(shape[1] < 777 || dim >= 16);
            }
        }
    }
    MatmulApiTiling one(Platform());
    one.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    one.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16);
    one.SetShape(500, 500, 500);
    one.SetOrgShape(1000, 1000, 1000);
    CHECK(one.SetFixSplit(100, 64, 64) == -1 && one.SetFixSplit(64, 32, -1) == 0);
    CHECK(one.SetBufferSpace(64 * 1024) == 0 && one.SetBufferSpace(1 << 20) == -1);
    optiling::TCubeTiling tiling;
    CHECK(one.GetTiling(tiling) == 0 && tiling.get_baseM() == 64 && tiling.get_baseN() == 32);
    CHECK(one.GetBaseM() == 64 && tiling.get_shareL1Size() <= 64 * 1024 && tiling.get_M() == 1000);
    CHECK(tiling.get_singleCoreM() == 500 && tiling.get_usedCoreNum() == 1);
    // Blocks that no memory holds are refused.
    CHECK(one.SetFixSplit(512, 512, 64) == 0 && one.GetTiling(tiling) == -1);
}
} // namespace

int main()
{
    ElementwiseSizes();
    Softmax();
    Normalisation();
    SortAndReduce();
    Matmul();
    return CHECK_RESULT();
}
