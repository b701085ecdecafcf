// What a matrix multiplication of the library can be told after Init: factors of the results, no bias after all, a smaller shape, HF32.
#include <array>
#include <map>
#include <set>

#include "matmul_plan.h"

#include "isa_support.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace isa_test;

namespace {

template <typename T>
plan::DataType Dtype()
{
    return std::is_same<T, half>::value ? plan::kHalf : std::is_same<T, int8_t>::value ? plan::kInt8 : std::is_same<T, float>::value ? plan::kFloat : plan::kInt32;
}

constexpr int32_t kM = 40, kN = 64, kK = 64;

/// Operands and result of one launch, in registered memory.
template <typename T, typename C>
struct Data {
    using Bias = std::conditional_t<sizeof(T) == 1, int32_t, float>;
    Data()
    {
        Random random(5);
        for (T& value : a) value = static_cast<T>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
        for (T& value : b) value = static_cast<T>(static_cast<float>(static_cast<int>(random.Below(9)) - 4));
        for (int32_t i = 0; i < kN; ++i) bias[i] = static_cast<Bias>(i % 7 - 3);
        for (int32_t i = 0; i < kN; ++i) factors[i] = ascendsim::FloatBits(1.0f / static_cast<float>(1 << i % 5)) | uint64_t{1} << 46;
        std::memset(static_cast<void*>(out), 0x11, sizeof(out));
        for (const auto& part : {std::make_pair(static_cast<void*>(a), sizeof(a)), std::make_pair(static_cast<void*>(b), sizeof(b)),
                                 std::make_pair(static_cast<void*>(bias), sizeof(bias)), std::make_pair(static_cast<void*>(factors), sizeof(factors)),
                                 std::make_pair(static_cast<void*>(out), sizeof(out))}) {
            ascendsim::RegisterRegion(part.first, part.second, ascendsim::RegionRole::kOther, 0);
        }
    }
    ~Data() { ascendsim::ClearRegions(); }
    double Sum(int32_t row, int32_t column, int32_t k, bool biased) const
    {
        double sum = biased ? static_cast<double>(bias[column]) : 0;
        for (int32_t l = 0; l < k; ++l) {
            sum += static_cast<double>(static_cast<float>(a[row * kK + l])) * static_cast<double>(static_cast<float>(b[l * kN + column]));
        }
        return sum;
    }
    T a[kM * kK];
    T b[kK * kN];
    Bias bias[kN];
    uint64_t factors[kN];
    C out[48 * 64];  // of fractals, where they are wanted
};

/// Every flag is set before it is waited for, and waited for before it is set again or the core ends.
void CheckFlags(const Trace& trace)
{
    std::map<std::array<uint32_t, 3>, int> set;  // by the event and both pipes
    for (const Record& record : trace.records) {
        if (record.name == "set_flag" || record.name == "wait_flag") {
            int& many = set[{record.head.aux0, record.head.aux1, record.head.aux2}];
            many += record.name == "set_flag" ? 1 : -1;
            Expect(many == (record.name == "set_flag" ? 1 : 0), "a flag is set twice, or waited for before it is set");
        }
    }
    Expect(set.size() >= 5, "flags between all pipes of the cube core");
    for (const auto& flag : set) {
        Expect(flag.second == 0, "flag " + std::to_string(flag.first[0]) + " from pipe " + std::to_string(flag.first[1]) + " to pipe " +
                                     std::to_string(flag.first[2]) + " is left set");
    }
}

/// `settings(mm, data)` after Init, SetTensorA, SetTensorB and SetBias; then everything is multiplied. `adjust` changes the tiling.
template <CubeFormat formatC = CubeFormat::ND, const auto& config = AscendC::CFG_NORM, typename T, typename C, typename Settings>
void Multiply(Data<T, C>& data, bool biased, Settings settings, void (*adjust)(AscendC::tiling::TCubeTiling&) = nullptr)
{
    using Bias = typename Data<T, C>::Bias;
    matmul_tiling::MultiCoreMatmulTiling tiling;
    tiling.SetDim(1);
    tiling.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, Dtype<T>());
    tiling.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, Dtype<T>());
    tiling.SetCType(matmul_tiling::TPosition::GM, static_cast<matmul_tiling::CubeFormat>(formatC), Dtype<C>());
    tiling.SetBiasType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, Dtype<Bias>());
    tiling.SetShape(kM, kN, kK);
    tiling.EnableBias(biased);
    AscendC::tiling::TCubeTiling planned;
    Expect(tiling.GetTiling(planned) == 0, "no tiling");
    if (adjust != nullptr) {
        adjust(planned);
    }
    std::function<void()> kernel = [&] {
        using namespace AscendC;
        TPipe pipe;
        MatmulImpl<MatmulType<TPosition::GM, CubeFormat::ND, T>, MatmulType<TPosition::GM, CubeFormat::ND, T>,
                   MatmulType<TPosition::GM, formatC, C>, MatmulType<TPosition::GM, CubeFormat::ND, Bias>, config>
            mm;
        mm.Init(&planned, &pipe);
        GlobalTensor<T> a, b;
        GlobalTensor<Bias> bias;
        GlobalTensor<C> c;
        a.SetGlobalBuffer(data.a);
        b.SetGlobalBuffer(data.b);
        bias.SetGlobalBuffer(data.bias);
        c.SetGlobalBuffer(data.out);
        mm.SetTensorA(a);
        mm.SetTensorB(b);
        if (biased) {
            mm.SetBias(bias);
        }
        settings(mm);
        mm.IterateAll(c);
        mm.SetHF32(false);
        mm.End();
    };
    ascendsim::LaunchInfo info;
    info.kernel = "matmul";
    info.type = ascendsim::KernelType::kAic;
    info.block_dim = 1;
    ascendsim::OpenTrace("api_matmul_settings.trace");
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<std::function<void()>*>(arg))(); }, &kernel);
    Expect(ascendsim::CloseTrace() && result.faults == 0, "faults: " + result.first_fault);
    CheckFlags(ReadTrace("api_matmul_settings.trace"));
    ExpectNoneIdle("api_matmul_settings.trace");
}

