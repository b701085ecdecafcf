// State of one core and the calls by which instructions reach it. Internal to the library.
#ifndef ASCENDSIM_CORE_STATE_H
#define ASCENDSIM_CORE_STATE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ascendsim/core.h"
#include "isa/cube_registers.h"
#include "machine/cross_flags.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/trace.h"

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

enum class FaultKind : uint32_t {
    kOutOfBoundsGm = 1, kOutOfBoundsUb, kMisaligned, kUbOverflow, kQueueMisuse, kRepeatOverflow, kDeadlock,
    kUnsupported, kOperandOverlap, kFlagMisuse, kBadArgument, kDtypeUnsupported, kEventExhausted,
    kOutOfBoundsOnChip, kReadBehindTensor, kNeverFreed, kWriteInPadding, kMisalignedScalar, kDivisionByZero
};

/// Name of a fault kind, as kernels spell it.
const char* FaultName(FaultKind kind);

enum class AtomicOp : uint8_t { kNone = 0, kAdd, kMax, kMin };

/// Scalar work between two instructions, recorded when the next instruction comes.
struct PendingScalar {
    static constexpr int kRanges = 8;
    struct Range {
        uint64_t addr;
        uint32_t len;
        uint8_t space;
        uint8_t access;
    };
    uint64_t site = 0;
    uint32_t ub = 0;
    uint32_t ops = 0;
    uint32_t gm = 0;
    uint16_t floats = 0;  // floating-point operations in registers
    int ranges = 0;
    bool any = false;
    bool plain = false;  // announced by the compiler
    Range range[kRanges];
};

/// Recognises a core that polls: it reads what it has read before, again and again. One turn for the others then lets those
/// it waits for go on.
struct Polling {
    // A loop polls a few places in turn, which must not push one another out.
    static constexpr uint32_t kWays = 8;
    static constexpr uint32_t kSets = 8;
    uint64_t seen[kSets][kWays] = {};  // blocks of 32 bytes of global memory read lately
    uint8_t next[kSets] = {};          // which of a set was written longest ago
    uint32_t repeats = 0;
    bool due = false;
    bool noted = false;
};

/// Bytes of a memory, from one address to another.
struct Stretch {
    uint32_t from;
    uint32_t to;
};

struct Core {
    Unit unit = Unit::kVector;
    uint32_t group = 0;        // get_block_idx
    uint32_t groups = 1;       // get_block_num
    uint32_t sub_block = 0;    // which vector core of its group
    uint32_t sub_blocks = 1;   // vector cores of its group
    bool mixed = false;        // a launch of groups
    uint32_t index = 0;        // among the cores of the launch
    uint32_t trace_core = 0;   // number of the core in the trace

    // On-chip memories; see machine/memory.h.
    uint8_t *ub = nullptr, *l1 = nullptr, *l0a = nullptr, *l0b = nullptr, *l0c = nullptr, *bt = nullptr, *fb = nullptr;
    size_t ub_size = 0, l1_size = 0, l0a_size = 0, l0b_size = 0, l0c_size = 0, bt_size = 0, fb_size = 0;
    size_t on_chip_bytes = 0;  // of all of them, which begin with the Unified Buffer and follow one another
    // What the core's code has as its stack; null outside launches.
    const uint8_t* stack = nullptr;
    size_t stack_bytes = 0;
    bool filling = false;  // a toolkit's headers fill fresh memories, which no device does

    bool count_mode = false;
    uint64_t mask_low = ~uint64_t{0};
    uint64_t mask_high = ~uint64_t{0};
    uint64_t ctrl = uint64_t{1} << 48;  // infinities and NaNs are results, as runtimes of this family set it
    uint8_t cmpmask[16] = {};
    bool cmpmask_known = false;  // holds a constant, also where nothing is computed
    uint16_t deq_scale = 0;
    uint64_t pad_value = 0;
    uint64_t va[8][8] = {};
    int64_t acc_val = 0;
    int64_t max_min = 0;
    int64_t reserved_count = 0;
    int64_t merge_status = 0;
    uint64_t ffts_base = 0;
    isa::CubeRegisters cube;

    AtomicOp atomic_op = AtomicOp::kNone;
    uint8_t atomic_dtype = kNoDtype;
    bool l2_bypass = false;

