// The setters and getters of the matrix tiling classes.
#include <algorithm>

#include "matmul_search.h"
#include "tiling/matmul_tiling.h"

namespace matmul_tiling {
namespace {
constexpr int32_t kAlignment = 32;
constexpr int32_t kBiasTableBytes = 1024;

BufferPool PoolOf(uint64_t l1, uint64_t l0c, uint64_t ub, uint64_t l0a, uint64_t l0b)
{
    BufferPool pool;
    pool.l1Size = static_cast<int32_t>(l1);
    pool.l0CSize = static_cast<int32_t>(l0c);
    pool.ubSize = static_cast<int32_t>(ub);
    pool.l0ASize = static_cast<int32_t>(l0a);
    pool.l0BSize = static_cast<int32_t>(l0b);
    pool.btSize = kBiasTableBytes;
    pool.l1AlignSize = kAlignment;
    pool.l0CAlignSize = kAlignment;
    pool.l0AAlignSize = kAlignment;
    pool.l0BAlignSize = kAlignment;
    pool.ubAlignSize = kAlignment;
    return pool;
}

void Limit(int32_t fixed, int32_t value, int32_t& limit)
{
    if (fixed == -1 && value != -1) {
        limit = value / kCube * kCube;
    }
}
} // namespace

MatmulApiTilingBase::MatmulApiTilingBase()
{
    oriBufferPool_ = PoolOf(512 * 1024 - 256, 128 * 1024, 192 * 1024 - 256, 64 * 1024, 64 * 1024);
    bufferPool_ = oriBufferPool_;
    aType_.isDB = bType_.isDB = cType_.isDB = biasType_.isDB = true;
}

MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) : MatmulApiTilingBase()
{
    const auto size = [&platform](platform_ascendc::CoreMemType type) {
        uint64_t bytes = 0;
        platform.GetCoreMemSize(type, bytes);
        return bytes;
    };
    using platform_ascendc::CoreMemType;
    socVersion = platform.GetSocVersion();
    oriBufferPool_ = PoolOf(size(CoreMemType::L1), size(CoreMemType::L0_C), size(CoreMemType::UB),
                            size(CoreMemType::L0_A), size(CoreMemType::L0_B));
    bufferPool_ = oriBufferPool_;
}

MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& platform) : MatmulApiTilingBase()
{
    socVersion = platform.socVersion;
    oriBufferPool_ =
        PoolOf(platform.l1Size, platform.l0CSize, platform.ubSize, platform.l0ASize, platform.l0BSize);
    bufferPool_ = oriBufferPool_;
}

int32_t MatmulApiTilingBase::SetAType(TPosition position, CubeFormat format, DataType dtype, bool transposed)
{
    aType_.pos = position;
    aType_.type = format;
    aType_.dataType = dtype;
    aType_.isTrans = transposed;
    return 0;
}

int32_t MatmulApiTilingBase::SetBType(TPosition position, CubeFormat format, DataType dtype, bool transposed)
{
    bType_.pos = position;
    bType_.type = format;
    bType_.dataType = dtype;
    bType_.isTrans = transposed;
    return 0;
}

int32_t MatmulApiTilingBase::SetCType(TPosition position, CubeFormat format, DataType dtype)
{
    cType_.pos = position;
    cType_.type = format;
    cType_.dataType = dtype;
    return 0;
}

int32_t MatmulApiTilingBase::SetBiasType(TPosition position, CubeFormat format, DataType dtype)
{
    biasType_.pos = position;
    biasType_.type = format;
    biasType_.dataType = dtype;
    return 0;
}

int32_t MatmulApiTilingBase::SetScaleAType(TPosition position, CubeFormat format, bool transposed)
{
    aType_.hasSetScaleType = true;
    aType_.scalePos = position;
    aType_.scaleType = format;
    aType_.isScaleTrans = transposed;
    return 0;
}