int32_t InRows(int32_t row, int32_t column) { return row * kN + column; }

template <typename T, typename C, typename Want>
void Compare(const std::string& name, const Data<T, C>& data, Want want, int32_t (*place)(int32_t, int32_t) = InRows)
{
    for (int32_t i = 0; i < kM; ++i) {
        for (int32_t j = 0; j < kN; ++j) {
            const double got = static_cast<double>(static_cast<float>(data.out[place(i, j)]));
            if (got != want(i, j)) {
                return Fail(name + ": element " + std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(got) + " instead of " +
                            std::to_string(want(i, j)));
            }
        }
    }
}

AscendC::GlobalTensor<uint64_t> Table(uint64_t* factors)
{
    AscendC::GlobalTensor<uint64_t> table;
    table.SetGlobalBuffer(factors);
    return table;
}

double Byte(double value) { return std::fmax(-128, std::fmin(127, std::nearbyint(value))); }

template <typename T, typename C>
void CheckFactors(const std::string& name)
{
    const auto as = [](double value) { return sizeof(C) == 1 ? Byte(value) : static_cast<double>(static_cast<float>(half(static_cast<float>(value)))); };
    const uint64_t quarter = ascendsim::FloatBits(0.25f) | uint64_t{1} << 46;
    {
        Data<T, C> data;
        Multiply(data, false, [&](auto& mm) { mm.SetQuantScalar(quarter); });
        Compare(name + ", one factor", data, [&](int32_t i, int32_t j) { return as(data.Sum(i, j, kK, false) * 0.25); });
    }
    {
        Data<T, C> data;
        Multiply(data, false, [&](auto& mm) { mm.SetQuantVector(Table(data.factors)); });
        Compare(name + ", factors", data, [&](int32_t i, int32_t j) { return as(data.Sum(i, j, kK, false) / (1 << j % 5)); });
    }
    {
        Data<T, C> data;  // what was said last counts
        Multiply(data, false, [&](auto& mm) {
            mm.SetQuantVector(Table(data.factors));
            mm.SetQuantScalar(quarter);
        });
        Compare(name + ", one factor after factors", data, [&](int32_t i, int32_t j) { return as(data.Sum(i, j, kK, false) * 0.25); });
    }
    {
        Data<T, C> data;
        Multiply(data, false, [&](auto& mm) {
            mm.SetQuantScalar(quarter);
            mm.SetQuantVector(Table(data.factors));
        });
        Compare(name + ", factors after one", data, [&](int32_t i, int32_t j) { return as(data.Sum(i, j, kK, false) / (1 << j % 5)); });
    }
}

