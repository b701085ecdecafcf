// Configurations of matrix multiplications, member by member, as the library documents them; tilings planned at compile time by what
// they have to fit into.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

#include <cstddef>
#include <map>

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

#define MEMBERS(X)                                                                                                                       \
    X(doNorm) X(doBasicBlock) X(doMultiDataLoad) X(basicM) X(basicN) X(basicK) X(intrinsicsCheck) X(isNBatch) X(enVecND2NZ)              \
    X(doSpecialBasicBlock) X(doMTE2Preload) X(singleCoreM) X(singleCoreN) X(singleCoreK) X(stepM) X(stepN) X(baseMN) X(singleCoreMN)     \
    X(enUnitFlag) X(isPerTensor) X(hasAntiQuantOffset) X(doIBShareNorm) X(doSpecialMDL) X(enableInit) X(batchMode) X(enableEnd)          \
    X(enableGetTensorC) X(enableSetOrgShape) X(enableSetBias) X(enableSetTail) X(enableQuantVector) X(enableSetDefineData)               \
    X(iterateMode) X(enableReuse) X(enableUBReuse) X(enableL1CacheUB) X(intraBlockPartSum) X(iterateOrder) X(scheduleType)               \
    X(enableDoubleCache) X(isBiasBatch) X(enableStaticPadZeros) X(isPartialOutput) X(enableMixDualMaster) X(isA2B2Shared)                \
    X(isEnableChannelSplit) X(enableKdimReorderLoad) X(isCO1Shared) X(sharedCO1BufferSize) X(bmmOutMode)                                 \
    X(enableL1BankConflictOptimise) X(enableRelu)