int32_t MatmulApiTilingBase::SetScaleBType(TPosition position, CubeFormat format, bool transposed)
{
    bType_.hasSetScaleType = true;
    bType_.scalePos = position;
    bType_.scaleType = format;
    bType_.isScaleTrans = transposed;
    return 0;
}

int32_t MatmulApiTilingBase::SetDequantType(DequantType type)
{
    deqType = type;
    return 0;
}

int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k)
{
    singleM = m;
    singleN = n;
    singleK = k;
    if (orgM == -1 && orgN == -1 && orgKa == -1 && orgKb == -1) {
        return SetOrgShape(m, n, k);
    }
    return 0;
}

int32_t MatmulApiTilingBase::SetOrgShape(int32_t m, int32_t n, int32_t k)
{
    return SetOrgShape(m, n, k, k);
}

int32_t MatmulApiTilingBase::SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
{
    orgM = m;
    orgN = n;
    orgKa = ka;
    orgKb = kb;
    return 0;
}

int32_t MatmulApiTilingBase::SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
{
    aLayout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
{
    bLayout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
{
    cLayout_ = {b, s, n, g, d};
    return 0;
}

int32_t MatmulApiTilingBase::SetBatchInfoForNormal(int32_t batch_a, int32_t batch_b, int32_t m, int32_t n, int32_t k)
{
    if (batch_a <= 0 || batch_b <= 0 || m <= 0 || n <= 0 || k <= 0 ||
        (batchNum > 0 && std::max(batch_a, batch_b) > batchNum)) {
        return -1;
    }
    aLayout_ = {batch_a, m, 1, 1, k};
    bLayout_ = {batch_b, n, 1, 1, k};
    cLayout_ = {std::max(batch_a, batch_b), m, 1, 1, n};
    isBMNKBmm = true;
    return 0;
}

int32_t MatmulApiTilingBase::SetBatchNum(int32_t batch)
{
    if (batch <= 0 || batch < aLayout_.b || batch < bLayout_.b) {
        return -1;
    }
    batchNum = batch;
    return 0;
}

int32_t MatmulApiTilingBase::EnableBias(bool enable)
{
    isBias = enable;
    return 0;
}

int32_t MatmulApiTilingBase::SetBias(bool enable)
{
    return EnableBias(enable);
}

int32_t MatmulApiTilingBase::SetFixSplit(int32_t base_m, int32_t base_n, int32_t base_k)
{
    const int32_t k_unit = BlockElements(aType_.dataType);
    if (base_m == 0 || base_n == 0 || base_k == 0 || (base_m != -1 && base_m % kCube != 0) ||
        (base_n != -1 && base_n % kCube != 0) || (base_k != -1 && base_k % k_unit != 0)) {
        return -1;
    }
    if (base_m != -1) {
        baseM = adjust_.maxBaseM = adjust_.minBaseM = base_m;
    }
    if (base_n != -1) {
        baseN = adjust_.maxBaseN = adjust_.minBaseN = base_n;
    }
    if (base_k != -1) {
        baseK = adjust_.maxBaseK = adjust_.minBaseK = base_k;
    }
    return 0;
}

int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1, int32_t l0c, int32_t ub, int32_t bt)
{
    const auto valid = [](int32_t bytes, int32_t most) { return bytes >= -1 && bytes <= most; };
    if (!valid(l1, bufferPool_.l1Size) || !valid(l0c, bufferPool_.l0CSize) || !valid(ub, bufferPool_.ubSize) ||
        !valid(bt, bufferPool_.btSize)) {
        return -1;
    }
    const auto set = [](int32_t bytes, int32_t alignment, int32_t& size) {
        if (bytes != -1) {
            size = bytes / alignment * alignment;
        }
    };
    set(l1, kAlignment, bufferPool_.l1Size);
    set(l0c, kAlignment, bufferPool_.l0CSize);
    set(ub, kAlignment, bufferPool_.ubSize);
    set(bt, 1, bufferPool_.btSize);
    return 0;
}

int32_t MatmulApiTilingBase::SetTraverse(MatrixTraverse traverse)
{
    traverse_ = traverse;
    return 0;
}

int32_t MatmulApiTilingBase::SetMadType(MatrixMadType type)
{
    madType_ = type;
    return 0;
}

int32_t MatmulApiTilingBase::SetSplitRange(int32_t max_m, int32_t max_n, int32_t max_k, int32_t min_m, int32_t min_n,
                                           int32_t min_k)
{
    Limit(baseM, max_m, adjust_.maxBaseM);
    Limit(baseM, min_m, adjust_.minBaseM);
    Limit(baseN, max_n, adjust_.maxBaseN);
    Limit(baseN, min_n, adjust_.minBaseN);
    Limit(baseK, max_k, adjust_.maxBaseK);
    Limit(baseK, min_k, adjust_.minBaseK);
    return 0;
}

int32_t MatmulApiTilingBase::SetDoubleBuffer(bool, bool, bool, bool, bool, bool)
{
    return 0;
}

void MatmulApiTilingBase::SetMatmulConfigParams(int32_t config_type, bool l1_cache, ScheduleType schedule,
                                                MatrixTraverse order, bool vector_nd_to_nz)
{
    SetMatmulConfigParams(MatmulConfigParams(config_type, l1_cache, schedule, order, vector_nd_to_nz));
}

void MatmulApiTilingBase::SetMatmulConfigParams(const MatmulConfigParams& params)
{
    mmConfigType = params.mmConfigType;
    enableL1CacheUB = params.enableL1CacheUB;
    scheduleType = params.scheduleType;
    traverse_ = params.traverse;
    enVecND2NZ = params.enVecND2NZ;
}

int32_t MatmulApiTilingBase::SetSparse(bool sparse)
{
    isSparse_ = sparse;
    return 0;
}

int64_t MatmulApiTilingBase::Compute()
{
    return SearchMatmul(*this) ? 0 : -1;
}

int64_t MatmulApiTilingBase::Answer(optiling::TCubeTiling& tiling)
{
    AscendC::tiling::TCubeTiling plain;
    const int64_t status = Answer(plain);
    if (status == 0) {
#define COPY(field) tiling.set_##field(plain.field)
        COPY(usedCoreNum);
        COPY(M);
        COPY(N);
        COPY(Ka);
        COPY(Kb);
        COPY(singleCoreM);
        COPY(singleCoreN);
        COPY(singleCoreK);
        COPY(baseM);
        COPY(baseN);
        COPY(baseK);
        COPY(depthA1);
        COPY(depthB1);
        COPY(stepM);
        COPY(stepN);
        COPY(isBias);
        COPY(transLength);
        COPY(iterateOrder);
        COPY(shareMode);
        COPY(shareL1Size);
        COPY(shareL0CSize);
        COPY(shareUbSize);
        COPY(batchM);
        COPY(batchN);
        COPY(singleBatchM);
        COPY(singleBatchN);
        COPY(stepKa);
        COPY(stepKb);
        COPY(depthAL1CacheUB);
        COPY(depthBL1CacheUB);
        COPY(dbL0A);
        COPY(dbL0B);
        COPY(dbL0C);
        COPY(ALayoutInfoB);
        COPY(ALayoutInfoS);
        COPY(ALayoutInfoN);
        COPY(ALayoutInfoG);
        COPY(ALayoutInfoD);
        COPY(BLayoutInfoB);
        COPY(BLayoutInfoS);
        COPY(BLayoutInfoN);
        COPY(BLayoutInfoG);
        COPY(BLayoutInfoD);
        COPY(CLayoutInfoB);
        COPY(CLayoutInfoS1);
        COPY(CLayoutInfoN);
        COPY(CLayoutInfoG);
        COPY(CLayoutInfoS2);
        COPY(BatchNum);
        COPY(mxTypePara);
#undef COPY
    }
    return status;
}

int64_t MatmulApiTilingBase::Answer(AscendC::tiling::TCubeTiling& tiling)
{
    const int64_t status = Compute();
    if (status == 0) {
        tiling_.SaveToBuffer(&tiling, sizeof tiling);
    }
    return status;
}

int64_t MatmulApiTiling::GetTiling(optiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}

int64_t MatmulApiTiling::GetTiling(AscendC::tiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}

bool MatmulApiTiling::EnableL1BankConflictOptimise()
{
    return false;
}

int32_t MultiCoreMatmulTiling::SetDim(int32_t dim)
{
    blockDim = dim;
    return 0;
}

int32_t MultiCoreMatmulTiling::SetShape(int32_t m, int32_t n, int32_t k)
{
    return MatmulApiTilingBase::SetShape(m, n, k);
}

int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t m, int32_t n, int32_t k)
{
    singleCoreM = m > 0 ? m : singleCoreM;
    singleCoreN = n > 0 ? n : singleCoreN;
    singleCoreK = k > 0 ? k : singleCoreK;
    return 0;
}