/// How a tiling shares out L1, and what is loaded then: `loads` times for a base block, to `places` for each operand.
struct Steps {
    int32_t depthA1, depthB1, stepKa, stepKb;
    uint32_t loads, places;
};
const Steps* g_steps;

/// Three by two base blocks, four along k.
void SmallBlocks(AscendC::tiling::TCubeTiling& tiling)
{
    tiling.baseM = tiling.baseK = 16;
    tiling.baseN = 32;
    tiling.stepKa = g_steps->stepKa;
    tiling.stepKb = g_steps->stepKb;
    tiling.depthA1 = g_steps->depthA1;
    tiling.depthB1 = g_steps->depthB1;
}

/// Bytes in fractals: panels of 32 columns, all rows of one behind each other.
void CheckFractalsOfBytes()
{
    const Steps steps = {2, 2, 1, 1, 4, 2};
    g_steps = &steps;
    Data<int8_t, int8_t> data;
    Multiply<CubeFormat::NZ>(data, false, [](auto& mm) { mm.SetQuantScalar(ascendsim::FloatBits(0.25f) | uint64_t{1} << 46); }, SmallBlocks);
    Compare("fractals of bytes", data, [&](int32_t i, int32_t j) { return Byte(data.Sum(i, j, kK, false) * 0.25); },
            [](int32_t row, int32_t column) { return column / 32 * 48 * 32 + row * 32 + column % 32; });
}

template <typename T, typename C>
void CheckBias(const std::string& name)
{
    for (int how = 0; how < 3; ++how) {
        Data<T, C> data;
        Multiply(data, true, [&](auto& mm) {
            if (how == 1) {
                mm.DisableBias();
            } else if (how == 2) {
                mm.ClearBias();
            }
        });
        Compare(name + ", bias " + std::to_string(how), data, [&](int32_t i, int32_t j) { return data.Sum(i, j, kK, how == 0); });
    }
}

template <typename T, typename C>
void CheckShapes(const std::string& name)
{
    Data<T, C> none;
    const double untouched = static_cast<double>(static_cast<float>(none.out[0]));
    for (int how = 0; how < 5; ++how) {
        const int32_t m = how == 2 || how == 4 ? kM : 23, n = how == 2 || how == 4 ? kN : 33, k = how == 1 || how == 2 ? 32 : kK;
        Data<T, C> data;
        Multiply(data, false, [&](auto& mm) {
            if (how < 2) {
                mm.SetSingleShape(m, n, k);
            } else if (how == 2) {
                mm.SetTail(-1, -1, k);
            } else if (how == 4) {
                mm.SetTail();
                mm.SetOrgShape(kM, kN, kK, kK);
            } else {
                mm.SetTail(m, n);
            }
        });
        Compare(name + ", shape " + std::to_string(how), data, [&](int32_t i, int32_t j) { return i < m && j < n ? data.Sum(i, j, k, false) : untouched; });
    }
}