    PendingScalar pending;
    uint32_t integers = 0;  // operations on integers in registers since the last access or record
    // What the API has announced of the scalar unit's accesses since the last instruction; the plain access that follows is the
    // same one.
    const void* announced = nullptr;
    size_t announced_bytes = 0;
    uint8_t announced_access = 0;
    uint8_t announced_seen = 0;  // how it was accessed since
    uint64_t records = 0;
    uint64_t site = 0;  // of the last record
    uint64_t values = 0;  // digest of what no record says; see NoteValue
    Polling polling;
    void* pipe = nullptr;
    std::vector<Stretch> buffers;  // of queues in the Unified Buffer, as they were cut
};

/// Flags of a record of a write that is combined with what is there.
inline uint8_t AtomicFlags(const Core& core)
{
    switch (core.atomic_op) {
        case AtomicOp::kNone:
            return 0;
        case AtomicOp::kAdd:
            return kFlagAtomic;
        case AtomicOp::kMax:
            return kFlagAtomic | kFlagAtomicMax;
        case AtomicOp::kMin:
            return kFlagAtomic | kFlagAtomicMin;
    }
    return 0;
}

/// Usable bytes of the cube's memories.
struct OnChipSizes {
    size_t l1 = 524288;
    size_t l0a = 65536;
    size_t l0b = 65536;
    size_t l0c = 131072;
    size_t bt = 1024;
    size_t fb = 7168;
};

struct State {
    Core* core = nullptr;
    TraceWriter writer;
    LaunchResult launch;
    std::string kernel;                    // name of the entry that is running
    uint64_t tiling_key = 0;
    uint32_t core_count = 48;
    uint32_t cube_count = 24;
    size_t ub_size = 196608 - 256;
    OnChipSizes on_chip;
    uint8_t poison = 0xCD;
    bool dump = false;
    bool blocks_reversed = false;
    bool fresh_tensors = false;            // what a queue hands out is filled with poison
    std::vector<uint32_t> chosen;          // blocks to run, in order; all where it is empty
    bool timing_only = false;              // instructions are recorded and touch no data; see machine/timing_only.cpp
    std::string soc = "Ascend910B2";
    uint32_t compiled_for = 0;             // 1 vector cores, 2 cube cores: code whose kind of core is a constant
    std::vector<bool> written;             // by region ordinal: some block of this launch wrote to it
};
extern State g_state;

/// Makes a core for instructions that run outside any launch, and reads the environment.
void Prepare();
/// Reads ASCEND_SIM_* once.
void ReadEnvironment();

inline Core& Current()
{
    if (__builtin_expect(g_state.core == nullptr, 0)) {
        Prepare();
    }
    return *g_state.core;
}

void FlushScalar(Core& core);
/// Records a scalar access as ScalarRead and ScalarWrite do; false has recorded a fault. `may_poll`: reading the same global
/// memory again and again means waiting for another core.
bool ScalarAccess(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site, bool may_poll = true);
/// Notes a scalar access at an address that its size does not divide, which the scalar unit cannot be relied on to make.
void CheckScalarAlignment(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site);
/// Notes a read of global memory, which may turn out to be polling, and a write, which others may be polling for.
void NoteGmRead(Core& core, uint64_t virtual_address);
void NoteGmWrite();
/// Gives the other cores a turn. A core that only ever does this while nobody else moves is in a deadlock.
void GiveTurn(uint64_t site);

/// A record of the current core with room for `nops` operands after the head. Zeroed head fields except those given.
inline RecordHead* Append(Core& core, uint16_t opcode, uint8_t pipe, uint8_t nops, uint64_t site)
{
    if (__builtin_expect(core.polling.due, 0)) {
        GiveTurn(site);
    }
    if (core.pending.any) {
        FlushScalar(core);
    }
    core.announced_bytes = 0;
    core.integers = 0;
    ++core.records;
    auto* head = reinterpret_cast<RecordHead*>(
        g_state.writer.Reserve(sizeof(RecordHead) + size_t{nops} * sizeof(RecordOperand)));
    std::memset(head, 0, sizeof(*head));
    head->opcode = opcode;
    head->pipe = pipe;
    head->nops = nops;
    head->site = site;
    core.site = site;
    return head;
}

/// Adds a value that the core computes with and that no record says to the digest of all of them (RecordHead::values). Its place
/// among the records counts: a register may be set and used again.
inline void NoteValue(Core& core, uint64_t bits)
{
    core.values = (core.values ^ bits) * 0x9E3779B97F4A7C15u;
    core.values = (core.values ^ core.values >> 32) + core.records;
}
/// The same for the bytes of any value.
template <typename T>
inline void NoteValue(Core& core, const T& value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a value is at most a word");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    NoteValue(core, bits);
}

