// Scalar accesses of kernels built against a toolkit's headers. Those headers, and kernels that dereference pointers to
// global or on-chip memory, access it as plain memory. Their libraries are compiled with the compiler's instrumentation
// for detecting races between threads, which announces every access; these are the functions that it calls, and the only
// part of that detector's interface that is here. Accesses to anything but the core's memories and GM go by unseen.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "machine/core_state.h"

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

namespace {

constexpr uintptr_t kNullPage = 4096;

/// An access that would end the process ends the block instead.
[[noreturn]] __attribute__((noinline, cold)) void ThroughNull(Core& core, uintptr_t at, size_t bytes, uint8_t access,
                                                              uint64_t site)
{
    RaiseFault(core, FaultKind::kOutOfBoundsGm, site, "scalar %s of %zu bytes through a null pointer (address %zu)",
               access == kRead ? "read" : "write", bytes, static_cast<size_t>(at));
    g_state.launch.completed = false;
    AbandonBlock();
}

void RecordElsewhere(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site)
{
    const auto at = reinterpret_cast<uintptr_t>(ptr);
    if (BelongsToGm(ptr)) {
        // Nobody writes what a kernel only reads: reading it often is not waiting.
        const Region* region = FindRegion(ptr);
        const bool constant =
            region != nullptr && (region->role == RegionRole::kInput || region->role == RegionRole::kTiling);
        ScalarAccess(core, ptr, bytes, access, site, !constant);
    } else if (at < kNullPage) {
        ThroughNull(core, at, bytes, access, site);
    }
}

bool IsOnChip(const Core& core, uintptr_t at) { return at - reinterpret_cast<uintptr_t>(core.ub) < core.on_chip_bytes; }

/// Most accesses are to the stack, the next most to on-chip memory.
inline void Record(const void* ptr, size_t bytes, uint8_t access, uint64_t site, bool aligned = false)
{
    Core* core = g_state.core;
    if (core == nullptr || core->stack == nullptr || core->filling) {
        return;
    }
    const auto at = reinterpret_cast<uintptr_t>(ptr);
    if (at - reinterpret_cast<uintptr_t>(core->stack) < core->stack_bytes) {
        return;
    }
    // References are announced as what they mostly are; what reads through one that is to be written is part of that, and costs what
    // another access does where it is written as well.
    const bool announced = core->announced_access == kWrite || core->announced_access == access;
    const uintptr_t into = at - reinterpret_cast<uintptr_t>(core->announced);
    if (announced && into < core->announced_bytes && bytes <= core->announced_bytes - into) {
        const uint8_t before = core->announced_seen;
        core->announced_seen = static_cast<uint8_t>(before | access);
        if (before != 0 && before != core->announced_seen && core->pending.any) {
            ++(IsOnChip(*core, at) ? core->pending.ub : core->pending.gm);
        }
        return;
    }
    if (aligned && at % bytes != 0 && (IsOnChip(*core, at) || BelongsToGm(ptr))) {
        CheckScalarAlignment(*core, ptr, bytes, access, site);
    }
    if (IsOnChip(*core, at)) {
        ScalarAccess(*core, ptr, bytes, access, site);
        core->pending.plain = true;
        return;
    }
    RecordElsewhere(*core, ptr, bytes, access, site);
}

/// Operations on integers beside one access or instruction that are part of what it costs: addresses, counters, conditions.
constexpr uint32_t kFreeIntegers = 16;

/// Notes operations of the scalar unit that touch no memory.
void Compute(Core& core, uint32_t floats, uint32_t integers, uint64_t site)
{
    auto& pending = core.pending;
    const uint32_t before = std::max(core.integers, kFreeIntegers);
    core.integers += integers;
    const uint32_t beyond = core.integers > before ? core.integers - before : 0;
    if (floats == 0 && beyond == 0) {
        return;
    }
    if (pending.any && pending.floats + floats > UINT16_MAX) {
        FlushScalar(core);
    }
    if (!pending.any) {
        pending.any = true;
        pending.site = site;
    }
    pending.floats = static_cast<uint16_t>(pending.floats + std::min<uint32_t>(floats, UINT16_MAX));
    pending.ops += beyond;
}

/// What fills fresh memory stores plainly, and must be able to in a launch that is only timed.
void Fill(Core& core, bool filling)
{
    core.filling = filling;
    if (g_state.timing_only && mprotect(core.ub, core.on_chip_bytes, filling ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
        std::abort();  // reads of data would go by unseen
    }
}

}  // namespace

}  // namespace machine
}  // namespace ascendsim

using ascendsim::machine::Core;
using ascendsim::machine::g_state;
using ascendsim::machine::Record;

#define RECORD(ptr, bytes, access) Record(ptr, bytes, ascendsim::access, ASCENDSIM_SITE())
// Where the compiler takes the address for a multiple of the size.
#define RECORD_ALIGNED(ptr, bytes, access) Record(ptr, bytes, ascendsim::access, ASCENDSIM_SITE(), true)

#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

