// What the kernels of this folder share. Each is one defect and, without it, the repaired twin:
//
//     DEFECT(name, "class", blocks) { ... if (!kBroken) { the repair } ... }
//
// The class is a hazard's name as reports spell it. The line that the verdict has to name ends with the comment `here`;
// `"class?"` says that the verdict is a warning. tests/suite/corpus.rs reads both from the source, runs every kernel twice, and
// compares. OUTPUT_DEFECT is the same with a memory whose outputs have to be written in full. MISSED is one that the judge does not find.
#ifndef DEFECTS_DEFECT_H
#define DEFECTS_DEFECT_H

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernel_operator.h"
#include "machine/machine.h"

using namespace AscendC;

/// Global memory of a launch. Every block has 256 elements of `z` and of the workspace `w` to itself.
struct Memory {
    static constexpr uint32_t kInput = 4096;  // elements of x and of y
    static constexpr uint32_t kShare = 256;
    GlobalTensor<float> x, y, z, w;
    uint32_t block = 0;
    uint32_t blocks = 1;
    GlobalTensor<float> MyZ() const { return z[block * kShare]; }
    GlobalTensor<float> MyW() const { return w[block * kShare]; }
};

struct Defect {
    const char* name;
    uint32_t blocks;
    bool output;
    void (*body[2])(Memory&);  // repaired, broken
};

inline std::vector<Defect>& Defects()
{
    static std::vector<Defect> defects;
    return defects;
}

struct Registration {
    explicit Registration(const Defect& defect) { Defects().push_back(defect); }
};

#define DEFECT_IN(name, blocks, output)                                                                 \
    template <bool kBroken>                                                                             \
    void name(Memory& m);                                                                               \
    static const Registration name##_registration({#name, blocks, output, {&name<false>, &name<true>}}); \
    template <bool kBroken>                                                                             \
    void name([[maybe_unused]] Memory& m)
#define DEFECT(name, kind, blocks) DEFECT_IN(name, blocks, false)
/// One that the judge does not find yet; what finds it makes it a DEFECT.
#define MISSED(name, kind, blocks) DEFECT_IN(name, blocks, false)
#define OUTPUT_DEFECT(name, kind, blocks) DEFECT_IN(name, blocks, true)

constexpr HardEvent MTE2_V = HardEvent::MTE2_V, V_MTE2 = HardEvent::V_MTE2, V_MTE3 = HardEvent::V_MTE3;
constexpr HardEvent MTE3_V = HardEvent::MTE3_V, MTE3_MTE2 = HardEvent::MTE3_MTE2, MTE2_MTE3 = HardEvent::MTE2_MTE3;
constexpr HardEvent S_V = HardEvent::S_V, V_S = HardEvent::V_S, MTE2_S = HardEvent::MTE2_S;
using InQueue = TQue<TPosition::VECIN, 1>;
using OutQueue = TQue<TPosition::VECOUT, 1>;
using InQueue2 = TQue<TPosition::VECIN, 2>;
using OutQueue2 = TQue<TPosition::VECOUT, 2>;

/// The flag of an event, set and waited for at once.
template <HardEvent event>
ASC_API void Order(int32_t id = 0)
{
    SetFlag<event>(id);
    WaitFlag<event>(id);
}

/// Writes back and drops the data cache's line of an element.
template <typename T>
ASC_API void CleanLine(const GlobalTensor<T>& at)
{
    DataCacheCleanAndInvalid<T, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(at);
}

/// `count` elements from byte `at` of the Unified Buffer.
template <typename T = float>
ASC_API LocalTensor<T> Ub(uint32_t at, uint32_t count = Memory::kShare)
{
    return LocalTensor<T>(TPosition::VECCALC, at, count);
}

#ifdef __DAV_C220_CUBE__
constexpr HardEvent MTE2_MTE1 = HardEvent::MTE2_MTE1, MTE1_MTE2 = HardEvent::MTE1_MTE2, MTE1_M = HardEvent::MTE1_M;
constexpr HardEvent M_MTE1 = HardEvent::M_MTE1, M_FIX = HardEvent::M_FIX, FIX_M = HardEvent::FIX_M;