/// HF32 has eleven bits of mantissa, one of them implied: ties go to even.
void CheckHf32()
{
    for (int on = 0; on < 3; ++on) {  // with the second, ties go to zero
        Data<float, float> data;
        std::memset(data.b, 0, sizeof(data.b));
        for (int32_t i = 0; i < kK && i < kN; ++i) data.b[i * kN + i] = 1.0f;
        for (int32_t i = 0; i < kM * kK; ++i) data.a[i] = 1.0f + static_cast<float>(i % 9) / 4096.0f + (i % 2 != 0 ? 1.0f / 8388608 : 0);
        Multiply(data, false, [&](auto& mm) {
            mm.SetHF32(true, on - 1);
            if (on == 0) mm.SetHF32();
        });
        Compare(on != 0 ? "HF32" : "no HF32", data, [&](int32_t i, int32_t j) {
            const double eighths = (i * kK + j) % 9;
            const double bit = (i * kK + j) % 2 != 0 ? 1.0 / 2048 : 0;  // which decides ties
            const double half = eighths / 2 + (on != 0 ? bit / 2 : 0);
            return 1.0 + (on == 0 ? eighths + bit : 2 * (on == 1 ? std::nearbyint(half) : std::ceil(half - 0.5))) / 4096.0;
        });
    }
}

/// Two sets of as many base blocks along k as fit into the depths and are steps for both operands, else one set of one block. A tiling
/// may ask for more of L1 than there is.
void CheckSteps()
{
    for (const Steps& steps : {Steps{1, 1, 1, 1, 4, 1}, Steps{2, 2, 9, 9, 4, 2}, Steps{4, 4, 9, 9, 2, 2}, Steps{6, 3, 9, 9, 2, 2}, Steps{8, 8, 3, 2, 2, 2},
                               Steps{8, 8, 1, 4, 4, 2}, Steps{8, 8, 4, 3, 2, 2}, Steps{1000, 1000, 1000, 1000, 1, 2}}) {
        g_steps = &steps;
        Data<half, float> data;
        Multiply(data, false, [](auto&) {}, SmallBlocks);
        const std::string what = "steps of " + std::to_string(steps.depthA1) + " " + std::to_string(steps.depthB1) + " " + std::to_string(steps.stepKa) +
                                 " " + std::to_string(steps.stepKb);
        Compare(what, data, [&](int32_t i, int32_t j) { return data.Sum(i, j, kK, false); });
        std::map<uint64_t, uint32_t> loads;  // by where they go in L1
        uint32_t all = 0;
        for (const Record& record : ReadTrace("api_matmul_settings.trace").records) {
            if (record.name.rfind("copy_gm_to_cbuf", 0) == 0) {
                ++loads[record.ops[0].addr];
                ++all;
            }
        }
        // Six base blocks, with both operands.
        Expect(all == 6 * 2 * steps.loads && loads.size() == 2 * steps.places, what + ": " + std::to_string(all) + " loads to " + std::to_string(loads.size()) + " places");
    }
}

constexpr MatmulConfig AlongN()
{
    MatmulConfig config = AscendC::CFG_NORM;
    config.iterateOrder = IterateOrder::ORDER_N;
    return config;
}
constexpr MatmulConfig kAlongN = AlongN();

/// Bytes with a factor for each column, one base block behind the other in the order in which they are computed.
template <const auto& config>
void CheckOrder(const char* name, int32_t (*place)(int32_t, int32_t))
{
    const Steps steps = {2, 2, 1, 1, 4, 2};
    g_steps = &steps;
    Data<int8_t, int8_t> data, blocks;
    Multiply<CubeFormat::ND, config>(data, false, [&](auto& mm) {
        mm.SetQuantVector(Table(data.factors));
        AscendC::GlobalTensor<int8_t> c;
        c.SetGlobalBuffer(blocks.out);
        while (mm.Iterate()) {
            mm.GetTensorC(c, 0, true);
        }
    }, SmallBlocks);
    Compare(name, blocks, [&](int32_t i, int32_t j) { return Byte(data.Sum(i, j, kK, false) / (1 << j % 5)); }, place);
}

constexpr AscendC::MatmulApiStaticTiling SomeOfATiling()
{
    AscendC::MatmulApiStaticTiling tiling;
    tiling.cfg = AscendC::CFG_NORM;
    tiling.baseM = 32;
    tiling.singleCoreM = 24;
    return tiling;
}
constexpr AscendC::MatmulApiStaticTiling kSomeOfATiling = SomeOfATiling();

