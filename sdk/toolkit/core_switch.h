// Makes a toolkit's headers see the running core: its number, its type, and its memories in place of the ones that the
// headers allocate. Comes after kernel_operator.h in a kernel library.
#ifndef ASCENDSIM_TOOLKIT_CORE_SWITCH_H
#define ASCENDSIM_TOOLKIT_CORE_SWITCH_H

#include "stub_def.h"

namespace ascendsim {
namespace toolkit {

/// The headers' table of memories. They free what they find in it when the library goes, which must not be ours.
class Memories {
public:
    static Memories& Instance()
    {
        static Memories memories;
        return memories;
    }
    ~Memories() { Point(nullptr); }

    /// Points every entry to the memories of the running core, or nowhere.
    void Point(uint8_t* (*base)(uint32_t))
    {
        const auto at = [base](uint32_t space) { return base != nullptr ? base(space) : nullptr; };
        auto& table = AscendC::ConstDefiner::Instance();
        table.cpuUB = at(0);
        table.cpuL1 = at(2);
        table.cpuL0A = at(3);
        table.cpuL0B = at(4);
        table.cpuL0C = at(5);
        table.cpuBIAS = at(6);
        table.cpuFIXBUF = at(7);
        table.hardwareCpuBufferMap[AscendC::Hardware::UB] = table.cpuUB;
        table.hardwareCpuBufferMap[AscendC::Hardware::L1] = table.cpuL1;
        table.hardwareCpuBufferMap[AscendC::Hardware::L0A] = table.cpuL0A;
        table.hardwareCpuBufferMap[AscendC::Hardware::L0B] = table.cpuL0B;
        table.hardwareCpuBufferMap[AscendC::Hardware::L0C] = table.cpuL0C;
        table.hardwareCpuBufferMap[AscendC::Hardware::BIAS] = table.cpuBIAS;
        table.hardwareCpuBufferMap[AscendC::Hardware::FIXBUF] = table.cpuFIXBUF;
    }

private:
    Memories()
    {
        // Made before this object is, so that it goes after it.
        auto& table = AscendC::ConstDefiner::Instance();
        for (uint8_t* memory : {table.cpuUB, table.cpuL1, table.cpuL0A, table.cpuL0B, table.cpuL0C, table.cpuBIAS,
                                table.cpuFIXBUF}) {
            delete[] memory;
        }
    }
};

/// Called whenever a core of this library starts or goes on.
inline void EnterCore(void*)
{
    block_idx = get_block_idx();
    block_num = get_block_num();
    sub_block_idx = static_cast<int32_t>(get_subblockid());
    g_taskRation = static_cast<int32_t>(get_subblockdim());
    g_coreType = OnCubeCore() ? AscendC::AIC_TYPE : AscendC::AIV_TYPE;
    g_tilingKey = TilingKey();
    Memories::Instance().Point(&OnChipBase);
}

inline const bool g_registered = [] {
    // Before any core runs, so that what every core starts from is complete.
    Memories::Instance();
    ascend_sim_on_core(&EnterCore, nullptr);
    return true;
}();

}  // namespace toolkit
}  // namespace ascendsim

// Stands for every check function of the CPU-debug package's library: the instructions check their operands themselves.
// The builder links those functions to this one.
extern "C" __attribute__((used, visibility("hidden"))) bool ascend_sim_check_passed() { return true; }

// In this configuration the headers only declare these, or leave the workspace to the package. The system keeps the start of
// the workspace for itself, as on the device.
namespace ascendsim {
namespace toolkit {
/// Bytes that GetLibApiWorkSpaceSize asks for.
inline constexpr size_t kLibraryWorkspace = size_t{16} << 20;
inline uint8_t* g_sysWorkspace = nullptr;
inline uint8_t g_noWorkspace = 0;
inline void SetWorkspace(uint8_t* workspace) { g_sysWorkspace = workspace; }
}  // namespace toolkit
}  // namespace ascendsim

/// Never null, because kernels take null for "no workspace". Nothing may be read or written where there is none.
__attribute__((always_inline)) inline uint8_t* GetSysWorkSpacePtr()
{
    using namespace ascendsim::toolkit;
    return g_sysWorkspace != nullptr ? g_sysWorkspace : &g_noWorkspace;
}
__attribute__((always_inline)) inline void SetSysWorkSpacePtr(uint8_t* workspace)
{
    ascendsim::toolkit::SetWorkspace(workspace);
}

__attribute__((always_inline)) inline uint8_t* ascend_sim_user_workspace(uint8_t* workspace)
{
    return workspace != nullptr ? workspace + ascendsim::toolkit::kLibraryWorkspace : workspace;
}
__attribute__((always_inline)) inline void ascend_sim_set_workspace(uint8_t* workspace)
{
    ascendsim::toolkit::SetWorkspace(workspace);
}
namespace AscendC {
using ::ascend_sim_set_workspace;
using ::ascend_sim_user_workspace;
}  // namespace AscendC
// By macros, so that the names work with and without the namespace.
#define GetUserWorkspace ascend_sim_user_workspace
#define SetSysWorkspace ascend_sim_set_workspace
#define SetSysWorkspaceForce ascend_sim_set_workspace

#undef __aicore__
#define __aicore__

// Checks of a kernel vanish in a device build, together with whatever their text may name.
#undef ASSERT
#define ASSERT(...)

#endif
