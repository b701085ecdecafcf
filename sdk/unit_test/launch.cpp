// Memory and launches of kernel unit tests.
#include <cstdlib>
#include <cstring>

#include "machine/machine.h"
#include "tikicpulib.h"

namespace ascend_unit {
namespace {
uint64_t g_tiling_key = 0;
KernelMode g_mode = KernelMode::AIV_MODE;
uint32_t g_allocations = 0;
}  // namespace

void SetTilingKey(uint64_t key) { g_tiling_key = key; }

void LaunchKernel(const char* kernel, uint32_t blocks, void (*run)(void*), void* bound)
{
    ascendsim::LaunchInfo info;
    info.kernel = kernel;
    info.block_dim = blocks;
    info.tiling_key = g_tiling_key;
    if (g_mode == KernelMode::AIC_MODE) {
        info.type = ascendsim::KernelType::kAic;
    }
    NoteLaunch();
    (void)ascendsim::RunLaunch(info, run, bound);
}

}  // namespace ascend_unit

namespace AscendC {

void* GmAlloc(size_t bytes)
{
    void* const memory =
        ascendsim::AllocateRegion(bytes, ascendsim::RegionRole::kOther, ascend_unit::g_allocations++);
    if (memory == nullptr) {
        std::cerr << "GmAlloc: no memory for " << bytes << " bytes\n";
        std::abort();
    }
    std::memset(memory, 0, bytes);
    return memory;
}

void GmFree(void* memory) { (void)ascendsim::FreeRegion(memory); }

void SetKernelMode(KernelMode mode) { ascend_unit::g_mode = mode; }

}  // namespace AscendC