/// What a static tiling says replaces what the kernel is given, and nothing else does.
void CheckSomeOfATiling()
{
    const Steps steps = {2, 2, 1, 1, 4, 2};
    g_steps = &steps;
    Data<half, float> data;
    const double untouched = static_cast<double>(data.out[0]);
    Multiply<CubeFormat::ND, kSomeOfATiling>(data, false, [](auto&) {}, SmallBlocks);
    Compare("a part of a tiling", data, [&](int32_t i, int32_t j) { return i < 24 ? data.Sum(i, j, kK, false) : untouched; });
    uint32_t blocks = 0;
    for (const Record& record : ReadTrace("api_matmul_settings.trace").records) {
        blocks += record.name == "copy_matrix_cc_to_gm" ? 1 : 0;
    }
    Expect(blocks == 2, "base blocks of a part of a tiling: " + std::to_string(blocks));
}

/// Base blocks of 32 along k, two of them: two in L0A and L0B each where 64 KB hold two of both, else one.
void CheckBlocksInL0()
{
    static int32_t baseM, baseN;
    for (const auto& [m, n] : {std::pair<int32_t, int32_t>(512, 48), {528, 48}, {48, 512}, {48, 528}}) {
        baseM = m;
        baseN = n;
        Data<half, float> data;
        Multiply(data, false, [](auto&) {}, [](AscendC::tiling::TCubeTiling& tiling) {
            tiling.baseM = baseM;
            tiling.baseN = baseN;
            tiling.baseK = 32;
        });
        const std::string what = "base blocks of " + std::to_string(m) + " x " + std::to_string(n);
        Compare(what, data, [&](int32_t i, int32_t j) { return data.Sum(i, j, kK, false); });
        std::set<std::pair<uint32_t, uint64_t>> places;  // memory and number of a block in it
        for (const Record& record : ReadTrace("api_matmul_settings.trace").records) {
            for (const auto& op : record.ops) {
                if ((op.space == ascendsim::kSpaceL0a || op.space == ascendsim::kSpaceL0b) && record.name != "mmad") {
                    places.insert({op.space, op.addr / static_cast<uint64_t>((op.space == ascendsim::kSpaceL0a ? m : n) * 64)});
                }
            }
        }
        Expect(places.size() == (m + n == 560 ? 4 : 2), what + ": " + std::to_string(places.size()) + " places");
    }
}

/// Operands in L1, one or the other. An operand that is set begins again with the first block.
void CheckOperandsInL1()
{
    const Steps steps = {2, 2, 1, 1, 4, 2};
    g_steps = &steps;
    for (const bool right : {false, true}) {
        Data<half, float> data, blocks;
        Multiply(data, false, [&](auto& mm) {
            using namespace AscendC;
            TBuf<TPosition::A1> l1;
            GetTPipePtr()->InitBuffer(l1, kN * kK * sizeof(half));
            const LocalTensor<half> local = l1.Get<half>();
            auto* at = reinterpret_cast<half*>(local.GetPhyAddr());
            // Columns of blocks of sixteen elements, rows rounded up to sixteen.
            for (int32_t k = 0; k < kK; ++k) {
                for (int32_t row = 0; !right && row < kM; ++row) at[k / 16 * 48 * 16 + row * 16 + k % 16] = data.a[row * kK + k];
                for (int32_t column = 0; right && column < kN; ++column) at[column / 16 * kK * 16 + k * 16 + column % 16] = data.b[k * kN + column];
            }
            GlobalTensor<float> c;
            c.SetGlobalBuffer(blocks.out);
            mm.Iterate();
            mm.GetTensorC(c);
            std::fill_n(blocks.out, kM * kN, -1.0f);
            if (right) {
                mm.SetTensorB(local);
            } else {
                mm.SetTensorA(local);
            }
            while (mm.Iterate()) {
                mm.GetTensorC(c);
            }
        }, SmallBlocks);
        for (const auto* result : {&data, &blocks}) {
            Compare(right ? "B in L1" : "A in L1", *result, [&](int32_t i, int32_t j) { return data.Sum(i, j, kK, false); });
        }
    }
}

