// Padding and transposition on the host.
#include "arithmetic.h"
#include "tiling/rearrange_tiling.h"

namespace AscendC {
using namespace tiling_api;

namespace {
constexpr uint32_t kCube = 16;           // rows and columns of a fractal, and of a transposition
constexpr uint32_t kFractal = kCube * kCube;

bool IsMatrix(const TensorShape& shape, uint32_t type_size)
{
    return shape.GetDimNum() == 2 && type_size > 0 && type_size <= kBlockBytes;
}

// The temporaries of both are two halves, each a number of transpositions of sixteen blocks.
template <typename Tiling>
uint32_t SplitWorkspace(Tiling& tiling, uint32_t workspace, uint32_t type_size)
{
    const uint32_t unit = kCube * kBlockBytes / type_size;
    const uint32_t units = workspace / type_size / unit / 2;
    tiling.set_tmpBuffer1BlockNum(units);
    tiling.set_tmpBuffer1RowNum(kCube * units);
    tiling.set_tmpBuffer2Offset(units * unit);
    return kCube * units;
}
} // namespace

void GetPadMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, uint32_t& max_bytes, uint32_t& min_bytes)
{
    if (!IsMatrix(shape, type_size)) {
        return;
    }
    min_bytes = kCube * kBlockBytes * 2;
    max_bytes = RoundUp(Dim(shape, 0) * Dim(shape, 1), kCube) * kBlockBytes * 2;
}

void PadTilingFunc(const TensorShape shape, const TensorShape original, const uint32_t workspace,
                   const uint32_t type_size, optiling::PadTiling& tiling)
{
    if (!IsMatrix(shape, type_size)) {
        return;
    }
    constexpr uint32_t kRows = 255;
    constexpr uint32_t kBroadcastRepeats = 254;
    const uint32_t height = Dim(shape, 0);
    const uint32_t width = Dim(shape, 1);
    const uint32_t per_block = kBlockBytes / type_size;
    tiling.set_srcHeight(height);
    tiling.set_srcWidth(width);
    tiling.set_srcOriWidth(Dim(original, 1));
    tiling.set_widthWithoutLastBlock(width - per_block);
    tiling.set_blocksPerRow(width * type_size / kBlockBytes);
    tiling.set_heightTiling(kRows);
    tiling.set_heightFractal(height / kRows);
    tiling.set_heightFractalTail(height % kRows);
    tiling.set_mainLoopOffset(kRows * width);
    tiling.set_tailBlockOffset(height / kRows * kRows * width + width - per_block);
    if (workspace == 0) {
        return;
    }
    const uint32_t step = SplitWorkspace(tiling, workspace, type_size);
    if (step == 0) {
        return;
    }
    const uint32_t tail = width % step;
    tiling.set_widthTiling(step);
    tiling.set_widthFractal(width / step);
    tiling.set_widthFractalTail(tail);
    tiling.set_widthFractalTailAlingned(((tail - 1) / per_block + 1) * per_block);
    const uint32_t broadcast_tail = height * width % step;
    tiling.set_brcbTiling(step);
    tiling.set_brcbFractal(height * width / step);
    tiling.set_brcbFractalTail(broadcast_tail);
    tiling.set_maxRepeatTimes(kBroadcastRepeats);
    tiling.set_brcbTilingRepeatTimes(step / 8 / kBroadcastRepeats);
    tiling.set_brcbTilingRepeatTimesTail(step / 8 % kBroadcastRepeats);
    tiling.set_brcbFractalTailRepeatTimes(broadcast_tail / 8 / kBroadcastRepeats);
    tiling.set_brcbFractalTailRepeatTimesTail(broadcast_tail / 8 % kBroadcastRepeats);
}

void PadTilingFunc(const TensorShape shape, const TensorShape original, const uint32_t workspace,
                   const uint32_t type_size, tiling::PadTiling& tiling)
{
    AsStruct<optiling::PadTiling>(
        tiling, [&](optiling::PadTiling& out) { PadTilingFunc(shape, original, workspace, type_size, out); });
}

void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const TensorShape&, const uint32_t,
                           uint32_t& max_bytes, uint32_t& min_bytes)
{
    max_bytes = 0;
    min_bytes = 0;
}

void UnPadTilingFunc(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                     optiling::UnPadTiling& tiling)
{
    if (!IsMatrix(shape, type_size)) {
        return;
    }
    const uint32_t width = Dim(shape, 1);
    tiling.set_srcHeight(Dim(shape, 0));
    tiling.set_srcWidth(width);
    if (workspace == 0) {
        return;
    }
    const uint32_t step = SplitWorkspace(tiling, workspace, type_size);
    if (step == 0) {
        return;
    }
    tiling.set_widthTiling(step);
    tiling.set_widthFractal((width + step - 1) / step);
    tiling.set_widthFractalTail(width % step != 0 ? width % step : step);
}