int32_t MultiCoreMatmulTiling::SetSingleRange(int32_t max_m, int32_t max_n, int32_t max_k, int32_t min_m,
                                              int32_t min_n, int32_t min_k)
{
    maxSingleM = max_m;
    maxSingleN = max_n;
    maxSingleK = max_k;
    minSingleM = min_m;
    minSingleN = min_n;
    minSingleK = min_k;
    return 0;
}

int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t m, int32_t n, int32_t k)
{
    alignSingleM = m > 0 ? m : alignSingleM;
    alignSingleN = n > 0 ? n : alignSingleN;
    alignSingleK = k > 0 ? k : alignSingleK;
    return 0;
}

int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t& m, int32_t& n, int32_t& k)
{
    m = tiling_.get_singleCoreM();
    n = tiling_.get_singleCoreN();
    k = tiling_.get_singleCoreK();
    return 0;
}

int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim)
{
    dim = tiling_.get_usedCoreNum();
    m_dim = CeilDiv(singleM, tiling_.get_singleCoreM());
    n_dim = CeilDiv(singleN, tiling_.get_singleCoreN());
    return 0;
}

void MultiCoreMatmulTiling::EnableMultiCoreSplitK(bool enable)
{
    enableSplitK_ = enable;
}

void MultiCoreMatmulTiling::SetSplitK(bool enable)
{
    EnableMultiCoreSplitK(enable);
}