/// Rows of A that are too far apart for one transfer.
void CheckDistantRows()
{
    constexpr int32_t apart = 65552;
    Data<half, float> data;
    const double untouched = static_cast<double>(data.out[0]);
    std::vector<half> distant(3 * apart);
    for (int32_t row = 0; row < 3; ++row) {
        std::copy_n(data.a + row * kK, kK, distant.data() + row * apart);
    }
    ascendsim::RegisterRegion(distant.data(), distant.size() * sizeof(half), ascendsim::RegionRole::kOther, 0);
    Multiply(data, false, [&](auto& mm) {
        AscendC::GlobalTensor<half> a;
        a.SetGlobalBuffer(distant.data());
        mm.SetOrgShape(kM, kN, apart, kK, kN);
        mm.SetTensorA(a);
        mm.SetTail(3);
    });
    Compare("distant rows", data, [&](int32_t i, int32_t j) { return i < 3 ? data.Sum(i, j, kK, false) : untouched; });
}

/// What is not known when compiling is -1, and comes at run time.
void CheckStaticTilings()
{
    using namespace AscendC;
    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    const MatmulApiStaticTiling none;
    const MatmulApiStaticTiling open = GetMatmulApiTiling<Half, Half, Half>(CFG_NORM);
    for (const MatmulApiStaticTiling& t : {none, open}) {
        const int32_t values[] = {
            t.usedCoreNum, t.M, t.N, t.Ka, t.Kb, t.singleCoreM, t.singleCoreN, t.singleCoreK, t.baseM, t.baseN, t.baseK, t.depthA1, t.depthB1,
            t.stepM, t.stepN, t.stepKa, t.stepKb, t.isBias, t.transLength, t.iterateOrder, t.dbL0A, t.dbL0B, t.dbL0C, t.shareMode,
            t.shareL1Size, t.shareL0CSize, t.shareUbSize, t.batchM, t.batchN, t.singleBatchM, t.singleBatchN, t.depthAL1CacheUB,
            t.depthBL1CacheUB, t.ALayoutInfoB, t.ALayoutInfoS, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD, t.BLayoutInfoB,
            t.BLayoutInfoS, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD, t.CLayoutInfoB, t.CLayoutInfoS1, t.CLayoutInfoN,
            t.CLayoutInfoG, t.CLayoutInfoS2, t.BatchNum};
        int at = 0;
        for (const int32_t value : values) {
            Expect(value == -1, "value " + std::to_string(at++) + " of a static tiling: " + std::to_string(value));
        }
    }
    const auto normal = [](const MatmulConfig& config, bool unitFlag) {
        return config.enableReuse && config.enUnitFlag == unitFlag && !config.intrinsicsCheck && !config.isNBatch && !config.enVecND2NZ &&
               !config.enableMixDualMaster && config.basicM + config.basicN + config.basicK == 0 &&
               config.singleCoreM + config.singleCoreN + config.singleCoreK == 0 && config.iterateOrder == IterateOrder::UNDEF &&
               config.scheduleType == ScheduleType::INNER_PRODUCT;
    };
    Expect(normal(open.cfg, true) && CFG_NORM.doNorm && !CFG_NORM.doMultiDataLoad && CFG_NORM.batchMode == BatchMode::BATCH_LESS_THAN_L1, "CFG_NORM");
    Expect(normal(CFG_MDL, false) && CFG_MDL.doMultiDataLoad && !CFG_MDL.doNorm && CFG_MDL.doMTE2Preload == 0, "CFG_MDL");
    // Groups that say nothing change nothing but the mode of batches; those that do arrive, each member in its place.
    const MatmulConfig same = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(
        MatmulShapeParams(), MatmulQuantParams(), MatmulBatchParams(), MatmulFuncParams(), MatmulBiasParams());
    Expect(normal(same, true) && same.doNorm && same.batchMode == BatchMode::NONE && !same.isPerTensor && !same.hasAntiQuantOffset &&
               same.isBiasBatch && same.bmmOutMode == BatchOutMode::SINGLE_BATCH && !same.enableDoubleCache && !same.enableL1CacheUB &&
               same.doMTE2Preload == 0 && !same.enableUBReuse && !same.isPartialOutput && !same.isA2B2Shared && !same.isEnableChannelSplit &&
               !same.enableKdimReorderLoad && !same.enableL1BankConflictOptimise && !same.enableRelu && same.enableSetBias,
           "groups of members as they are");
    for (const uint32_t member : {same.singleCoreM, same.singleCoreN, same.singleCoreK, same.basicM, same.basicN, same.basicK, same.stepM,
                                  same.stepN, same.baseMN, same.singleCoreMN}) {
        Expect(member == 0, "a size that nobody named");
    }
    const MatmulConfig sized = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(MatmulShapeParams{1, 2, 3, 4, 5, 6}, MatmulQuantParams{true, false});
    Expect(sized.doMultiDataLoad && sized.singleCoreM == 1 && sized.singleCoreN == 2 && sized.singleCoreK == 3 && sized.basicM == 4 &&
               sized.basicN == 5 && sized.basicK == 6 && sized.isPerTensor && !sized.hasAntiQuantOffset, "sizes of a configuration");
    Expect(normal(CFG_IBSHARE_NORM, true) && CFG_IBSHARE_NORM.doIBShareNorm && !CFG_IBSHARE_NORM.enableDoubleCache, "CFG_IBSHARE_NORM");
}