namespace {

using Members = std::map<std::string, int64_t>;

Members Of(const MatmulConfig& config)
{
#define MEMBER(name) {#name, static_cast<int64_t>(config.name)},
    return {MEMBERS(MEMBER)};
#undef MEMBER
}

/// What all kinds have in common: nothing is on but these.
Members Common(const Members& more)
{
    const MatmulConfig nothing = {};
    Members all = Of(nothing);
    for (auto& [name, value] : all) {
        value = 0;
    }
    for (const char* name : {"enableInit", "enableEnd", "enableGetTensorC", "enableSetOrgShape", "enableSetBias", "enableSetTail",
                             "enableQuantVector", "enableSetDefineData", "enableReuse", "enableUBReuse", "isBiasBatch"}) {
        all.at(name) = 1;
    }
    all.at("iterateMode") = 255;
    all.at("iterateOrder") = 2;
    all.at("sharedCO1BufferSize") = 65536;
    for (const auto& [name, value] : more) {
        all.at(name) = value;
    }
    return all;
}

void Same(const std::string& what, const MatmulConfig& config, const Members& more)
{
    const Members want = Common(more);
    for (const auto& [name, value] : Of(config)) {
        Expect(value == want.at(name), what + ": " + name + " is " + std::to_string(value));
    }
}

Members With(Members all, const Members& more)
{
    for (const auto& [name, value] : more) {
        all[name] = value;
    }
    return all;
}

/// Each argument alone: all others as they are by default.
void Kinds()
{
    const Members norm = {{"doNorm", 1}, {"batchMode", 1}, {"enUnitFlag", 1}};
    Same("CFG_NORM", A::CFG_NORM, norm);
    using A::GetNormalConfig;
    const auto less = BatchMode::BATCH_LESS_THAN_L1;
    const auto any = IterateOrder::UNDEF;
    const auto inner = ScheduleType::INNER_PRODUCT;
    Same("norm 1", GetNormalConfig(true), With(norm, {{"intrinsicsCheck", 1}}));
    Same("norm 2", GetNormalConfig(false, true), With(norm, {{"isNBatch", 1}}));
    Same("norm 3", GetNormalConfig(false, false, true), With(norm, {{"enVecND2NZ", 1}}));
    Same("norm 4", GetNormalConfig(false, false, false, BatchMode::SINGLE_LARGE_THAN_L1), With(norm, {{"batchMode", 3}}));
    Same("norm 5", GetNormalConfig(false, false, false, less, false), With(norm, {{"enableReuse", 0}}));
    Same("norm 6", GetNormalConfig(false, false, false, less, true, IterateOrder::ORDER_N), With(norm, {{"iterateOrder", 1}}));
    Same("norm 7", GetNormalConfig(false, false, false, less, true, any, ScheduleType::OUTER_PRODUCT), With(norm, {{"scheduleType", 1}}));
    Same("norm 8", GetNormalConfig(false, false, false, less, true, any, inner, false), With(norm, {{"enUnitFlag", 0}}));
    Same("norm 9", GetNormalConfig(false, false, false, less, true, any, inner, true, true), With(norm, {{"enableMixDualMaster", 1}}));
    Same("norm 10", GetNormalConfig(false, false, false, less, true, any, inner, true, false, BatchOutMode::DYNAMIC), With(norm, {{"bmmOutMode", 2}}));

    const Members mdl = {{"doMultiDataLoad", 1}};
    Same("CFG_MDL", A::CFG_MDL, mdl);
    using A::GetMDLConfig;
    Same("mdl 1", GetMDLConfig(true), With(mdl, {{"intrinsicsCheck", 1}}));
    Same("mdl 2", GetMDLConfig(false, true), With(mdl, {{"isNBatch", 1}}));
    Same("mdl 3", GetMDLConfig(false, false, 2), With(mdl, {{"doMTE2Preload", 2}}));
    Same("mdl 4", GetMDLConfig(false, false, 0, true), With(mdl, {{"enVecND2NZ", 1}}));
    Same("mdl 5", GetMDLConfig(false, false, 0, false, true), With(mdl, {{"isPerTensor", 1}}));
    Same("mdl 6", GetMDLConfig(false, false, 0, false, false, true), With(mdl, {{"hasAntiQuantOffset", 1}}));
    Same("mdl 7", GetMDLConfig(false, false, 0, false, false, false, true), With(mdl, {{"enUnitFlag", 1}}));
    Same("mdl 8", GetMDLConfig(false, false, 0, false, false, false, false, false), With(mdl, {{"enableReuse", 0}}));
    Same("mdl 9", GetMDLConfig(false, false, 0, false, false, false, false, true, false), With(mdl, {{"enableUBReuse", 0}}));
    Same("mdl 10", GetMDLConfig(false, false, 0, false, false, false, false, true, true, true), With(mdl, {{"enableL1CacheUB", 1}}));
    Same("mdl 11", GetMDLConfig(false, false, 0, false, false, false, false, true, true, false, true), With(mdl, {{"enableMixDualMaster", 1}}));
    Same("mdl 12", GetMDLConfig(false, false, 0, false, false, false, false, true, true, false, false, true), With(mdl, {{"enableKdimReorderLoad", 1}}));
    Same("mdl 13", GetMDLConfig(false, false, 0, false, false, false, false, true, true, false, false, false, true),
         With(mdl, {{"enableL1BankConflictOptimise", 1}}));

    const Members special = {{"doSpecialMDL", 1}};
    using A::GetSpecialMDLConfig;
    Same("special", GetSpecialMDLConfig(), special);
    Same("special 1", GetSpecialMDLConfig(true), With(special, {{"intrinsicsCheck", 1}}));
    Same("special 2", GetSpecialMDLConfig(false, true), With(special, {{"isNBatch", 1}}));
    Same("special 3", GetSpecialMDLConfig(false, false, 1), With(special, {{"doMTE2Preload", 1}}));
    Same("special 4", GetSpecialMDLConfig(false, false, 0, true), With(special, {{"enVecND2NZ", 1}}));
    Same("special 5", GetSpecialMDLConfig(false, false, 0, false, true), With(special, {{"isPerTensor", 1}}));
    Same("special 6", GetSpecialMDLConfig(false, false, 0, false, false, true), With(special, {{"hasAntiQuantOffset", 1}}));

    const Members basic = {{"doBasicBlock", 1}, {"basicM", 16}, {"basicN", 32}, {"basicK", 48}, {"batchMode", 1}};
    using A::GetBasicConfig;
    Same("MM_CFG_BB", A::MM_CFG_BB, With(basic, {{"basicM", 128}, {"basicN", 128}, {"basicK", 128}}));
    Same("basic", GetBasicConfig(16, 32, 48), basic);
    Same("basic 1", GetBasicConfig(16, 32, 48, true), With(basic, {{"intrinsicsCheck", 1}}));
    Same("basic 2", GetBasicConfig(16, 32, 48, false, true), With(basic, {{"isNBatch", 1}}));
    Same("basic 3", GetBasicConfig(16, 32, 48, false, false, BatchMode::NONE), With(basic, {{"batchMode", 0}}));

    const Members share = {{"doIBShareNorm", 1}, {"batchMode", 1}, {"enUnitFlag", 1}};
    using A::GetIBShareNormConfig;
    Same("CFG_IBSHARE_NORM", A::CFG_IBSHARE_NORM, share);
    Same("share 1", GetIBShareNormConfig(true), With(share, {{"intrinsicsCheck", 1}}));
    Same("share 2", GetIBShareNormConfig(false, true), With(share, {{"isNBatch", 1}}));
    Same("share 3", GetIBShareNormConfig(false, false, true), With(share, {{"enVecND2NZ", 1}}));
    Same("share 4", GetIBShareNormConfig(false, false, false, BatchMode::BATCH_LARGE_THAN_L1), With(share, {{"batchMode", 2}}));
    Same("share 5", GetIBShareNormConfig(false, false, false, less, true), With(share, {{"enableDoubleCache", 1}}));
    Same("share 6", GetIBShareNormConfig(false, false, false, less, false, false), With(share, {{"enUnitFlag", 0}}));

    // A configuration that is written out starts from nothing but what may be called and how much.
    Same("no kind", MatmulConfig{}, {{"enUnitFlag", 1}, {"enableUBReuse", 0}});
}

/// A group of members replaces these and leaves the others.
void Groups()
{
    using Mode = MatmulConfigMode;
    const Members norm = {{"doNorm", 1}, {"batchMode", 1}, {"enUnitFlag", 1}};
    Same("of norm", A::GetMMConfig<Mode::CONFIG_NORM>(), norm);
    Same("of mdl", A::GetMMConfig<Mode::CONFIG_MDL>(), {{"doMultiDataLoad", 1}});
    Same("of special", A::GetMMConfig<Mode::CONFIG_SPECIALMDL>(), {{"doSpecialMDL", 1}});
    Same("of share", A::GetMMConfig<Mode::CONFIG_IBSHARE>(), {{"doIBShareNorm", 1}, {"batchMode", 1}, {"enUnitFlag", 1}});
    const MatmulShapeParams shape = {1, 2, 3, 4, 5, 6};
    const Members sizes = {{"singleCoreM", 1}, {"singleCoreN", 2}, {"singleCoreK", 3}, {"basicM", 4}, {"basicN", 5}, {"basicK", 6}};
    Same("shape", A::GetMMConfig<Mode::CONFIG_NORM>(shape), With(norm, sizes));
    Same("no shape", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulShapeParams{}), norm);
    Same("quantised", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulQuantParams{true, false}), With(norm, {{"isPerTensor", 1}}));
    Same("offset", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulQuantParams{false, true}), With(norm, {{"hasAntiQuantOffset", 1}}));
    Same("not quantised", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulQuantParams{}), norm);
    Same("batch", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulBatchParams{}), With(norm, {{"batchMode", 0}}));
    Same("batch 1", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulBatchParams{true, BatchMode::BATCH_LARGE_THAN_L1, true, BatchOutMode::SINGLE_BATCH}),
         With(norm, {{"isNBatch", 1}, {"batchMode", 2}}));
    Same("batch 2", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulBatchParams{false, BatchMode::NONE, false, BatchOutMode::MULTI_BATCH}),
         With(norm, {{"batchMode", 0}, {"isBiasBatch", 0}, {"bmmOutMode", 1}}));
    Same("no bias", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulBiasParams{false}), With(norm, {{"enableSetBias", 0}}));
    Same("bias", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulBiasParams{}), norm);
    const Members functions = With(norm, {{"enableUBReuse", 0}});
    Same("functions", A::GetMMConfig<Mode::CONFIG_NORM>(MatmulFuncParams{}), functions);
    // Each member of the group alone.
    const auto alone = [&](const char* name, int64_t value, void (*set)(MatmulFuncParams&)) {
        MatmulFuncParams p;
        set(p);
        Same(std::string("function ") + name, A::GetMMConfig<Mode::CONFIG_NORM>(p), With(functions, {{name, value}}));
    };
    alone("intrinsicsCheck", 1, [](MatmulFuncParams& p) { p.intrinsicsCheck = true; });
    alone("enVecND2NZ", 1, [](MatmulFuncParams& p) { p.enVecND2NZ = true; });
    alone("enableDoubleCache", 1, [](MatmulFuncParams& p) { p.enableDoubleCache = true; });
    alone("enableL1CacheUB", 1, [](MatmulFuncParams& p) { p.enableL1CacheUB = true; });
    alone("doMTE2Preload", 2, [](MatmulFuncParams& p) { p.doMTE2Preload = 2; });
    alone("iterateOrder", 0, [](MatmulFuncParams& p) { p.iterateOrder = IterateOrder::ORDER_M; });
    alone("scheduleType", 1, [](MatmulFuncParams& p) { p.scheduleType = ScheduleType::OUTER_PRODUCT; });
    alone("enableReuse", 0, [](MatmulFuncParams& p) { p.enableReuse = false; });
    alone("enableUBReuse", 1, [](MatmulFuncParams& p) { p.enableUBReuse = true; });
    alone("isPartialOutput", 1, [](MatmulFuncParams& p) { p.isPartialOutput = true; });
    alone("isA2B2Shared", 1, [](MatmulFuncParams& p) { p.isA2B2Shared = true; });
    alone("isEnableChannelSplit", 1, [](MatmulFuncParams& p) { p.isEnableChannelSplit = true; });
    alone("enableKdimReorderLoad", 1, [](MatmulFuncParams& p) { p.enableKdimReorderLoad = true; });
    alone("enableL1BankConflictOptimise", 1, [](MatmulFuncParams& p) { p.enableL1BankConflictOptimise = true; });
    alone("enableRelu", 1, [](MatmulFuncParams& p) { p.enableRelu = true; });
}