void UnPadTilingFunc(const TensorShape shape, const uint32_t workspace, const uint32_t type_size,
                     tiling::UnPadTiling& tiling)
{
    AsStruct<optiling::UnPadTiling>(
        tiling, [&](optiling::UnPadTiling& out) { UnPadTilingFunc(shape, workspace, type_size, out); });
}

namespace {
// Numbers of the kernel API's TransposeType.
enum Kind : uint32_t {
    kNzToNd0213 = 1,
    kNzToNz0213,
    kNzToNz012WithN,
    kNzToNd012WithN,
    kNzToNd012WithoutN,
    kNzToNz012WithoutN,
    kOnly,
    k021 = 13,
    k102,
    k210,
};

// Writes the parameters in order.
class Parameters {
public:
    explicit Parameters(optiling::ConfusionTransposeTiling& tiling) : tiling_(tiling) {}

    Parameters& operator<<(uint32_t value)
    {
        using Setter = void (optiling::ConfusionTransposeTiling::*)(uint32_t);
        using Tiling = optiling::ConfusionTransposeTiling;
        static const Setter kSetters[] = {
            &Tiling::set_param0,  &Tiling::set_param1,  &Tiling::set_param2,  &Tiling::set_param3,
            &Tiling::set_param4,  &Tiling::set_param5,  &Tiling::set_param6,  &Tiling::set_param7,
            &Tiling::set_param8,  &Tiling::set_param9,  &Tiling::set_param10, &Tiling::set_param11,
            &Tiling::set_param12, &Tiling::set_param13, &Tiling::set_param14, &Tiling::set_param15,
            &Tiling::set_param16, &Tiling::set_param17,
        };
        (tiling_.*kSetters[next_++])(value);
        return *this;
    }

private:
    optiling::ConfusionTransposeTiling& tiling_;
    size_t next_ = 0;
};

uint32_t Cubes(uint32_t value)
{
    return (value + kCube - 1) / kCube;
}

void Fill0213(const TensorShape& shape, uint32_t workspace, uint32_t type_size, Parameters out)
{
    const uint32_t a1 = Dim(shape, 1);
    const uint32_t a2 = Cubes(Dim(shape, 2)) * kCube;
    const uint32_t width = Cubes(Dim(shape, 3));
    const uint32_t a3 = width * kCube;
    const uint32_t step = workspace / type_size / kFractal * kFractal;
    if (step == 0) {
        return;
    }
    const uint32_t rows = step / kCube;
    const uint32_t need = a2 * kCube;
    out << kBlockBytes / type_size << Dim(shape, 0) << a1 << a3 << a2 << width << step << rows << need << need / step
        << need % step << a2 * a3 << a1 * a2 * a3 << a1 * a3 << a1 * kCube << rows * (need / step) * a1 * a3;
}

void FillNzToNz012WithN(const TensorShape& shape, uint32_t type_size, Parameters out)
{
    const uint32_t block = kBlockBytes / type_size;
    const uint32_t n = Dim(shape, 1);
    const uint32_t part = Dim(shape, 3);
    const uint32_t h = part * n;
    const uint32_t s = Cubes(Dim(shape, 2));
    const uint32_t stored_h = Cubes(h) * kCube;
    const uint32_t stored_s = s * kCube;
    const uint32_t stored_part = Cubes(part) * kCube;
    out << block << Dim(shape, 0) << n << part << kCube / block << h << Cubes(h) << s << stored_h << stored_s
        << Cubes(part) << stored_part << stored_part - part << stored_s * kCube << n * Cubes(part)
        << n * stored_part * stored_s << stored_h * stored_s;
}

void FillNzToNd012WithN(const TensorShape& shape, uint32_t type_size, Parameters out)
{
    const uint32_t block = kBlockBytes / type_size;
    const uint32_t n = Dim(shape, 1);
    const uint32_t part = Dim(shape, 3);
    const uint32_t h = part * n;
    const uint32_t s = Cubes(Dim(shape, 2));
    const uint32_t stored_part = Cubes(part) * kCube;
    out << block << Dim(shape, 0) << n << part << h << Cubes(h) << s << Cubes(part) << stored_part
        << stored_part - part << s * kFractal << n * Cubes(part) << s * kCube * stored_part << stored_part * kCube
        << stored_part * block << n * stored_part * s * kCube << Cubes(h) * s * kFractal << kCube / block;
}

void Fill012WithoutN(const TensorShape& shape, uint32_t type_size, Parameters out)
{
    const uint32_t block = kBlockBytes / type_size;
    const uint32_t n = Dim(shape, 1);
    const uint32_t part = Dim(shape, 3);
    const uint32_t h = part * n;
    const uint32_t s = Cubes(Dim(shape, 2));
    const uint32_t stored_h = Cubes(h) * kCube;
    out << block << Dim(shape, 0) << n << part << h << Cubes(h) << s << Cubes(part) << stored_h << s * kFractal
        << stored_h * kCube << block * stored_h << n * Cubes(part) * kCube * s * kCube << stored_h * s * kCube
        << kCube / block;
}
} // namespace