// Kernels and tiling functions hand these on as numbers.
static_assert(static_cast<int>(CubeFormat::ND) == 0 && static_cast<int>(CubeFormat::NZ) == 1 && static_cast<int>(CubeFormat::ZN) == 2 &&
              static_cast<int>(CubeFormat::ZZ) == 3 && static_cast<int>(CubeFormat::NN) == 4 && static_cast<int>(CubeFormat::ND_ALIGN) == 5 &&
              static_cast<int>(CubeFormat::SCALAR) == 6 && static_cast<int>(CubeFormat::VECTOR) == 7 && CubeFormat::ROW_MAJOR == CubeFormat::ND &&
              static_cast<int>(CubeFormat::COLUMN_MAJOR) == 8);

/// Bits of the ways to iterate, and what a configuration is made of where it says nothing.
void CheckNumbers()
{
    const int modes[] = {ITERATE_MODE_NORMAL, ITERATE_MODE_ALL, ITERATE_MODE_BATCH, ITERATE_MODE_N_BATCH};
    for (int i = 0; i < 4; ++i) {
        Expect(modes[i] == 1 << i, "bit " + std::to_string(i) + " of the ways to iterate");
    }
    Expect(ITERATE_MODE_DEFAULT == 255 && MatmulConfig().iterateMode == 255, "all ways to iterate");
    Expect(static_cast<int>(LayoutMode::NORMAL) == 4 && static_cast<int>(BatchMode::SINGLE_LARGE_THAN_L1) == 3 &&
               static_cast<int>(IterateOrder::UNDEF) == 2 && static_cast<int>(ScheduleType::OUTER_PRODUCT) == 1 &&
               static_cast<int>(BatchOutMode::DYNAMIC) == 2 && static_cast<int>(MatmulConfigMode::CONFIG_IBSHARE) == 3, "numbers of modes");
    constexpr MatmulConfig c;
    Expect(!c.doNorm && !c.doBasicBlock && !c.doMultiDataLoad && !c.doSpecialBasicBlock && !c.doIBShareNorm && !c.doSpecialMDL &&
               !c.intrinsicsCheck && !c.isNBatch && !c.enVecND2NZ && c.doMTE2Preload == 0 && c.batchMode == BatchMode::NONE && !c.intraBlockPartSum &&
               !c.enableStaticPadZeros && !c.isPartialOutput && !c.enableMixDualMaster && !c.isA2B2Shared && !c.isEnableChannelSplit &&
               !c.enableKdimReorderLoad && !c.isCO1Shared && !c.enableRelu && !c.enableL1BankConflictOptimise, "what is off by itself");
    Expect(c.enUnitFlag && c.enableInit && c.enableEnd && c.enableGetTensorC && c.enableSetOrgShape && c.enableSetBias && c.enableSetTail &&
               c.enableQuantVector && c.enableSetDefineData && c.enableReuse && c.isBiasBatch && c.sharedCO1BufferSize == 65536, "what is on by itself");
}