/// Words that are numbers in tilings and in messages of the host.
void Words()
{
    const auto numbers = [](const char* what, const std::vector<int64_t>& got, const std::vector<int64_t>& want) { Expect(got == want, what); };
#define NUMBER(word) static_cast<int64_t>(word)
    numbers("CubeFormat",
            {NUMBER(CubeFormat::ND), NUMBER(CubeFormat::NZ), NUMBER(CubeFormat::ZN), NUMBER(CubeFormat::ZZ), NUMBER(CubeFormat::NN),
             NUMBER(CubeFormat::ND_ALIGN), NUMBER(CubeFormat::SCALAR), NUMBER(CubeFormat::VECTOR), NUMBER(CubeFormat::ROW_MAJOR),
             NUMBER(CubeFormat::COLUMN_MAJOR)},
            {0, 1, 2, 3, 4, 5, 6, 7, 0, 8});
    numbers("LayoutMode",
            {NUMBER(LayoutMode::NONE), NUMBER(LayoutMode::BSNGD), NUMBER(LayoutMode::SBNGD), NUMBER(LayoutMode::BNGS1S2), NUMBER(LayoutMode::NORMAL)},
            {0, 1, 2, 3, 4});
    numbers("BatchMode",
            {NUMBER(BatchMode::NONE), NUMBER(BatchMode::BATCH_LESS_THAN_L1), NUMBER(BatchMode::BATCH_LARGE_THAN_L1),
             NUMBER(BatchMode::SINGLE_LARGE_THAN_L1)},
            {0, 1, 2, 3});
    numbers("IterateOrder", {NUMBER(IterateOrder::ORDER_M), NUMBER(IterateOrder::ORDER_N), NUMBER(IterateOrder::UNDEF)}, {0, 1, 2});
    numbers("ScheduleType", {NUMBER(ScheduleType::INNER_PRODUCT), NUMBER(ScheduleType::OUTER_PRODUCT)}, {0, 1});
    numbers("BatchOutMode", {NUMBER(BatchOutMode::SINGLE_BATCH), NUMBER(BatchOutMode::MULTI_BATCH), NUMBER(BatchOutMode::DYNAMIC)}, {0, 1, 2});
    numbers("IterateMode",
            {ITERATE_MODE_NORMAL, ITERATE_MODE_ALL, ITERATE_MODE_BATCH, ITERATE_MODE_N_BATCH, ITERATE_MODE_DEFAULT}, {1, 2, 4, 8, 255});
#undef NUMBER
    using Plain = A::MatmulType<A::TPosition::GM, CubeFormat::ND, half>;
    Expect(!Plain::isTrans && Plain::layout == LayoutMode::NONE && !Plain::ibShare, "an operand that says nothing of these");
}

