#include "machine/constants.h"

#include <link.h>

#include <algorithm>
#include <vector>

namespace ascendsim {
namespace machine {

namespace {

// Behind any number of regions that a launch may have, and in the same form: (ordinal + 1) << 40.
constexpr uint64_t kFirstOrdinal = uint64_t{1} << 20;

struct Segment {
    uintptr_t from;
    uintptr_t to;
    uint64_t virtual_base;  // 0 until it is read
};

struct Constants {
    std::vector<uintptr_t> modules;
    std::vector<Segment> segments;
    uint64_t read = 0;  // segments that have a virtual base
};

Constants& All()
{
    static Constants constants;
    return constants;
}

struct ConstantQuery {
    uintptr_t address;
    bool found = false;
    uintptr_t module = 0;
    std::vector<Segment> constant;
};

int FindConstants(dl_phdr_info* info, size_t, void* out)
{
    auto& query = *static_cast<ConstantQuery*>(out);
    std::vector<Segment> constant;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) {
            continue;
        }
        const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
        const uintptr_t to = from + segment.p_memsz;
        query.found = query.found || (query.address >= from && query.address < to);
        // Linkers may put constant data beside the code, in one segment with it.
        if ((segment.p_flags & PF_W) == 0) {
            constant.push_back({from, to, 0});
        }
    }
    if (!query.found) {
        return 0;
    }
    query.module = info->dlpi_addr + info->dlpi_phdr[0].p_vaddr;
    query.constant = constant;
    return 1;
}

}  // namespace

void AddConstants(const void* address)
{
    ConstantQuery query{reinterpret_cast<uintptr_t>(address), false, 0, {}};
    dl_iterate_phdr(FindConstants, &query);
    Constants& all = All();
    if (!query.found || std::find(all.modules.begin(), all.modules.end(), query.module) != all.modules.end()) {
        return;
    }
    all.modules.push_back(query.module);
    all.segments.insert(all.segments.end(), query.constant.begin(), query.constant.end());
}

uint64_t TranslateConstant(const void* ptr, size_t bytes)
{
    const auto address = reinterpret_cast<uintptr_t>(ptr);
    for (Segment& segment : All().segments) {
        if (address >= segment.from && address < segment.to && bytes <= segment.to - address) {
            if (segment.virtual_base == 0) {
                segment.virtual_base = (kFirstOrdinal + ++All().read) << 40;
            }
            return segment.virtual_base + (address - segment.from);
        }
    }
    return 0;
}

}  // namespace machine
}  // namespace ascendsim
