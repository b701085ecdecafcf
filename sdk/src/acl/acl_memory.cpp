// Device and host memory of programs. Device memory is global memory of the simulated machine.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "acl_error.h"
#include "ascendsim/types.h"
#include "machine/machine.h"

namespace ascendsim {
namespace acl {
namespace {
struct Memory {
    std::mutex mutex;
    uint32_t device_allocations = 0;
    uint64_t host_allocations = 0;
    std::map<void*, size_t> host; // start and bytes of aclrtMallocHost blocks
};

Memory& TheMemory()
{
    static Memory* const memory = new Memory();
    return *memory;
}

uint64_t Mix(uint64_t& state)
{
    state += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// Fills memory with halves in [-2, 2), a function of seed and ordinal only. A program whose input files are missing
// then computes on sane numbers, also when it reads them as float.
void FillWithHalves(void* memory, size_t bytes, uint64_t seed, uint64_t ordinal)
{
    constexpr int kSteps = 2048; // every multiple of 1/512
    static const uint16_t* const table = [] {
        uint16_t* const halves = new uint16_t[kSteps];
        for (int i = 0; i < kSteps; ++i) {
            const float value = static_cast<float>(i - kSteps / 2) / 512.0F;
            uint32_t bits = 0;
            (void)std::memcpy(&bits, &value, sizeof(bits));
            halves[i] = HalfBitsFromFloatBits(bits);
        }
        return halves;
    }();
    uint64_t state = seed * 0x100000001B3ULL + ordinal;
    uint8_t* const out = static_cast<uint8_t*>(memory);
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        const uint64_t random = Mix(state);
        uint16_t words[4];
        for (int i = 0; i < 4; ++i) {
            words[i] = table[(random >> (16 * i)) % kSteps];
        }
        const size_t left = bytes - at;
        (void)std::memcpy(out + at, words, left < sizeof(words) ? left : sizeof(words));
    }
}

// Empty when [ptr, ptr + bytes) lies in one allocation; host addresses that are not ours pass.
std::string Outside(const void* ptr, size_t bytes, bool device)
{
    if (bytes == 0) {
        return "";
    }
    if (device) {
        const Region* const region = FindRegion(ptr);
        if (region == nullptr) {
            return "it is not device memory";
        }
        const size_t offset = static_cast<size_t>(static_cast<const uint8_t*>(ptr) - region->base);
        if (bytes > region->size - offset) {
            return "it ends " + std::to_string(bytes - (region->size - offset)) + " bytes behind an allocation of " +
                   std::to_string(region->size) + " bytes";
        }
        return "";
    }
    Memory& memory = TheMemory();
    const std::lock_guard<std::mutex> lock(memory.mutex);
    auto next = memory.host.upper_bound(const_cast<void*>(ptr));
    if (next == memory.host.begin()) {
        return "";
    }
    --next;
    const size_t offset = static_cast<size_t>(static_cast<const uint8_t*>(ptr) - static_cast<uint8_t*>(next->first));
    if (offset < next->second && bytes > next->second - offset) {
        return "it ends " + std::to_string(bytes - (next->second - offset)) + " bytes behind a host allocation of " +
               std::to_string(next->second) + " bytes";
    }
    return "";
}

bool ToDevice(aclrtMemcpyKind kind, const void* dst)
{
    return kind == ACL_MEMCPY_DEFAULT ? FindRegion(dst) != nullptr :
                                        kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_DEVICE_TO_HOST;
}

bool FromDevice(aclrtMemcpyKind kind, const void* src)
{
    switch (kind) {
        case ACL_MEMCPY_DEFAULT:
            return FindRegion(src) != nullptr;
        case ACL_MEMCPY_DEVICE_TO_HOST:
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
            return true;
        default:
            return false;
    }
}
} // namespace
} // namespace acl
} // namespace ascendsim

using ascendsim::acl::Fail;
using ascendsim::acl::TheMemory;

extern "C" {
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy)
{
    if (devPtr == nullptr || size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: the pointer is null or the size is 0");
    }
    auto& memory = TheMemory();
    const std::lock_guard<std::mutex> lock(memory.mutex);
    *devPtr = ascendsim::AllocateRegion(size, ascendsim::RegionRole::kOther, memory.device_allocations);
    if (*devPtr == nullptr) {
        return Fail(ACL_ERROR_BAD_ALLOC, "aclrtMalloc: no memory for " + std::to_string(size) + " bytes");
    }
    ++memory.device_allocations;
    return ACL_SUCCESS;
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtFree(void* devPtr)
{
    if (!ascendsim::FreeRegion(devPtr)) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtFree: the address was not given by aclrtMalloc or is free already");
    }
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void** hostPtr, size_t size)
{
    if (hostPtr == nullptr || size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: the pointer is null or the size is 0");
    }
    *hostPtr = std::calloc(size, 1);
    if (*hostPtr == nullptr) {
        return Fail(ACL_ERROR_BAD_ALLOC, "aclrtMallocHost: no memory for " + std::to_string(size) + " bytes");
    }
    auto& memory = TheMemory();
    uint64_t ordinal = 0;
    {
        const std::lock_guard<std::mutex> lock(memory.mutex);
        memory.host[*hostPtr] = size;
        ordinal = memory.host_allocations++;
    }
    const char* const seed = std::getenv("ASCEND_SIM_HOST_FILL");
    if (seed != nullptr && *seed != '\0') {
        ascendsim::acl::FillWithHalves(*hostPtr, size, std::strtoull(seed, nullptr, 10), ordinal);
    }
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void* hostPtr)
{
    auto& memory = TheMemory();
    const std::lock_guard<std::mutex> lock(memory.mutex);
    if (memory.host.erase(hostPtr) == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM,
                    "aclrtFreeHost: the address was not given by aclrtMallocHost or is free already");
    }
    std::free(hostPtr);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind)
{
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (dst == nullptr || src == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpy: an address is null");
    }
    if (count > destMax) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpy: " + std::to_string(count) +
                                                 " bytes do not fit into a destination of " + std::to_string(destMax));
    }
    const std::string to = ascendsim::acl::Outside(dst, count, ascendsim::acl::ToDevice(kind, dst));
    const std::string from = ascendsim::acl::Outside(src, count, ascendsim::acl::FromDevice(kind, src));
    if (!to.empty() || !from.empty()) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string("aclrtMemcpy of ") + std::to_string(count) + " bytes: the " +
                                                 (to.empty() ? "source" : "destination") + " is wrong, " +
                                                 (to.empty() ? from : to));
    }
    (void)std::memmove(dst, src, count);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream)
{
    return aclrtMemcpy(dst, destMax, src, count, kind);
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind)
{
    if (width > dpitch || width > spitch) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2d: the width is above a pitch");
    }
    for (size_t row = 0; row < height; ++row) {
        const aclError error = aclrtMemcpy(static_cast<char*>(dst) + row * dpitch, width,
                                           static_cast<const char*>(src) + row * spitch, width, kind);
        if (error != ACL_SUCCESS) {
            return error;
        }
    }
    return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count)
{
    if (devPtr == nullptr || count > maxCount) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemset: the address is null or the count is above the maximum");
    }
    const std::string wrong = ascendsim::acl::Outside(devPtr, count, true);
    if (!wrong.empty()) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMemset of " + std::to_string(count) + " bytes: " + wrong);
    }
    (void)std::memset(devPtr, value, count);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream)
{
    return aclrtMemset(devPtr, maxCount, value, count);
}
}
