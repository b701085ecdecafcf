// Operand walking shared by the vector instructions: which lanes are active, whether the operands are legal, what the record
// says, and in which contiguous runs the arithmetic is done. Internal to the library.
#ifndef ASCENDSIM_ENGINE_H
#define ASCENDSIM_ENGINE_H

#include <cstddef>
#include <cstdint>

#include "ascendsim/types.h"
#include "isa/forms.h"
#include "machine/core_state.h"

// In-place operands defeat g++'s alias check although no lane depends on another. clang would warn where it cannot vectorise.
#if defined(__clang__)
#define ASCENDSIM_IVDEP
#else
#define ASCENDSIM_IVDEP _Pragma("GCC ivdep")
#endif

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

using machine::Core;
using machine::Current;
using machine::FaultKind;
using machine::NoteValue;
using machine::RaiseFault;

constexpr uint32_t kBlock = 32;
constexpr uint32_t kRepeat = 256;

template <typename T> struct DtypeOf;
template <> struct DtypeOf<half> { static constexpr uint8_t value = kF16; };
template <> struct DtypeOf<float> { static constexpr uint8_t value = kF32; };
template <> struct DtypeOf<bfloat16_t> { static constexpr uint8_t value = kBf16; };
template <> struct DtypeOf<int8_t> { static constexpr uint8_t value = kI8; };
template <> struct DtypeOf<uint8_t> { static constexpr uint8_t value = kU8; };
template <> struct DtypeOf<int16_t> { static constexpr uint8_t value = kI16; };
template <> struct DtypeOf<uint16_t> { static constexpr uint8_t value = kU16; };
template <> struct DtypeOf<int32_t> { static constexpr uint8_t value = kI32; };
template <> struct DtypeOf<uint32_t> { static constexpr uint8_t value = kU32; };
template <> struct DtypeOf<int64_t> { static constexpr uint8_t value = kI64; };
template <> struct DtypeOf<uint64_t> { static constexpr uint8_t value = kU64; };

/// One vector operand: lanes of `size` bytes in blocks of 32 bytes.
struct Lanes {
    const void* base;
    uint32_t size;
    uint32_t block_stride;   // blocks
    uint32_t repeat_stride;  // blocks
    uint8_t access;
};

constexpr int kMaxLanes = 4;

/// What an instruction is about to do.
struct Issue {
    uint16_t opcode;
    uint8_t dtype;
    uint32_t repeat;
    uint64_t site;
    int count;
    Lanes lanes[kMaxLanes];
};

/// Lanes that take part, from the mask registers.
struct Active {
    bool counted = false;      // counter mode
    bool full = true;          // every lane of every full repeat
    bool low = true;           // the active lanes are the lowest ones
    uint32_t per_repeat = 0;   // lanes of a repeat
    uint32_t lanes = 0;        // active lanes of a full repeat
    uint32_t repeats = 0;      // full repeats
    uint32_t tail = 0;         // lanes of a last, shorter repeat (counter mode)
    uint64_t mask[4] = {};     // lane bits when not low

    bool Empty() const { return (repeats == 0 || lanes == 0) && tail == 0; }
    bool Bit(uint32_t lane) const { return ((mask[lane / 64] >> (lane % 64)) & 1u) != 0; }
    uint32_t Steps() const { return repeats + (tail != 0 ? 1 : 0); }
    uint32_t LanesAt(uint32_t step) const { return step < repeats ? lanes : tail; }
    bool IsOn(uint32_t step, uint32_t lane) const { return low ? lane < LanesAt(step) : Bit(lane); }
    /// One past the highest active lane of a step: nothing behind it may be touched.
    uint32_t End(uint32_t step) const
    {
        uint32_t end = low ? LanesAt(step) : per_repeat;
        while (!low && end > 0 && !Bit(end - 1)) {
            --end;
        }
        return end;
    }
};
Active ActiveLanes(const Core& core, uint32_t per_repeat, uint32_t repeat);

/// Byte ranges of one operand in record form: `count1 x count0` pieces of `len` bytes.
struct Pieces {
    int64_t addr;  // offset in UB
    int64_t stride0;
    int64_t stride1;
    uint32_t len;
    uint32_t count0;
    uint32_t count1;
    uint8_t access;
};

/// Collects operand ranges of an instruction, checks them, and writes its record.
class Recorder {
public:
    Recorder(Core& core, uint16_t opcode, uint64_t site) : core_(core), opcode_(opcode), site_(site) {}

    /// Adds the `main`-th operand's ranges; what one entry cannot say follows behind all main entries.
    void AddLanes(const Lanes& lanes, const Active& active);
    void AddPieces(const void* base, uint32_t len, uint8_t access, uint32_t count0 = 1, int64_t stride0 = 0,
                   uint32_t count1 = 1, int64_t stride1 = 0);
    /// Checks the address of an operand against a required alignment. False records a fault.
    bool Aligned(const void* base, uint32_t alignment);
    /// Checks all collected ranges. False records a fault.
    bool InBounds();
    /// Writes the record, on the unit that the table names. False in a launch that is only timed: the instruction must not
    /// touch data.
    bool Write(uint8_t dtype, const Active& active);

private:
    static constexpr int kMain = 20;
    static constexpr int kExtra = 24;
    bool Check(const Pieces& pieces);
    int64_t Offset(const void* base) const
    {
        return static_cast<int64_t>(reinterpret_cast<uintptr_t>(base)) -
               static_cast<int64_t>(reinterpret_cast<uintptr_t>(core_.ub));
    }
    void Main(const Pieces& pieces) { main_[mains_++] = pieces; }
    void Extra(const Pieces& pieces)
    {
        if (extras_ < kExtra) {
            extra_[extras_++] = pieces;
        }
    }

    Core& core_;
    uint16_t opcode_;
    uint64_t site_;
    Pieces main_[kMain];
    Pieces extra_[kExtra];
    int mains_ = 0;
    int extras_ = 0;
};

/// Computes `count` consecutive lanes; p[0] is the destination.
using RunFn = void (*)(const void* context, uint8_t* const* p, size_t count);

/// A lane-by-lane instruction: checks, records, and calls `fn` on contiguous runs.
void Elementwise(const Issue& issue, RunFn fn, const void* context);

/// Checks and records like Elementwise but leaves the computation to the caller. False when nothing is to be done.
bool Admit(Core& core, const Issue& issue, Active* active);

/// Host address of lane `lane` of step `step`.
inline uint8_t* LaneAt(const Lanes& lanes, uint32_t step, uint32_t lane)
{
    const uint32_t per_block = kBlock / lanes.size;
    return const_cast<uint8_t*>(static_cast<const uint8_t*>(lanes.base)) +
           (size_t{step} * lanes.repeat_stride + size_t{lane / per_block} * lanes.block_stride) * kBlock +
           size_t{lane % per_block} * lanes.size;
}

/// Copies the first `count` lanes of a step into an array.
template <typename T>
inline void CopyRow(const Lanes& lanes, uint32_t step, uint32_t count, T* out)
{
    constexpr uint32_t per_block = kBlock / sizeof(T);
    const uint32_t run = lanes.block_stride == 1 ? count : per_block;
    for (uint32_t lane = 0; lane < count; lane += run) {
        std::memcpy(out + lane, LaneAt(lanes, step, lane), (count - lane < run ? count - lane : run) * sizeof(T));
    }
}

template <typename T>
inline T Load(const void* from)
{
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

template <typename T>
inline void Store(void* to, T value)
{
    std::memcpy(to, &value, sizeof(T));
}

}  // namespace isa
}  // namespace ascendsim

#endif