extern "C" {

// Between these, the headers fill memories that are fresh on a device (sdk/toolkit/scratch_fill.h).
uint32_t ascend_sim_begin_fill();
void ascend_sim_end_fill();
// At the beginning of a basic block that computes; the tool puts the call there.
void ascend_sim_arithmetic(uint32_t floats, uint32_t integers);

uint32_t ascend_sim_begin_fill()
{
    if (Core* core = g_state.core) {
        ascendsim::machine::Fill(*core, true);
    }
    return 0x01010101u * g_state.poison;
}

void ascend_sim_end_fill()
{
    if (Core* core = g_state.core) {
        ascendsim::machine::Fill(*core, false);
    }
}

void ascend_sim_arithmetic(uint32_t floats, uint32_t integers)
{
    Core* core = g_state.core;
    if (core != nullptr && core->stack != nullptr && !core->filling) {
        ascendsim::machine::Compute(*core, floats, integers, ASCENDSIM_SITE());
    }
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ACCESSES(bytes)                                                             \
    void __tsan_read##bytes(void* ptr) { RECORD_ALIGNED(ptr, bytes, kRead); }       \
    void __tsan_write##bytes(void* ptr) { RECORD_ALIGNED(ptr, bytes, kWrite); }     \
    void __tsan_read_write##bytes(void* ptr)                                        \
    {                                                                               \
        RECORD_ALIGNED(ptr, bytes, kRead);                                          \
        RECORD(ptr, bytes, kWrite);                                                 \
    }                                                                               \
    void __tsan_unaligned_read##bytes(void* ptr) { RECORD(ptr, bytes, kRead); }     \
    void __tsan_unaligned_write##bytes(void* ptr) { RECORD(ptr, bytes, kWrite); }   \
    void __tsan_unaligned_read_write##bytes(void* ptr)                              \
    {                                                                               \
        RECORD(ptr, bytes, kRead);                                                  \
        RECORD(ptr, bytes, kWrite);                                                 \
    }                                                                               \
    void __tsan_volatile_read##bytes(void* ptr) { RECORD_ALIGNED(ptr, bytes, kRead); } \
    void __tsan_volatile_write##bytes(void* ptr) { RECORD_ALIGNED(ptr, bytes, kWrite); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void* ptr, unsigned long bytes) { RECORD(ptr, bytes, kRead); }
void __tsan_write_range(void* ptr, unsigned long bytes) { RECORD(ptr, bytes, kWrite); }
void __tsan_vptr_read(void** ptr) { RECORD(ptr, sizeof(void*), kRead); }
void __tsan_vptr_update(void** ptr, void*) { RECORD(ptr, sizeof(void*), kWrite); }

// Clang announces what the C library copies by names of its own; what GCC leaves as calls is linked with --wrap.
#define COPIES(prefix)                                                      \
    void* prefix##memcpy(void* to, const void* from, size_t bytes)          \
    {                                                                       \
        if (bytes != 0) {                                                   \
            RECORD(from, bytes, kRead);                                     \
            RECORD(to, bytes, kWrite);                                      \
        }                                                                   \
        return std::memcpy(to, from, bytes);                                \
    }                                                                       \
    void* prefix##memmove(void* to, const void* from, size_t bytes)         \
    {                                                                       \
        if (bytes != 0) {                                                   \
            RECORD(from, bytes, kRead);                                     \
            RECORD(to, bytes, kWrite);                                      \
        }                                                                   \
        return std::memmove(to, from, bytes);                               \
    }                                                                       \
    void* prefix##memset(void* to, int value, size_t bytes)                 \
    {                                                                       \
        if (bytes != 0) {                                                   \
            RECORD(to, bytes, kWrite);                                      \
        }                                                                   \
        return std::memset(to, value, bytes);                               \
    }

COPIES(__tsan_)
COPIES(__wrap_)

// The instrumentation replaces atomic accesses. Cores take turns in one thread; the strongest order is right for all.
#define EXCHANGES(bits, name, builtin)                                                                  \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t* ptr, uint##bits##_t value, int) \
    {                                                                                                   \
        RECORD(const_cast<uint##bits##_t*>(ptr), bits / 8, kWrite);                                     \
        return builtin(ptr, value, __ATOMIC_SEQ_CST);                                                   \
    }

#define COMPARES(bits, name)                                                                                     \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t* ptr, uint##bits##_t* expected,    \
                                                      uint##bits##_t value, int, int)                            \
    {                                                                                                            \
        RECORD(const_cast<uint##bits##_t*>(ptr), bits / 8, kWrite);                                              \
        return __atomic_compare_exchange_n(ptr, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
    }

#define ATOMICS(bits)                                                                                       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* ptr, int)                      \
    {                                                                                                       \
        RECORD(const_cast<const uint##bits##_t*>(ptr), bits / 8, kRead);                                    \
        return __atomic_load_n(ptr, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                       \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t* ptr, uint##bits##_t value, int)               \
    {                                                                                                       \
        RECORD(const_cast<uint##bits##_t*>(ptr), bits / 8, kWrite);                                         \
        __atomic_store_n(ptr, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                       \
    EXCHANGES(bits, exchange, __atomic_exchange_n)                                                          \
    EXCHANGES(bits, fetch_add, __atomic_fetch_add)                                                          \
    EXCHANGES(bits, fetch_sub, __atomic_fetch_sub)                                                          \
    EXCHANGES(bits, fetch_and, __atomic_fetch_and)                                                          \
    EXCHANGES(bits, fetch_or, __atomic_fetch_or)                                                            \
    EXCHANGES(bits, fetch_xor, __atomic_fetch_xor)                                                          \
    EXCHANGES(bits, fetch_nand, __atomic_fetch_nand)                                                        \
    COMPARES(bits, strong)                                                                                  \
    COMPARES(bits, weak)                                                                                    \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t* ptr,                 \
                                                              uint##bits##_t expected, uint##bits##_t value, \
                                                              int, int)                                     \
    {                                                                                                       \
        RECORD(const_cast<uint##bits##_t*>(ptr), bits / 8, kWrite);                                         \
        __atomic_compare_exchange_n(ptr, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
        return expected;                                                                                    \
    }

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"

#pragma GCC diagnostic pop