/// One fractal of halves (512 bytes) at byte `at` of a memory of the cube core.
template <TPosition position, typename T = half>
ASC_API LocalTensor<T> Fractal(uint32_t at = 0)
{
    return LocalTensor<T>(position, at, 256);
}
/// A fractal from global memory into L1, from there into L0A or L0B, the product of both, and the product out.
ASC_API void Fetch(const Memory& m, uint32_t at)
{
    DataCopy(Fractal<TPosition::A1>(at), m.x.ReinterpretCast<half>(), 256);
}
template <TPosition position>
ASC_API void Load(uint32_t to, uint32_t from)
{
    LoadData(Fractal<position>(to), Fractal<TPosition::A1>(from), LoadData2DParams(0, 1, 0, 0, 0, false, 0));
}
ASC_API void Multiply()
{
    MmadParams p;
    p.m = p.n = p.k = 16;
    Mmad(Fractal<TPosition::CO1, float>(), Fractal<TPosition::A2>(), Fractal<TPosition::B2>(), p);
}
ASC_API void Drain(const Memory& m)
{
    Fixpipe<float, float, CFG_ROW_MAJOR>(m.z, Fractal<TPosition::CO1, float>(), FixpipeParamsV220(16, 16, 16, 16, false));
}
#endif

namespace defects {

struct Launched {
    const Defect* defect;
    bool broken;
    void* x;
    void* y;
    void* z;
    void* w;
};

inline void RunBlock(void* raw)
{
    const auto& launched = *static_cast<const Launched*>(raw);
    Memory m;
    m.block = static_cast<uint32_t>(GetBlockIdx());
    m.blocks = launched.defect->blocks;
    m.x.SetGlobalBuffer(static_cast<float*>(launched.x), Memory::kInput);
    m.y.SetGlobalBuffer(static_cast<float*>(launched.y), Memory::kInput);
    m.z.SetGlobalBuffer(static_cast<float*>(launched.z), m.blocks * Memory::kShare);
    m.w.SetGlobalBuffer(static_cast<float*>(launched.w), m.blocks * Memory::kShare);
    launched.defect->body[launched.broken](m);
}

inline void Run(const Defect& defect, bool broken)
{
    using ascendsim::RegionRole;
    const auto allocate = [](uint32_t elements, RegionRole role, uint32_t index) {
        return ascendsim::AllocateRegion(elements * sizeof(float), role, index);
    };
    const uint32_t shares = defect.blocks * Memory::kShare;
    Launched launched{&defect, broken, allocate(Memory::kInput, RegionRole::kInput, 0),
                      allocate(Memory::kInput, RegionRole::kInput, 1),
                      allocate(shares, defect.output ? RegionRole::kOutput : RegionRole::kOther, 0),
                      allocate(shares, RegionRole::kWorkspace, 0)};
    std::memset(launched.x, 0, Memory::kInput * sizeof(float));
    std::memset(launched.y, 0, Memory::kInput * sizeof(float));
    std::memset(launched.w, 0, shares * sizeof(float));
    ascendsim::LaunchInfo info;
    info.kernel = std::string(defect.name) + (broken ? ".broken" : ".repaired");
    info.block_dim = defect.blocks;
#ifdef __DAV_C220_CUBE__
    info.type = ascendsim::KernelType::kAic;
#endif
    ascendsim::RunLaunch(info, &RunBlock, &launched);
    ascendsim::ClearRegions();
}

}  // namespace defects

/// Writes the trace of all kernels of this file, in the order of their names in it.
int main(int argc, char** argv)
{
    if (argc != 2 || !ascendsim::OpenTrace(argv[1])) {
        std::fprintf(stderr, "usage: %s TRACE\n", argv[0]);
        return 2;
    }
    for (const Defect& defect : Defects()) {
        defects::Run(defect, false);
        defects::Run(defect, true);
    }
    return ascendsim::CloseTrace() ? 0 : 1;
}

#endif