/// Base blocks where a configuration has sizes: 128 x 256 at most, half of L0A or L0B deep, as many of them in half of L1 as k has.
void CheckPlannedBlocks()
{
    using namespace AscendC;
    using Byte = MatmulType<TPosition::GM, CubeFormat::ND, int8_t>;
    using Half = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    using Single = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    const auto check = [](const char* what, const MatmulApiStaticTiling& t, const MatmulShapeParams& p, int32_t m, int32_t n, int32_t k, int32_t steps) {
        Expect(t.singleCoreM == static_cast<int32_t>(p.singleCoreM) && t.singleCoreN == static_cast<int32_t>(p.singleCoreN) &&
                   t.singleCoreK == static_cast<int32_t>(p.singleCoreK) && t.baseM == m && t.baseN == n && t.baseK == k, std::string("base block, ") + what);
        Expect(t.stepM == 1 && t.stepN == 1 && t.stepKa == steps && t.stepKb == steps && t.depthA1 == 2 * steps && t.depthB1 == 2 * steps &&
                   t.dbL0A == 2 && t.dbL0B == 2 && t.dbL0C == 1 && t.iterateOrder == 0 && t.M == -1 && t.usedCoreNum == -1 && t.isBias == -1,
               std::string("steps, ") + what + ": " + std::to_string(t.stepKa));
    };
#define PLANNED(Type, l1, what, m, n, k, steps, ...)                                                                                       \
    check(what, GetMatmulApiTiling<Type, Type, Single>(GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulShapeParams __VA_ARGS__), l1), \
          MatmulShapeParams __VA_ARGS__, m, n, k, steps)
    PLANNED(Half, 524288, "large", 128, 256, 64, 5, {300, 500, 1000, 0, 0, 0});
    PLANNED(Half, 524288, "a last step of one", 64, 64, 64, 2, {64, 64, 65, 64, 64, 64});
    PLANNED(Half, 524288, "whole steps", 64, 64, 64, 2, {64, 64, 128, 64, 64, 64});
    PLANNED(Half, 524288, "three steps", 64, 64, 64, 3, {64, 64, 129, 64, 64, 64});
    PLANNED(Half, 65536, "little memory", 128, 128, 64, 1, {128, 128, 1000, 128, 128, 64});
    PLANNED(Half, 524288, "a column", 16, 256, 64, 2, {1, 256, 100, 0, 0, 0});
    PLANNED(Byte, 524288, "bytes", 32, 64, 128, 1, {20, 40, 100, 0, 0, 0});
    PLANNED(Byte, 524288, "deep bytes", 128, 32, 256, 4, {400, 10, 1000, 0, 0, 0});
    PLANNED(Single, 524288, "floats", 16, 16, 48, 1, {16, 1, 33, 0, 0, 0});
    PLANNED(Single, 524288, "floats across", 16, 128, 64, 4, {10, 128, 255, 0, 0, 0});
#undef PLANNED
}

}  // namespace

int main()
{
    CheckFactors<int8_t, half>("int8 to half");
    CheckFactors<int8_t, int8_t>("int8 to int8");
    CheckFactors<half, int8_t>("half to int8");
    CheckFractalsOfBytes();
    CheckBias<half, float>("half");
    CheckBias<int8_t, int32_t>("int8");
    CheckShapes<half, float>("half");
    CheckHf32();
    CheckSteps();
    CheckBlocksInL0();
    CheckOrder<AscendC::CFG_NORM>("blocks along m", [](int32_t row, int32_t column) { return (column / 32 * 3 + row / 16) * 512 + row % 16 * 32 + column % 32; });
    CheckOrder<kAlongN>("blocks along n", [](int32_t row, int32_t column) { return (row / 16 * 2 + column / 32) * 512 + row % 16 * 32 + column % 32; });
    CheckSomeOfATiling();
    CheckOperandsInL1();
    CheckDistantRows();
    CheckStaticTilings();
    CheckNumbers();
    CheckPlannedBlocks();
    std::remove("api_matmul_settings.trace");
    return Report("api_matmul_settings");
}