int64_t MultiCoreMatmulTiling::GetTiling(optiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}

int64_t MultiCoreMatmulTiling::GetTiling(AscendC::tiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}

bool MultiCoreMatmulTiling::EnableL1BankConflictOptimise()
{
    return false;
}

int32_t BatchMatmulTiling::GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim, int32_t& batch_m,
                                      int32_t& batch_n)
{
    dim = tiling_.get_usedCoreNum();
    m_dim = CeilDiv(tiling_.get_M(), tiling_.get_singleCoreM());
    n_dim = CeilDiv(tiling_.get_N(), tiling_.get_singleCoreN());
    batch_m = CeilDiv(batchM, singleBatchM);
    batch_n = CeilDiv(batchN, singleBatchN);
    return 0;
}

int64_t BatchMatmulTiling::GetTiling(optiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}

int64_t BatchMatmulTiling::GetTiling(AscendC::tiling::TCubeTiling& tiling)
{
    return Answer(tiling);
}
} // namespace matmul_tiling

namespace {
int32_t Raise(const AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    sizes.l1Size = std::max(sizes.l1Size, tiling.shareL1Size);
    sizes.l0cSize = std::max(sizes.l0cSize, tiling.shareL0CSize);
    sizes.ubSize = std::max({sizes.ubSize, tiling.shareUbSize, 2 * tiling.transLength});
    return 0;
}

int32_t Raise(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    AscendC::tiling::TCubeTiling plain;
    tiling.SaveToBuffer(&plain, sizeof plain);
    return Raise(plain, sizes);
}
} // namespace

int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}

int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}

int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}

int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}

int32_t MultiCoreMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling,
                                       matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}

int32_t BatchMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes)
{
    return Raise(tiling, sizes);
}
