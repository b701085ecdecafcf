#include "machine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "machine/core_state.h"

namespace ascendsim {
namespace machine {

namespace {

// Room behind the usable bytes of every memory: the reserved end of the Unified Buffer, and what a faulty scalar write may hit.
constexpr size_t kSlackBytes = 4096;
// Keeps bank arithmetic on host addresses and on offsets the same.
constexpr size_t kAlignment = 512;

size_t Room(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment + kSlackBytes; }

constexpr const char* kSpaceNames[kSpaceCount] = {"UB", "GM", "L1", "L0A", "L0B", "L0C", "BT", "FB"};

constexpr uint8_t kOnChip[] = {kSpaceUb, kSpaceL1, kSpaceL0a, kSpaceL0b, kSpaceL0c, kSpaceBt, kSpaceFb};

/// The reserved bytes behind the Unified Buffer are the API floor's own.
size_t Reachable(const Core& core, uint8_t space)
{
    return SpaceSize(core, space) + (space == kSpaceUb ? kUbReservedBytes : 0);
}

// Asks for the pages of what is written at once: page by page the system takes longer than the writing. Older systems (before Linux
// 5.14) refuse and lose nothing.
void Populate(uint8_t* memory, size_t bytes)
{
#if defined(MADV_POPULATE_WRITE)
    constexpr uintptr_t kPage = 4096;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) / kPage * kPage;
    (void)madvise(reinterpret_cast<void*>(begin), reinterpret_cast<uintptr_t>(memory) + bytes - begin, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

}  // namespace

const char* SpaceName(uint8_t space) { return space < kSpaceCount ? kSpaceNames[space] : "?"; }

uint8_t* SpaceBase(const Core& core, uint8_t space)
{
    switch (space) {
        case kSpaceUb:
            return core.ub;
        case kSpaceL1:
            return core.l1;
        case kSpaceL0a:
            return core.l0a;
        case kSpaceL0b:
            return core.l0b;
        case kSpaceL0c:
            return core.l0c;
        case kSpaceBt:
            return core.bt;
        case kSpaceFb:
            return core.fb;
        default:
            return nullptr;
    }
}

size_t SpaceSize(const Core& core, uint8_t space)
{
    switch (space) {
        case kSpaceUb:
            return core.ub_size;
        case kSpaceL1:
            return core.l1_size;
        case kSpaceL0a:
            return core.l0a_size;
        case kSpaceL0b:
            return core.l0b_size;
        case kSpaceL0c:
            return core.l0c_size;
        case kSpaceBt:
            return core.bt_size;
        case kSpaceFb:
            return core.fb_size;
        default:
            return 0;
    }
}

size_t SpaceRoom(const Core& core, uint8_t space)
{
    return Room(SpaceSize(core, space));
}

bool FindSpace(const Core& core, const void* ptr, size_t bytes, uint8_t* space, uint64_t* address)
{
    const auto at = reinterpret_cast<uintptr_t>(ptr);
    for (const uint8_t candidate : kOnChip) {
        const auto base = reinterpret_cast<uintptr_t>(SpaceBase(core, candidate));
        const size_t size = Reachable(core, candidate);
        if (at >= base && at - base < size && bytes <= size - (at - base)) {
            *space = candidate;
            *address = at - base;
            return true;
        }
    }
    *space = kSpaceGm;
    *address = TranslateGm(ptr, bytes);
    return *address != 0;
}

bool CheckSpace(Core& core, uint8_t space, const void* ptr, uint64_t bytes, uint32_t alignment, uint64_t site,
                const char* what, uint64_t* address)
{
    if (space == kSpaceGm) {
        *address = TranslateGm(ptr, bytes);
        if (*address == 0) {
            RaiseOutOfBoundsGm(core, site, what, ptr, bytes, kReadWrite, false);
            return false;
        }
        // Virtual bases are as aligned as the device's allocations.
        if (alignment > 1 && *address % alignment != 0) {
            RaiseFault(core, FaultKind::kMisaligned, site, "%s: a GM address is not a multiple of %u bytes", what,
                       alignment);
            return false;
        }
        return true;
    }
    const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(ptr) -
                                             reinterpret_cast<uintptr_t>(SpaceBase(core, space)));
    const auto reachable = static_cast<uint64_t>(Reachable(core, space));
    if (offset < 0 || bytes > reachable || static_cast<uint64_t>(offset) > reachable - bytes) {
        const FaultKind kind = space == kSpaceUb ? FaultKind::kOutOfBoundsUb : FaultKind::kOutOfBoundsOnChip;
        // An address in another memory is no offset worth printing.
        if (offset < -(int64_t{1} << 20) || offset > (int64_t{1} << 24)) {
            RaiseFault(core, kind, site, "%s: %llu bytes at an address outside %s", what,
                       static_cast<unsigned long long>(bytes), SpaceName(space));
        } else {
            RaiseFault(core, kind, site, "%s: %llu bytes at %s offset %lld, which has %zu bytes", what,
                       static_cast<unsigned long long>(bytes), SpaceName(space), static_cast<long long>(offset),
                       SpaceSize(core, space));
        }
        return false;
    }
    if (alignment > 1 && static_cast<uint64_t>(offset) % alignment != 0) {
        RaiseFault(core, FaultKind::kMisaligned, site, "%s: %s offset %lld is not a multiple of %u", what,
                   SpaceName(space), static_cast<long long>(offset), alignment);
        return false;
    }
    *address = static_cast<uint64_t>(offset);
    return true;
}

OnChip::~OnChip()
{
    if (memory_ != nullptr) {
        munmap(memory_, bytes_);
    }
}

void OnChip::Attach(Core& core, size_t ub_size, uint8_t poison, bool cube)
{
    const OnChipSizes& sizes = g_state.on_chip;
    // Paddings whose value nobody has set are documented as random.
    core.pad_value = poison * 0x0101010101010101ULL;
    core.ub_size = ub_size;
    core.l1_size = sizes.l1;
    core.l0a_size = sizes.l0a;
    core.l0b_size = sizes.l0b;
    core.l0c_size = sizes.l0c;
    core.bt_size = sizes.bt;
    core.fb_size = sizes.fb;
    size_t needed = 0;
    for (const uint8_t space : kOnChip) {
        needed += Room(SpaceSize(core, space));
    }
    if (needed > bytes_) {
        if (memory_ != nullptr) {
            munmap(memory_, bytes_);
        }
        void* fresh = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fresh == MAP_FAILED) {
            std::abort();  // no core without its memories
        }
        memory_ = static_cast<uint8_t*>(fresh);
        bytes_ = needed;
        accessible_ = true;
    }
    if (accessible_ == g_state.timing_only) {
        accessible_ = !g_state.timing_only;
        if (mprotect(memory_, bytes_, accessible_ ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
            std::abort();  // what reads data could not be told from what does not
        }
    }
    uint8_t** const bases[] = {&core.ub, &core.l1, &core.l0a, &core.l0b, &core.l0c, &core.bt, &core.fb};
    uint8_t* next = memory_;
    for (size_t i = 0; i < sizeof(kOnChip); ++i) {
        const size_t room = Room(SpaceSize(core, kOnChip[i]));
        *bases[i] = next;
        if (accessible_ && (kOnChip[i] == kSpaceUb || cube)) {
            Populate(next, room);
            std::memset(next, poison, room);
        }
        next += room;
    }
    core.on_chip_bytes = needed;
}

}  // namespace machine
}  // namespace ascendsim
