// The machine as its host-side users see it: memory regions, launches, trace, environment.
// Used by the runner, the AscendCL subset and the tests. Kernels use ascendsim/core.h.
#ifndef ASCENDSIM_MACHINE_H
#define ASCENDSIM_MACHINE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ascendsim {

enum class RegionRole : uint32_t { kInput = 0, kOutput = 1, kWorkspace = 2, kTiling = 3, kOther = 4, kUpdated = 5 };

/// A stretch of global memory that kernels may touch.
struct Region {
    uint8_t* base;
    size_t size;              // bytes
    uint64_t virtual_base;    // (ordinal + 1) << 40
    RegionRole role;
    uint32_t index;           // position among the regions of its role
    size_t taken;             // bytes of addresses that were taken for it, guard gaps included; 0 where the memory is somebody else's
    bool guarded;             // its guard gaps hold the pattern

    bool IsOwned() const { return taken != 0; }
};

/// Makes host memory visible to kernels as global memory; returns its virtual base address.
uint64_t RegisterRegion(void* ptr, size_t size, RegionRole role, uint32_t index);
/// Forgets the region that starts at `ptr`. False when there is none.
bool UnregisterRegion(void* ptr);
/// Allocates and registers `size` bytes, 512-byte aligned, between two guard gaps of 4 KiB, filled with poison.
/// Null when memory is exhausted.
void* AllocateRegion(size_t size, RegionRole role, uint32_t index);
/// The same with pages that cost memory and time only once they are touched: a private copy of the file `fd`, which has at least
/// `size` bytes, or poison where it is -1. The guard gaps are inaccessible. Null when there is no such mapping here.
void* MapRegion(size_t size, RegionRole role, uint32_t index, int fd);
/// Releases a region made by AllocateRegion. False when `ptr` is not the start of one.
bool FreeRegion(void* ptr);
/// Forgets all regions, releases the allocated ones, and numbers the next one from zero again.
void ClearRegions();
/// The region that holds `ptr`, or null.
const Region* FindRegion(const void* ptr);
/// All live regions in the order of their registration.
std::vector<Region> LiveRegions();
/// True when no byte of any owned region's guard gaps has changed.
bool GuardsIntact();

/// Which cores a launch runs on: vector cores, cube cores, or groups of a cube core and 0, 1 or 2 vector cores.
enum class KernelType : uint8_t { kAiv, kAic, kMix10, kMix11, kMix12 };
/// "aiv", "aic", "mix_1_0", "mix_1_1", "mix_1_2", as jobs and traces spell it.
const char* KernelTypeName(KernelType type);
/// False when `name` is none of them.
bool ParseKernelType(const std::string& name, KernelType* type);

struct LaunchInfo {
    std::string kernel;
    KernelType type = KernelType::kAiv;
    uint32_t block_dim = 1;
    uint64_t tiling_key = 0;
    uint32_t schedule_mode = 0;
    std::string dtype;  // optional, only written to the trace
};

struct LaunchResult {
    bool completed = true;       // false when a block was ended by a fault
    uint64_t records = 0;
    uint64_t faults = 0;
    std::string first_fault;     // "kind: message" of the first fault, empty without faults
    std::string data_read;       // why a launch that was only timed cannot be: what read data; empty otherwise
    uint64_t data_read_site = 0; // return address of what did, 0 if unknown
};

/// Runs `fn(arg)` once per core of every block, in block order, to completion, and writes the launch to the trace. A mixed
/// launch runs it on the cube core and on every vector core of each block (OnCubeCore tells them apart).
LaunchResult RunLaunch(const LaunchInfo& info, void (*fn)(void*), void* arg);
/// Result of the latest launch of this process.
const LaunchResult& LastLaunch();

/// Starts a trace file (replaces a running one). False when it cannot be written.
bool OpenTrace(const std::string& path);
/// Writes out what is buffered and closes the trace file. False when a write failed.
bool CloseTrace();
/// Makes every launch write the contents of the live regions to the trace (as ASCEND_SIM_DUMP=1 does).
void SetDumpRegions(bool dump);

/// The loaded modules as traces list them: a line `start end path` for each, addresses in hexadecimal.
std::string LoadedModules();

/// Byte that fills Unified Buffers before a block and fresh regions.
void SetPoison(uint8_t value);
uint8_t Poison();
/// Makes later launches fill what a queue hands out: a result that depends on what an earlier tensor left there differs.
void SetFreshTensors(bool fresh);
/// Starts the blocks of later launches with the last one: a result that depends on their order differs.
void SetBlocksReversed(bool reversed);
// Knobs that the process has read, in order of their names.
std::vector<std::string> KnobsRead();
/// Runs only these blocks of later launches, in increasing order; none stands for all. The others do nothing at all, so that only
/// kernels whose blocks do not wait for one another come to their end.
void SetChosenBlocks(std::vector<uint32_t> blocks);
/// Makes later launches record their instructions without data: inputs, outputs, workspaces and on-chip memories that are
/// made from now on cannot be accessed, and a launch that reads data ends and says where (LaunchResult::data_read). The trace
/// of one that does not is the same as with data.
void SetTimingOnly(bool timing_only);
/// Usable bytes of the Unified Buffer for the blocks of later launches.
void SetUbSize(size_t bytes);
/// Number of vector cores, and of cube cores: more blocks than these cannot wait for each other.
void SetCoreCount(uint32_t cores);
void SetCubeCoreCount(uint32_t cores);
/// Makes the writable data of the library that holds `address` private to each core of later launches.
void AddKernelModule(const void* address);
const std::string& SocName();
void SetSocName(const std::string& name);

}  // namespace ascendsim

#endif
