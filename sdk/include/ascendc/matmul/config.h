// Words of matrix multiplication: formats, layouts and configurations. A configuration chooses between implementations on
// hardware; results here do not depend on it, except where a member says so.
#ifndef ASCENDC_MATMUL_CONFIG_H
#define ASCENDC_MATMUL_CONFIG_H

#include "ascendc/defs.h"
#include "kernel_tiling/kernel_tiling.h"

enum class CubeFormat {
    ND = 0,
    NZ,
    ZN,
    ZZ,
    NN,
    ND_ALIGN,
    SCALAR,
    VECTOR,
    ROW_MAJOR = ND,
    COLUMN_MAJOR = 8,
};
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT };
enum class BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };
enum IterateMode : uint8_t {
    ITERATE_MODE_NORMAL = 1,
    ITERATE_MODE_ALL = 2,
    ITERATE_MODE_BATCH = 4,
    ITERATE_MODE_N_BATCH = 8,
    ITERATE_MODE_DEFAULT = 255,
};

struct MatmulConfig {
    bool doNorm = false;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = IterateMode::ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF; // the order of base blocks, over that of the tiling
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false; // the result is max(C, 0)
};

// Groups of members for GetMMConfig.
struct MatmulShapeParams {
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
};
struct MatmulQuantParams {
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
};
struct MatmulBatchParams {
    bool isNBatch = false;
    BatchMode batchMode = BatchMode::NONE;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsCheck = false;
    bool enVecND2NZ = false;
    bool enableDoubleCache = false;
    bool enableL1CacheUB = false;
    uint32_t doMTE2Preload = 0;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
};
struct MatmulBiasParams {
    bool enableSetBias = true;
};

namespace AscendC {
using ::BatchMode;
using ::BatchOutMode;
using ::CubeFormat;
using ::IterateMode;
using ::IterateOrder;
using ::LayoutMode;
using ::MatmulConfig;
using ::MatmulConfigMode;
using ::MatmulBatchParams;
using ::MatmulBiasParams;
using ::MatmulFuncParams;
using ::MatmulQuantParams;
using ::MatmulShapeParams;
using ::ScheduleType;

/// An operand: where it is, how it lies there, its dtype, and whether it may come transposed.
template <
    TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE,
    bool IBSHARE = false>
struct MatmulType {
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    using T = TYPE;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
};

constexpr MatmulConfig GetNormalConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
    const IterateOrder order = IterateOrder::UNDEF, const ScheduleType schedule = ScheduleType::INNER_PRODUCT,
    const bool enUnitFlag = true, const bool enableMixDualMaster = false,
    const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH)
{
    MatmulConfig config;
    config.doNorm = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = order;
    config.scheduleType = schedule;
    config.enUnitFlag = enUnitFlag;
    config.enableUBReuse = true;
    config.enableMixDualMaster = enableMixDualMaster;
    config.bmmOutMode = bmmOutMode;
    return config;
}
constexpr MatmulConfig GetMDLConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
    const bool isVecND2NZ = false, const bool isPerTensor = false, const bool hasAntiQuantOffset = false,
    const bool enUnitFlag = false, const bool isMsgReuse = true, const bool enableUBReuse = true,
    const bool enableL1CacheUB = false, const bool enableMixDualMaster = false,
    const bool enableKdimReorderLoad = false, const bool enableL1BankConflictOptimise = false)
{
    MatmulConfig config;
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.doMTE2Preload = doMTE2Preload;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enUnitFlag = enUnitFlag;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = enableL1BankConflictOptimise;
    return config;
}
constexpr MatmulConfig GetSpecialMDLConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
    const bool isVecND2NZ = false, const bool isPerTensor = false, const bool hasAntiQuantOffset = false)
{
    MatmulConfig config =
        GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
    config.doMultiDataLoad = false;
    config.doSpecialMDL = true;
    return config;
}
constexpr MatmulConfig GetBasicConfig(
    const uint32_t basicM, const uint32_t basicN, const uint32_t basicK, const bool intrinsicsLimit = false,
    const bool batchLoop = false, const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1)
{
    MatmulConfig config;
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.batchMode = bmmMode;
    config.enUnitFlag = false;
    config.enableUBReuse = true;
    return config;
}
constexpr MatmulConfig GetIBShareNormConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isDoubleCache = false,
    const bool enUnitFlag = true)
{
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
    config.doNorm = false;
    config.doIBShareNorm = true;
    config.enableDoubleCache = isDoubleCache;
    config.enUnitFlag = enUnitFlag;
    return config;
}

constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);

namespace detail {
constexpr void Apply(MatmulConfig& config, const MatmulShapeParams& p)
{
    config.singleCoreM = p.singleCoreM;
    config.singleCoreN = p.singleCoreN;
    config.singleCoreK = p.singleCoreK;
    config.basicM = p.basicM;
    config.basicN = p.basicN;
    config.basicK = p.basicK;
}
constexpr void Apply(MatmulConfig& config, const MatmulQuantParams& p)
{
    config.isPerTensor = p.isPerTensor;
    config.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void Apply(MatmulConfig& config, const MatmulBatchParams& p)
{
    config.isNBatch = p.isNBatch;
    config.batchMode = p.batchMode;
    config.isBiasBatch = p.isBiasBatch;
    config.bmmOutMode = p.bmmOutMode;
}
constexpr void Apply(MatmulConfig& config, const MatmulFuncParams& p)
{
    config.intrinsicsCheck = p.intrinsicsCheck;
    config.enVecND2NZ = p.enVecND2NZ;
    config.enableDoubleCache = p.enableDoubleCache;
    config.enableL1CacheUB = p.enableL1CacheUB;
    config.doMTE2Preload = p.doMTE2Preload;
    config.iterateOrder = p.iterateOrder;
    config.scheduleType = p.scheduleType;
    config.enableReuse = p.enableReuse;
    config.enableUBReuse = p.enableUBReuse;
    config.isPartialOutput = p.isPartialOutput;
    config.isA2B2Shared = p.isA2B2Shared;
    config.isEnableChannelSplit = p.isEnableChannelSplit;
    config.enableKdimReorderLoad = p.enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = p.enableL1BankConflictOptimise;
    config.enableRelu = p.enableRelu;
}
constexpr void Apply(MatmulConfig& config, const MatmulBiasParams& p) { config.enableSetBias = p.enableSetBias; }
}  // namespace detail

/// The configuration of a kind with groups of members replaced.
template <MatmulConfigMode mode, typename... Params>
constexpr MatmulConfig GetMMConfig(Params&&... params)
{
    MatmulConfig config = mode == MatmulConfigMode::CONFIG_MDL ? CFG_MDL
        : mode == MatmulConfigMode::CONFIG_SPECIALMDL          ? GetSpecialMDLConfig()
        : mode == MatmulConfigMode::CONFIG_IBSHARE             ? CFG_IBSHARE_NORM
                                                               : CFG_NORM;
    (detail::Apply(config, params), ...);
    return config;
}

/// A tiling known at compile time: the values of a TCubeTiling, -1 where they come at run time, and a configuration.
struct MatmulApiStaticTiling {
    int32_t usedCoreNum = -1;
    int32_t M = -1;
    int32_t N = -1;
    int32_t Ka = -1;
    int32_t Kb = -1;
    int32_t singleCoreM = -1;
    int32_t singleCoreN = -1;
    int32_t singleCoreK = -1;
    int32_t baseM = -1;
    int32_t baseN = -1;
    int32_t baseK = -1;
    int32_t depthA1 = -1;
    int32_t depthB1 = -1;
    int32_t stepM = -1;
    int32_t stepN = -1;
    int32_t stepKa = -1;
    int32_t stepKb = -1;
    int32_t isBias = -1;
    int32_t transLength = -1;
    int32_t iterateOrder = -1;
    int32_t dbL0A = -1;
    int32_t dbL0B = -1;
    int32_t dbL0C = -1;
    int32_t shareMode = -1;
    int32_t shareL1Size = -1;
    int32_t shareL0CSize = -1;
    int32_t shareUbSize = -1;
    int32_t batchM = -1;
    int32_t batchN = -1;
    int32_t singleBatchM = -1;
    int32_t singleBatchN = -1;
    int32_t depthAL1CacheUB = -1;
    int32_t depthBL1CacheUB = -1;
    int32_t ALayoutInfoB = -1;
    int32_t ALayoutInfoS = -1;
    int32_t ALayoutInfoN = -1;
    int32_t ALayoutInfoG = -1;
    int32_t ALayoutInfoD = -1;
    int32_t BLayoutInfoB = -1;
    int32_t BLayoutInfoS = -1;
    int32_t BLayoutInfoN = -1;
    int32_t BLayoutInfoG = -1;
    int32_t BLayoutInfoD = -1;
    int32_t CLayoutInfoB = -1;
    int32_t CLayoutInfoS1 = -1;
    int32_t CLayoutInfoN = -1;
    int32_t CLayoutInfoG = -1;
    int32_t CLayoutInfoS2 = -1;
    int32_t BatchNum = -1;
    MatmulConfig cfg = GetNormalConfig();
};

namespace detail {
constexpr int32_t Least(int32_t a, int32_t b) { return a < b ? a : b; }
constexpr int32_t RoundTo(int32_t value, int32_t unit) { return (value + unit - 1) / unit * unit; }
constexpr int32_t OrRuntime(uint32_t value) { return value == 0 ? -1 : static_cast<int32_t>(value); }
}  // namespace detail

/// A tiling at compile time: the sizes in the configuration, and base blocks for them where it names none. What is not
/// known stays -1 and comes at run time.
template <typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE = C_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& config, int32_t l1Size = 512 * 1024)
{
    MatmulApiStaticTiling t;
    constexpr int32_t bytes = sizeof(typename A_TYPE::T);
    t.cfg = config;
    t.singleCoreM = detail::OrRuntime(config.singleCoreM);
    t.singleCoreN = detail::OrRuntime(config.singleCoreN);
    t.singleCoreK = detail::OrRuntime(config.singleCoreK);
    t.baseM = detail::OrRuntime(config.basicM);
    t.baseN = detail::OrRuntime(config.basicN);
    t.baseK = detail::OrRuntime(config.basicK);
    if (t.singleCoreM <= 0 || t.singleCoreN <= 0 || t.singleCoreK <= 0) {
        return t;
    }
    const int32_t unit = bytes == 1 ? 32 : 16;
    t.baseM = t.baseM > 0 ? t.baseM : detail::Least(detail::RoundTo(t.singleCoreM, unit), 128);
    t.baseN = t.baseN > 0 ? t.baseN : detail::Least(detail::RoundTo(t.singleCoreN, unit), 256);
    const int32_t rows = t.baseM < t.baseN ? t.baseN : t.baseM;
    const int32_t fitting = 32 * 1024 / bytes / rows / unit * unit; // half of L0A or L0B
    t.baseK = t.baseK > 0 ? t.baseK : detail::Least(detail::RoundTo(t.singleCoreK, unit), fitting);
    const int32_t blocks = (t.singleCoreK + t.baseK - 1) / t.baseK;
    const int32_t both = (t.baseM + t.baseN) * t.baseK * bytes;
    const int32_t step = detail::Least(blocks, (l1Size - 16 * 1024) / 2 / both);
    t.stepM = t.stepN = 1;
    t.stepKa = t.stepKb = step < 1 ? 1 : step;
    t.depthA1 = t.depthB1 = 2 * t.stepKa;
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 1;
    t.iterateOrder = 0;
    return t;
}

/// Configuration of a template argument: a MatmulConfig, or the one in a static tiling.
constexpr const MatmulConfig& ToMatmulConfig(const MatmulConfig& config) { return config; }
constexpr const MatmulConfig& ToMatmulConfig(const MatmulApiStaticTiling& tiling) { return tiling.cfg; }
}  // namespace AscendC

using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;
using AscendC::GetBasicConfig;
using AscendC::GetIBShareNormConfig;
using AscendC::GetMDLConfig;
using AscendC::GetMatmulApiTiling;
using AscendC::GetMMConfig;
using AscendC::GetNormalConfig;
using AscendC::GetSpecialMDLConfig;
using AscendC::MatmulApiStaticTiling;
using AscendC::ToMatmulConfig;

#endif