void GetConfusionTransposeOnlyTilingInfo(const TensorShape& shape, const uint32_t, const uint32_t type_size,
                                         optiling::ConfusionTransposeTiling& tiling)
{
    if (type_size == 0 || type_size > kBlockBytes) {
        return;
    }
    const uint32_t block = kBlockBytes / type_size;
    const uint32_t height = Dim(shape, 0);
    const uint32_t width = Dim(shape, 1);
    Parameters(tiling) << block << height << width << height / kCube << height * block * type_size / kBlockBytes
                       << width / block;
}

void GetConfusionTransposeOnlyTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                         tiling::ConfusionTransposeTiling& tiling)
{
    AsStruct<optiling::ConfusionTransposeTiling>(tiling, [&](optiling::ConfusionTransposeTiling& out) {
        GetConfusionTransposeOnlyTilingInfo(shape, workspace, type_size, out);
    });
}

void GetTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                            const uint32_t kind, optiling::ConfusionTransposeTiling& tiling)
{
    if (type_size == 0 || type_size > kBlockBytes) {
        return;
    }
    Parameters out(tiling);
    switch (kind) {
        case kNzToNd0213:
        case kNzToNz0213:
            return Fill0213(shape, workspace, type_size, out);
        case kNzToNz012WithN:
            return FillNzToNz012WithN(shape, type_size, out);
        case kNzToNd012WithN:
            return FillNzToNd012WithN(shape, type_size, out);
        case kNzToNd012WithoutN:
        case kNzToNz012WithoutN:
            return Fill012WithoutN(shape, type_size, out);
        case kOnly:
            return GetConfusionTransposeOnlyTilingInfo(shape, workspace, type_size, tiling);
        case k021:
            if (shape.GetDimNum() == 2) {
                out << 1u << Dim(shape, 0) << Dim(shape, 1);
                return;
            }
            [[fallthrough]];
        case k102:
        case k210:
            if (shape.GetDimNum() == 3) {
                out << Dim(shape, 0) << Dim(shape, 1) << Dim(shape, 2);
            }
            return;
        default:
            return;
    }
}

void GetTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                            const uint32_t kind, tiling::ConfusionTransposeTiling& tiling)
{
    AsStruct<optiling::ConfusionTransposeTiling>(tiling, [&](optiling::ConfusionTransposeTiling& out) {
        GetTransposeTilingInfo(shape, workspace, type_size, kind, out);
    });
}

void GetConfusionTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                     const uint32_t kind, optiling::ConfusionTransposeTiling& tiling)
{
    GetTransposeTilingInfo(shape, workspace, type_size, kind, tiling);
}

void GetConfusionTransposeTilingInfo(const TensorShape& shape, const uint32_t workspace, const uint32_t type_size,
                                     const uint32_t kind, tiling::ConfusionTransposeTiling& tiling)
{
    GetTransposeTilingInfo(shape, workspace, type_size, kind, tiling);
}

void GetTransposeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t kind,
                               uint32_t& max_bytes, uint32_t& min_bytes)
{
    switch (kind) {
        case kNzToNd0213:
        case kNzToNz0213:
            max_bytes = Cubes(Dim(shape, 2)) * kFractal * type_size;
            min_bytes = kFractal * type_size;
            return;
        case kNzToNz012WithN:
        case kNzToNd012WithN:
        case kNzToNd012WithoutN:
        case kNzToNz012WithoutN:
            max_bytes = 2 * kFractal * type_size;
            min_bytes = max_bytes;
            return;
        case kOnly:
        case k021:
        case k102:
        case k210:
            max_bytes = 0;
            min_bytes = 0;
            return;
        default:
            return;
    }
}

void GetConfusionTransposeMaxMinTmpSize(const TensorShape& shape, const uint32_t type_size, const uint32_t kind,
                                        uint32_t& max_bytes, uint32_t& min_bytes)
{
    GetTransposeMaxMinTmpSize(shape, type_size, kind, max_bytes, min_bytes);
}
} // namespace AscendC