/// Base blocks fit into the buffers of the matrix unit, are whole fractals and no larger than the operand; steps fit into L1 twice, and
/// one more would not, or there is no more of k.
template <typename T>
void Tiling(const MatmulConfig& config, int32_t l1, const std::string& what)
{
    using Operand = A::MatmulType<A::TPosition::GM, CubeFormat::ND, T>;
    const A::MatmulApiStaticTiling t = A::GetMatmulApiTiling<Operand, Operand, Operand>(config, l1);
    const int32_t bytes = sizeof(T), unit = bytes == 1 ? 32 : 16;
    const auto up = [&](uint32_t size) { return (static_cast<int32_t>(size) + unit - 1) / unit * unit; };
    const auto m = static_cast<int32_t>(config.singleCoreM), n = static_cast<int32_t>(config.singleCoreN), k = static_cast<int32_t>(config.singleCoreK);
    Expect(t.singleCoreM == m && t.singleCoreN == n && t.singleCoreK == k, what + ": sizes of a core");
    Expect(t.baseM == (config.basicM != 0 ? static_cast<int32_t>(config.basicM) : up(config.singleCoreM) > 128 ? 128 : up(config.singleCoreM)), what + ": baseM");
    Expect(t.baseN == (config.basicN != 0 ? static_cast<int32_t>(config.basicN) : up(config.singleCoreN) > 256 ? 256 : up(config.singleCoreN)), what + ": baseN");
    const int32_t wider = t.baseM > t.baseN ? t.baseM : t.baseN;
    if (config.basicK == 0) {
        Expect(t.baseK > 0 && t.baseK % unit == 0 && t.baseK <= up(config.singleCoreK) && wider * t.baseK * bytes <= 32768, what + ": baseK fits");
        Expect(t.baseK == up(config.singleCoreK) || wider * (t.baseK + unit) * bytes > 32768, what + ": baseK is no smaller than it must be");
    } else {
        Expect(t.baseK == static_cast<int32_t>(config.basicK), what + ": baseK as it is given");
    }
    const auto fits = [&](int32_t steps) { return 2 * steps * (t.baseM + t.baseN) * t.baseK * bytes <= l1 - 16384; };
    Expect(t.stepM == 1 && t.stepN == 1 && t.stepKa == t.stepKb && t.depthA1 == 2 * t.stepKa && t.depthB1 == 2 * t.stepKb, what + ": steps");
    Expect(t.stepKa == 1 || fits(t.stepKa), what + ": a step too many");
    Expect(t.stepKa >= 1 && t.stepKa * t.baseK < k + t.baseK, what + ": steps past k");
    Expect(t.stepKa * t.baseK >= k || !fits(t.stepKa + 1), what + ": a step more would fit");
    Expect(t.dbL0A == 2 && t.dbL0B == 2 && t.dbL0C == 1 && t.iterateOrder == 0, what + ": halves");
    Expect(t.usedCoreNum == -1 && t.M == -1 && t.N == -1 && t.Ka == -1 && t.Kb == -1 && t.isBias == -1 && t.BatchNum == -1, what + ": what comes later");
}

