// Checking and recording of operands that may lie in any memory; used by the cube's instructions. Internal to the library.
#ifndef ASCENDSIM_OPERANDS_H
#define ASCENDSIM_OPERANDS_H

#include <cstddef>
#include <cstdint>

#include "ascendsim/isa_cube.h"
#include "isa/engine.h"

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

/// One operand: `count1 x count0` pieces of `len` bytes, at least one.
struct Range {
    TraceSpace space;
    uint8_t access;
    const void* base;
    uint64_t len;
    int operand;  // position in the form, which says the alignment
    uint32_t count0 = 1;
    int64_t stride0 = 0;
    uint32_t count1 = 1;
    int64_t stride1 = 0;
};

/// What the head of a record says besides its operands.
struct Numbers {
    uint32_t aux0 = 0;
    uint32_t aux1 = 0;
    uint32_t aux2 = 0;
    uint16_t repeat = 1;
    uint8_t flags = 0;
};

constexpr int kMaxRanges = 4;

/// Host address of an operand in an on-chip memory that is given as one or as a byte offset.
inline uint8_t* OnChipAddress(const Core& core, uint8_t space, const void* address)
{
    const auto value = reinterpret_cast<uintptr_t>(address);
    uint8_t* base = machine::SpaceBase(core, space);
    return value < machine::SpaceSize(core, space) ? base + value : const_cast<uint8_t*>(static_cast<const uint8_t*>(address));
}

/// Checks all operands and writes the record. False has recorded a fault, or the launch is only timed: the instruction must do
/// nothing.
bool AdmitRanges(Core& core, uint16_t opcode, uint8_t dtype, uint64_t site, const Range* ranges, int count,
           const Numbers& numbers);

/// A record without operands, for an instruction whose counts say that there is nothing to do.
void AdmitNothing(Core& core, uint16_t opcode, uint64_t site);

/// Records a fault of an operand value that the instruction does not take.
void BadArgument(Core& core, uint16_t opcode, uint64_t site, const char* what, long long value);
/// Records that a documented mode is not simulated; ends the block.
[[noreturn]] void NotSimulated(Core& core, uint16_t opcode, uint64_t site, const char* what);

/// Bits of an element type; 4 for kElementS4.
constexpr uint32_t ElementBits(uint8_t element)
{
    switch (element) {
        case kElementS4:
            return 4;
        case kI8:
        case kU8:
        case kB8:
            return 8;
        case kF32:
        case kI32:
        case kU32:
            return 32;
        case kI64:
        case kU64:
            return 64;
        default:
            return 16;
    }
}

constexpr uint32_t CeilDiv(uint32_t value, uint32_t by) { return (value + by - 1) / by; }

constexpr uint32_t kFractal = 512;
constexpr uint32_t kSide = 16; // rows and columns of a fractal of two-byte elements

/// Adds, or takes the extreme, in memory as the atomic configuration of the core says.
void AtomicWrite(const Core& core, uint8_t* to, const uint8_t* from, uint64_t bytes);

}  // namespace isa
}  // namespace ascendsim

#endif
