// What tiling functions call of the library: sizes of temporaries and tilings of library functions.
#include <cstring>

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
} // namespace

int main()
{
    ElementwiseSizes();
    Softmax();
    Normalisation();
    SortAndReduce();
    return CHECK_RESULT();
}