void Tilings()
{
    // All numbers of a tiling of which nothing is known.
    const A::MatmulApiStaticTiling none;
    const auto* numbers = reinterpret_cast<const int32_t*>(&none);
    for (size_t i = 0; i < offsetof(A::MatmulApiStaticTiling, cfg) / sizeof(int32_t); ++i) {
        Expect(numbers[i] == -1, "number " + std::to_string(i) + " of a tiling of which nothing is known");
    }
    Same("its configuration", none.cfg, {{"doNorm", 1}, {"batchMode", 1}, {"enUnitFlag", 1}});
    Random random(24);
    const uint32_t sizes[] = {1, 15, 16, 17, 32, 100, 127, 128, 129, 255, 256, 257, 1000, 4096};
    for (int i = 0; i < 300; ++i) {
        MatmulConfig config = A::GetNormalConfig();
        config.singleCoreM = sizes[random.Below(14)];
        config.singleCoreN = sizes[random.Below(14)];
        config.singleCoreK = sizes[random.Below(14)];
        if (random.Below(4) == 0) {
            config.basicM = 16 * (1 + random.Below(8));
            config.basicN = 16 * (1 + random.Below(8));
            config.basicK = random.Below(2) * 32 * (1 + random.Below(2));
        }
        const int32_t l1 = 16384 * (random.Below(2) == 0 ? 32 : 2 + static_cast<int32_t>(random.Below(8)));
        const std::string what = "m " + std::to_string(config.singleCoreM) + " n " + std::to_string(config.singleCoreN) + " k " +
                                 std::to_string(config.singleCoreK) + " L1 " + std::to_string(l1);
        Tiling<int8_t>(config, l1, what + " of bytes");
        Tiling<half>(config, l1, what + " of halves");
        Tiling<float>(config, l1, what + " of floats");
        // A size that is not known leaves all others open, but what is known is said.
        uint32_t* const unknown[] = {&config.singleCoreM, &config.singleCoreN, &config.singleCoreK};
        *unknown[i % 3] = 0;
        using Half = A::MatmulType<A::TPosition::GM, CubeFormat::ND, half>;
        const A::MatmulApiStaticTiling t = A::GetMatmulApiTiling<Half, Half, Half>(config);
        const auto known = [](uint32_t size) { return size == 0 ? -1 : static_cast<int32_t>(size); };
        Expect(t.singleCoreM == known(config.singleCoreM) && t.singleCoreN == known(config.singleCoreN) && t.singleCoreK == known(config.singleCoreK) &&
                   t.baseM == known(config.basicM) && t.baseN == known(config.basicN) && t.baseK == known(config.basicK) && t.stepKa == -1 &&
                   t.stepM == -1 && t.depthA1 == -1 && t.dbL0A == -1 && t.iterateOrder == -1,
               what + ": a size is open");
    }
    using Half = A::MatmulType<A::TPosition::GM, CubeFormat::ND, half>;
    MatmulConfig config = A::GetNormalConfig();
    config.singleCoreM = config.singleCoreN = 128;
    config.singleCoreK = 16 * 1024;
    // Pairs of blocks of 128 x 128 halves: seven go twice into what is left of 512 KB.
    Expect(A::GetMatmulApiTiling<Half, Half, Half>(config).stepKa == 3, "L1 has 512 KB where nothing is said");
}

}  // namespace

int main()
{
    Kinds();
    Groups();
    Words();
    Tilings();
    return Report("api_matmul_config");
}