inline RecordOperand* OperandsOf(RecordHead* head) { return reinterpret_cast<RecordOperand*>(head + 1); }

/// Notes that the running launch writes to the region of a virtual address.
void MarkWritten(uint64_t virtual_address);

/// A single contiguous operand.
inline void SetOperand(RecordOperand* op, uint64_t addr, uint32_t len, TraceSpace space, uint8_t access)
{
    op->addr = addr;
    op->stride0 = 0;
    op->stride1 = 0;
    op->len = len;
    op->count0 = 1;
    op->count1 = 1;
    op->space = space;
    op->access = access;
    op->reserved = 0;
    if (space == kSpaceGm) {
        if (access != kRead) {
            MarkWritten(addr);
            NoteGmWrite();
        } else {
            NoteGmRead(*g_state.core, addr);
        }
    }
}

/// Records a fault with a message made by the format. Deadlock and unsupported end the running block.
void RaiseFault(Core& core, FaultKind kind, uint64_t site, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/// In a launch that is only timed: ends it, because what comes next depends on data. The message is made by the format.
/// Returns in all others.
void NeedsData(Core& core, uint64_t site, const char* format, ...) __attribute__((format(printf, 3, 4)));
/// While it lives, accesses to the data of a launch that is only timed end that launch.
class DataGuard {
public:
    DataGuard();
    ~DataGuard();
    DataGuard(const DataGuard&) = delete;
    DataGuard& operator=(const DataGuard&) = delete;
};

/// While it lives, an integer division by zero in a core is a fault, and the core goes on.
class DivisionGuard {
public:
    DivisionGuard();
    ~DivisionGuard();
    DivisionGuard(const DivisionGuard&) = delete;
    DivisionGuard& operator=(const DivisionGuard&) = delete;
};

/// Virtual address of [ptr, ptr + bytes), or 0 when no region holds all of it.
uint64_t TranslateGm(const void* ptr, size_t bytes);
/// The same for [ptr, ptr + bytes) that may reach into the bytes that an allocation has behind its tensor. Reading them is
/// harmless on a device as long as nothing depends on them; writing is, up to the end of the tensor's last block of 32
/// bytes, unless the tensor is a slice of a larger one.
uint64_t TranslateGmPadding(const void* ptr, size_t bytes, bool writes);
/// Bytes from an address to the end of the tensor that it lies in; none where it lies in no tensor.
size_t GmRoom(const void* ptr);
/// True when an address lies in a region or in the guard gaps of one, so that touching it is touching global memory.
bool BelongsToGm(const void* ptr);
/// False for regions that say where data are and how they are cut: tiling data, lists of tensors.
bool HoldsData(RegionRole role);
/// Whether there are tiling data and nobody has written them.
bool IsTilingUnset();
/// A region as people call it: "input 0".
std::string DescribeRegion(const Region& region);
/// Text on where an address lies relative to the known regions.
std::string DescribeGm(const void* ptr, size_t bytes);
/// Raises the fault of an access that no tensor holds. One that stays in the allocation's padding is a lesser one.
void RaiseOutOfBoundsGm(Core& core, uint64_t site, const char* what, const void* ptr, size_t bytes, uint8_t access,
                        bool in_padding);

/// Sets a cross-core flag of the running core (CrossFlags::Set) and records it on `pipe`.
void SetCrossFlag(Core& core, uint8_t pipe, uint32_t id, uint32_t mode, uint64_t site);
/// Records a wait for a cross-core flag and gives the other cores turns until it is set.
void WaitCrossFlag(Core& core, uint32_t id, uint64_t site);
/// The mode of a recorded set that the next core to wait for this number gets, whichever it is.
constexpr uint32_t kToWhoeverPasses = 3;
/// ascendsim::PassFlag: recorded as a wait for who passed before and a set for who passes next, under a number above all flags.
void PassFlag(Core& core, int32_t* flag, int32_t expected, int32_t next, uint64_t site);
/// Records dcci of the line at `ptr`, or of all lines: there is no cache here, but whoever judges the trace keeps one, and loops that
/// poll memory call it in every round.
void CleanCache(Core& core, const void* ptr, bool entire, uint64_t site);
/// Leaves the running block for good.
[[noreturn]] void AbandonBlock();
/// True inside a launch.
bool InBlock();

#define ASCENDSIM_SITE() reinterpret_cast<uint64_t>(__builtin_return_address(0))

}  // namespace machine
}  // namespace ascendsim

#endif
