// Tiling of matrix multiplication on the host. C (m x n) = A (m x k) B (k x n) is split over cores, each core's part
// into base blocks that fit L0A, L0B and L0C, and as many base blocks as L1 holds are loaded at once. Numbers are
// elements; functions that return a status return 0, or -1 where the arguments are not valid or nothing fits.
//
// The result is legal for this machine and is computed by a search of this SDK: sizes of blocks can differ from those
// of the toolkit's own search.
#ifndef ASCEND_SDK_TILING_MATMUL_TILING_H
#define ASCEND_SDK_TILING_MATMUL_TILING_H

#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/library_tiling_classes.h"
#include "tiling/matmul_types.h"

namespace matmul_tiling {
class MatmulApiTilingBase {
public:
    MatmulApiTilingBase();
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform);
    explicit MatmulApiTilingBase(const PlatformInfo& platform);
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition position, CubeFormat format, DataType dtype, bool transposed = false);
    int32_t SetBType(TPosition position, CubeFormat format, DataType dtype, bool transposed = false);
    int32_t SetCType(TPosition position, CubeFormat format, DataType dtype);
    int32_t SetBiasType(TPosition position, CubeFormat format, DataType dtype);
    int32_t SetScaleAType(TPosition position, CubeFormat format, bool transposed = false);
    int32_t SetScaleBType(TPosition position, CubeFormat format, bool transposed = true);
    int32_t SetDequantType(DequantType type);
    // What is multiplied; also the shape of the matrices themselves unless SetOrgShape says otherwise.
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k);
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb);
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
    int32_t SetBatchInfoForNormal(int32_t batch_a, int32_t batch_b, int32_t m, int32_t n, int32_t k);
    int32_t SetBatchNum(int32_t batch);
    int32_t EnableBias(bool enable = false);
    int32_t SetBias(bool enable = false);
    // Base block; -1 leaves a dimension to the search.
    int32_t SetFixSplit(int32_t base_m = -1, int32_t base_n = -1, int32_t base_k = -1);
    // Bytes of each memory that may be used; -1 for all.
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1);
    int32_t SetTraverse(MatrixTraverse traverse);
    int32_t SetMadType(MatrixMadType type);
    int32_t SetSplitRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1, int32_t min_m = -1,
                          int32_t min_n = -1, int32_t min_k = -1);
    // Accepted; buffers are doubled wherever they fit.
    int32_t SetDoubleBuffer(bool a, bool b, bool c, bool bias, bool nd_to_nz = true, bool nz_to_nd = true);
    void SetMatmulConfigParams(int32_t config_type = 1, bool l1_cache = false,
                               ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse order = MatrixTraverse::NOSET, bool vector_nd_to_nz = false);
    void SetMatmulConfigParams(const MatmulConfigParams& params);
    int32_t SetSparse(bool sparse = false);

    int32_t GetBaseM() const
    {
        return baseM;
    }
    int32_t GetBaseN() const
    {
        return baseN;
    }
    int32_t GetBaseK() const
    {
        return baseK;
    }
    virtual int64_t GetTiling(optiling::TCubeTiling& tiling) = 0;
    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) = 0;

    // Projects read and write some of these, so they are named as in the toolkit. -1 is "not set".
    optiling::TCubeTiling tiling_;
    MatTilingType aType_;
    MatTilingType bType_;
    MatTilingType cType_;
    MatTilingType biasType_;
    bool isBias = false;
    bool isSupportL0c2Out = true;
    int32_t blockDim = 1;
    int32_t orgM = -1;
    int32_t orgN = -1;
    int32_t orgKa = -1;
    int32_t orgKb = -1;
    struct Layout {
        int32_t b = 0;
        int32_t s = 0;
        int32_t n = 0;
        int32_t g = 0;
        int32_t d = 0;
    };
    Layout aLayout_;
    Layout bLayout_;
    Layout cLayout_;
    int32_t batchNum = 0;
    int32_t singleM = -1;
    int32_t singleN = -1;
    int32_t singleK = -1;
    int32_t singleCoreM = -1;
    int32_t singleCoreN = -1;
    int32_t singleCoreK = -1;
    int32_t baseM = -1;
    int32_t baseN = -1;
    int32_t baseK = -1;
    int32_t batchM = 1;
    int32_t batchN = 1;
    int32_t singleBatchM = 1;
    int32_t singleBatchN = 1;
    int32_t alignSingleM = 1;
    int32_t alignSingleN = 1;
    int32_t alignSingleK = 1;
    struct Range {
        int32_t maxBaseM = INT32_MAX;
        int32_t maxBaseN = INT32_MAX;
        int32_t maxBaseK = INT32_MAX;
        int32_t minBaseM = 16;
        int32_t minBaseN = 16;
        int32_t minBaseK = 16;
    } adjust_;
    BufferPool oriBufferPool_;
    BufferPool bufferPool_;
    MatrixTraverse traverse_ = MatrixTraverse::NOSET;
    MatrixMadType madType_ = MatrixMadType::NORMAL;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool isSparse_ = false;
    int32_t maxSingleM = -1;
    int32_t maxSingleN = -1;
    int32_t maxSingleK = -1;
    int32_t minSingleM = -1;
    int32_t minSingleN = -1;
    int32_t minSingleK = -1;
    DequantType deqType = DequantType::SCALAR;
    bool enableSplitK_ = false;
    platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
    int32_t mmConfigType = 1;
    bool enableL1CacheUB = false;
    bool enVecND2NZ = false;
    bool isBMNKBmm = false;

protected:
    // Fills tiling_.
    int64_t Compute();
    int64_t Answer(optiling::TCubeTiling& tiling);
    int64_t Answer(AscendC::tiling::TCubeTiling& tiling);
};

// One core's multiplication.
class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int64_t GetTiling(optiling::TCubeTiling& tiling) override;
    int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) override;
    // Whether a kernel may spread its buffers over the banks of L1; this SDK never asks for it.
    bool EnableL1BankConflictOptimise();
};

// A multiplication over several cores.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    // Cores that may be used.
    int32_t SetDim(int32_t dim);
    int32_t SetShape(int32_t m, int32_t n, int32_t k) override;
    // One core's part; -1 leaves a dimension to the search.
    virtual int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1);
    virtual int32_t SetSingleRange(int32_t max_m = -1, int32_t max_n = -1, int32_t max_k = -1, int32_t min_m = -1,
                                   int32_t min_n = -1, int32_t min_k = -1);
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t k);
    int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k);
    // Cores that are used, and how many along m and n.
    int32_t GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim);
    void EnableMultiCoreSplitK(bool enable);
    void SetSplitK(bool enable);
    int64_t GetTiling(optiling::TCubeTiling& tiling) override;
    int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) override;
    bool EnableL1BankConflictOptimise();
};

// Many multiplications of one shape.
class BatchMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t GetCoreNum(int32_t& dim, int32_t& m_dim, int32_t& n_dim, int32_t& batch_m, int32_t& batch_n);
    int64_t GetTiling(optiling::TCubeTiling& tiling) override;
    int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) override;
};
} // namespace matmul_tiling

extern "C" {
// Raise the sizes to what a tiling needs.
int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes);
int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes);
int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes);
int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes);
int32_t MultiCoreMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling,
                                       matmul_tiling::SysTilingTempBufSize& sizes);
int32_t BatchMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& sizes);
}

#endif
