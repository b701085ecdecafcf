// Global memory: which host memory kernels may touch, and its addresses in the trace.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine/core_state.h"

namespace ascendsim {

namespace {

constexpr size_t kGuardBytes = 4096;
constexpr size_t kAlignment = 512;
constexpr uint8_t kGuardPattern = 0xA5;

struct Registry {
    std::vector<Region> by_base;  // sorted by host address
    uint64_t next = 0;
    size_t last = 0;              // index of the latest hit: kernels stay in one region for long
};

Registry& TheRegistry()
{
    static Registry registry;
    return registry;
}

size_t PaddedSize(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// Whole blocks of 32 bytes that a tensor of `size` bytes lies in.
size_t BlockSize(size_t size) { return (size + 31) / 32 * 32; }

/// Bytes that belong to an allocation of `size` bytes on a device: aclrtMalloc documents that it rounds up to 32 and
/// adds 32, so that a read of whole blocks at the end of a tensor stays inside the allocation.
size_t AllocatedSize(size_t size) { return BlockSize(size) + 32; }

void Release(const Region& region)
{
    if (region.IsOwned()) {
        (void)munmap(region.base - kGuardBytes, region.taken);
    }
}

uint64_t Insert(uint8_t* base, size_t size, RegionRole role, uint32_t index, size_t taken, bool guarded)
{
    Registry& registry = TheRegistry();
    const Region region{base, size, (registry.next + 1) << 40, role, index, taken, guarded};
    ++registry.next;
    const auto at = std::upper_bound(registry.by_base.begin(), registry.by_base.end(), base,
                                     [](const uint8_t* key, const Region& r) { return key < r.base; });
    registry.by_base.insert(at, region);
    registry.last = 0;
    return region.virtual_base;
}

/// Where allocations of a card begin as its programs see them, and how they are aligned: logs of HCCL and of the runtime that people post
/// have tensors at 0x12c041800000 and parameters at 0x12c100000080.
constexpr uintptr_t kDeviceMemory = 0x12C040000000;
constexpr size_t kLargePage = size_t{2} << 20;

/// The next address of a card's memory: code that looks at addresses finds here what it would find there, and with another poison it
/// is another one. The system takes its own where this is not free.
void* DeviceAddress(size_t size)
{
    static uintptr_t next = kDeviceMemory + Poison() * kLargePage;
    const uintptr_t address = next;
    next += (size / kLargePage + 1) * kLargePage;
    return reinterpret_cast<void*>(address);
}

/// Bytes of a region of `size` with its guards.
size_t WithGuards(size_t size) { return (PaddedSize(size) + 3 * kGuardBytes - 1) / kGuardBytes * kGuardBytes; }

/// Addresses for a region of `size` bytes, with memory behind them or without.
uint8_t* TakeAddresses(size_t size, bool with_memory)
{
    const size_t bytes = WithGuards(size);
    const int rights = with_memory ? PROT_READ | PROT_WRITE : PROT_NONE;
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | (with_memory ? 0 : MAP_NORESERVE);
    void* raw = mmap(DeviceAddress(bytes), bytes, rights, kind, -1, 0);
    if (raw != MAP_FAILED && with_memory && bytes >= kLargePage) {
        // All of it is written below, and by small pages the system's part in that takes longer than the writing. Where it has no
        // large ones, nothing is lost.
        (void)madvise(raw, bytes, MADV_HUGEPAGE);
    }
    return raw == MAP_FAILED ? nullptr : static_cast<uint8_t*>(raw) + kGuardBytes;
}

/// A region without memory behind its addresses.
void* ReserveRegion(size_t size, RegionRole role, uint32_t index)
{
    uint8_t* base = TakeAddresses(size, false);
    if (base != nullptr) {
        Insert(base, size, role, index, WithGuards(size), false);
    }
    return base;
}

size_t WholePages(size_t size) { return (size + kGuardBytes - 1) / kGuardBytes * kGuardBytes; }

/// Maps one sequence of poison again and again.
bool MapPoison(uint8_t* base, size_t size)
{
    constexpr size_t kChunk = size_t{1} << 20;
    const int fd = memfd_create("poison", MFD_CLOEXEC);
    const std::vector<uint8_t> poison(kChunk, Poison());
    bool mapped = fd >= 0 && write(fd, poison.data(), poison.size()) == static_cast<ssize_t>(poison.size());
    for (size_t at = 0; mapped && at < size; at += kChunk) {
        mapped = mmap(base + at, std::min(size - at, kChunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return mapped;
}

bool GuardIntact(const Region& region)
{
    const auto clean = [](const uint8_t* from, const uint8_t* to) {
        return std::all_of(from, to, [](uint8_t byte) { return byte == kGuardPattern; });
    };
    const uint8_t* end = region.base + AllocatedSize(region.size);
    return clean(region.base - kGuardBytes, region.base) &&
           clean(end, region.base + PaddedSize(region.size) + kGuardBytes);
}

/// Bytes between `address` and the region, none inside it.
size_t Gap(const Region& region, const uint8_t* address)
{
    if (address < region.base) {
        return static_cast<size_t>(region.base - address);
    }
    const auto offset = static_cast<size_t>(address - region.base);
    return offset > region.size ? offset - region.size : 0;
}

}  // namespace

uint64_t RegisterRegion(void* ptr, size_t size, RegionRole role, uint32_t index)
{
    return Insert(static_cast<uint8_t*>(ptr), size, role, index, 0, false);
}

bool UnregisterRegion(void* ptr)
{
    Registry& registry = TheRegistry();
    for (auto it = registry.by_base.begin(); it != registry.by_base.end(); ++it) {
        if (it->base == ptr) {
            registry.by_base.erase(it);
            registry.last = 0;
            return true;
        }
    }
    return false;
}

void* AllocateRegion(size_t size, RegionRole role, uint32_t index)
{
    const size_t padded = PaddedSize(size);
    if (padded < size) {
        return nullptr;
    }
    if (!TouchesData() && machine::HoldsData(role)) {
        return ReserveRegion(size, role, index);
    }
    uint8_t* base = TakeAddresses(size, true);
    if (base == nullptr) {
        return nullptr;
    }
    std::memset(base - kGuardBytes, kGuardPattern, kGuardBytes);
    // Poison changes from run to run: a result that depends on bytes behind the tensor shows.
    const size_t allocated = AllocatedSize(size);
    std::memset(base, Poison(), allocated);
    std::memset(base + allocated, kGuardPattern, padded + kGuardBytes - allocated);
    Insert(base, size, role, index, WithGuards(size), true);
    return base;
}

void* MapRegion(size_t size, RegionRole role, uint32_t index, int fd)
{
    auto* base = PaddedSize(size) < size ? nullptr : static_cast<uint8_t*>(ReserveRegion(size, role, index));
    if (base == nullptr) {
        return nullptr;
    }
    const size_t allocated = AllocatedSize(size);
    bool mapped = MapPoison(base, WholePages(allocated));
    if (mapped && fd >= 0 && size > 0) {
        mapped = mmap(base, WholePages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
        if (mapped) {
            std::memset(base + size, Poison(), allocated - size);
        }
    }
    if (!mapped) {
        (void)FreeRegion(base);
        return nullptr;
    }
    return base;
}

bool FreeRegion(void* ptr)
{
    const Region* region = FindRegion(ptr);
    if (region == nullptr || region->base != ptr || !region->IsOwned()) {
        // A region of no bytes is found by no address inside it.
        for (const Region& candidate : TheRegistry().by_base) {
            if (candidate.base == ptr && candidate.IsOwned()) {
                Release(candidate);
                return UnregisterRegion(ptr);
            }
        }
        return false;
    }
    Release(*region);
    return UnregisterRegion(ptr);
}

void ClearRegions()
{
    Registry& registry = TheRegistry();
    for (const Region& region : registry.by_base) {
        Release(region);
    }
    registry.by_base.clear();
    registry.next = 0;
    registry.last = 0;
}

const Region* FindRegion(const void* ptr)
{
    Registry& registry = TheRegistry();
    const auto* address = static_cast<const uint8_t*>(ptr);
    if (registry.last < registry.by_base.size()) {
        const Region& hit = registry.by_base[registry.last];
        if (address >= hit.base && address < hit.base + hit.size) {
            return &hit;
        }
    }
    const auto next = std::upper_bound(registry.by_base.begin(), registry.by_base.end(), address,
                                       [](const uint8_t* key, const Region& r) { return key < r.base; });
    if (next == registry.by_base.begin()) {
        return nullptr;
    }
    const Region& found = *(next - 1);
    if (address >= found.base + found.size) {
        return nullptr;
    }
    registry.last = static_cast<size_t>(&found - registry.by_base.data());
    return &found;
}

std::vector<Region> LiveRegions()
{
    std::vector<Region> regions = TheRegistry().by_base;
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return a.virtual_base < b.virtual_base; });
    return regions;
}

bool GuardsIntact()
{
    const auto& regions = TheRegistry().by_base;
    return std::all_of(regions.begin(), regions.end(),
                       [](const Region& region) { return !region.guarded || GuardIntact(region); });
}

namespace machine {

uint64_t TranslateGm(const void* ptr, size_t bytes)
{
    const Region* region = FindRegion(ptr);
    if (region == nullptr) {
        return 0;
    }
    const auto offset = static_cast<size_t>(static_cast<const uint8_t*>(ptr) - region->base);
    return bytes <= region->size - offset ? region->virtual_base + offset : 0;
}

uint64_t TranslateGmPadding(const void* ptr, size_t bytes, bool writes)
{
    const auto& regions = TheRegistry().by_base;
    const auto* address = static_cast<const uint8_t*>(ptr);
    const auto next = std::upper_bound(regions.begin(), regions.end(), address,
                                       [](const uint8_t* key, const Region& r) { return key < r.base; });
    if (next == regions.begin()) {
        return 0;
    }
    const Region& region = *(next - 1);
    const auto offset = static_cast<size_t>(address - region.base);
    const size_t allocated = writes ? BlockSize(region.size) : AllocatedSize(region.size);
    return region.IsOwned() && offset <= allocated && bytes <= allocated - offset ? region.virtual_base + offset : 0;
}

size_t GmRoom(const void* ptr)
{
    const Region* region = FindRegion(ptr);
    return region == nullptr ? 0 : region->size - static_cast<size_t>(static_cast<const uint8_t*>(ptr) - region->base);
}

bool BelongsToGm(const void* ptr)
{
    const auto& regions = TheRegistry().by_base;
    const auto* address = static_cast<const uint8_t*>(ptr);
    if (regions.empty() || address < regions.front().base - kGuardBytes) {
        return false;
    }
    if (FindRegion(ptr) != nullptr) {
        return true;
    }
    const auto next = std::upper_bound(regions.begin(), regions.end(), address,
                                       [](const uint8_t* key, const Region& r) { return key < r.base; });
    if (next != regions.end() && next->IsOwned() && address >= next->base - kGuardBytes) {
        return true;
    }
    if (next == regions.begin()) {
        return false;
    }
    const Region& before = *(next - 1);
    return before.IsOwned() && address < before.base + PaddedSize(before.size) + kGuardBytes;
}

bool HoldsData(RegionRole role) { return role != RegionRole::kTiling && role != RegionRole::kOther; }

bool IsTilingUnset()
{
    const auto& regions = TheRegistry().by_base;
    const auto unset = [](const Region& region) {
        return std::all_of(region.base, region.base + region.size, [](uint8_t byte) { return byte == 0; });
    };
    return std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
        return region.role == RegionRole::kTiling && region.size > 0 && unset(region);
    });
}

std::string DescribeRegion(const Region& region)
{
    static const char* const kRoles[] = {"input", "output", "workspace", "tiling", "allocation", "output"};
    return std::string(kRoles[static_cast<uint32_t>(region.role)]) + " " + std::to_string(region.index);
}

std::string DescribeGm(const void* ptr, size_t bytes)
{
    // Further from a tensor than this, and than all tensors together are long, an address is not one that a length or a
    // stride went wrong by: naming the tensor that happens to be nearest would accuse it.
    constexpr size_t kFarBytes = size_t{64} << 20;
    const auto* address = static_cast<const uint8_t*>(ptr);
    const Region* nearest = nullptr;
    size_t total = 0;
    for (const Region& region : TheRegistry().by_base) {
        // The last region that starts at or below the address is the one overrun; kernels seldom underrun.
        if (region.base <= address || nearest == nullptr) {
            nearest = &region;
        }
        total += region.size;
    }
    const size_t far = std::max(kFarBytes, total);
    if (nearest != nullptr && address >= nearest->base + nearest->size && Gap(*nearest, address) > far) {
        const Region* above = nearest + 1;
        if (above != TheRegistry().by_base.data() + TheRegistry().by_base.size() && Gap(*above, address) <= far) {
            nearest = above;
        }
    }
    // Offsets from a null pointer: further than any block of a tensor, closer than anything that is mapped.
    constexpr uintptr_t kNullRange = uintptr_t{1} << 32;
    char text[160];
    if (reinterpret_cast<uintptr_t>(address) < kNullRange) {
        std::snprintf(text, sizeof(text), "%zu bytes at offset %llu of a tensor that the launch does not have (a null address)",
                      bytes, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)));
    } else if (nearest == nullptr) {
        std::snprintf(text, sizeof(text), "%zu bytes outside global memory (no region is registered)", bytes);
    } else if (Gap(*nearest, address) > far) {
        std::snprintf(text, sizeof(text), "%zu bytes at an address that is near no tensor", bytes);
    } else {
        std::snprintf(text, sizeof(text), "%zu bytes at offset %lld of %s, which has %zu bytes", bytes,
                      static_cast<long long>(address - nearest->base), DescribeRegion(*nearest).c_str(), nearest->size);
    }
    return text;
}

}  // namespace machine
}  // namespace ascendsim
