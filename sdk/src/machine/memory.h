// On-chip memories of a core: where they are, and checked translation of host addresses into offsets.
// Internal to the library.
#ifndef ASCENDSIM_MEMORY_H
#define ASCENDSIM_MEMORY_H

#include <cstddef>
#include <cstdint>

#include "machine/trace.h"

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

struct Core;

/// Name of a memory as people write it: "UB", "GM", "L1", "L0A", ...
const char* SpaceName(uint8_t space);

/// First byte of an on-chip memory of the core (null for GM) and its usable size in bytes.
uint8_t* SpaceBase(const Core& core, uint8_t space);
size_t SpaceSize(const Core& core, uint8_t space);
/// Bytes from the first of an on-chip memory to the first of the next: its size and a gap.
size_t SpaceRoom(const Core& core, uint8_t space);

/// Finds the memory that holds all of [ptr, ptr + bytes), GM included. `address` is the offset in an on-chip memory,
/// the virtual address in GM: what goes into an operand of a record. False when no memory does.
bool FindSpace(const Core& core, const void* ptr, size_t bytes, uint8_t* space, uint64_t* address);

/// Checks that [ptr, ptr + bytes) lies in the memory `space` (GM included) and starts on a multiple of `alignment` bytes
/// in it. True gives its address in records; false has recorded a fault that names `what` (the instruction) and the range.
bool CheckSpace(Core& core, uint8_t space, const void* ptr, uint64_t bytes, uint32_t alignment, uint64_t site,
                const char* what, uint64_t* address);

/// Memory behind one core, reused by the cores of a launch one after another.
class OnChip {
public:
    OnChip() = default;
    ~OnChip();
    OnChip(const OnChip&) = delete;
    OnChip& operator=(const OnChip&) = delete;

    /// Gives the core its memories. The Unified Buffer is filled with `poison`, the cube's memories when `cube`. In a launch
    /// that is only timed none of them can be accessed.
    void Attach(Core& core, size_t ub_size, uint8_t poison, bool cube);

private:
    uint8_t* memory_ = nullptr;
    size_t bytes_ = 0;
    bool accessible_ = true;
};

}  // namespace machine
}  // namespace ascendsim

#endif
