#include "machine/block_local.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "machine/machine.h"

namespace ascendsim {
namespace machine {

namespace {

struct Range {
    uintptr_t from;
    uintptr_t to;
};

struct WritableQuery {
    uintptr_t address;
    bool found = false;
    uintptr_t module = 0;
    std::vector<Range> writable;
};

constexpr uintptr_t kPage = 4096;

int FindWritable(dl_phdr_info* info, size_t, void* out)
{
    auto& query = *static_cast<WritableQuery*>(out);
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
        inside = inside || (segment.p_type == PT_LOAD && query.address >= from && query.address < from + segment.p_memsz);
    }
    if (!inside) {
        return 0;
    }
    query.found = true;
    query.module = info->dlpi_addr + info->dlpi_phdr[0].p_vaddr;
    Range relro = {0, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_GNU_RELRO) {
            // The loader protects whole pages.
            relro = {from / kPage * kPage, (from + segment.p_memsz) / kPage * kPage};
        }
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
            continue;
        }
        const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
        const uintptr_t to = from + segment.p_memsz;
        if (relro.from < to && from < relro.to) {
            if (from < relro.from) {
                query.writable.push_back({from, relro.from});
            }
            if (relro.to < to) {
                query.writable.push_back({relro.to, to});
            }
        } else {
            query.writable.push_back({from, to});
        }
    }
    return 1;
}

bool HoldsRegion(const Range& range)
{
    for (const Region& region : LiveRegions()) {
        const auto base = reinterpret_cast<uintptr_t>(region.base);
        if (base < range.to && range.from < base + region.size) {
            return true;
        }
    }
    return false;
}

}  // namespace

void BlockLocal::AddModule(const void* address, size_t limit)
{
    WritableQuery query{reinterpret_cast<uintptr_t>(address), false, 0, {}};
    dl_iterate_phdr(FindWritable, &query);
    WritableQuery own{reinterpret_cast<uintptr_t>(&FindWritable), false, 0, {}};
    dl_iterate_phdr(FindWritable, &own);
    if (!query.found || query.module == own.module ||
        std::find(modules_.begin(), modules_.end(), query.module) != modules_.end()) {
        return;
    }
    size_t bytes = 0;
    for (const Range& range : query.writable) {
        bytes += range.to - range.from;
    }
    if (bytes > limit || std::any_of(query.writable.begin(), query.writable.end(), HoldsRegion)) {
        return;
    }
    modules_.push_back(query.module);
    for (const Range& range : query.writable) {
        segments_.push_back({reinterpret_cast<uint8_t*>(range.from), range.to - range.from});
        bytes_ += range.to - range.from;
    }
}

void BlockLocal::Save(LocalImage& image) const
{
    image.resize(bytes_);
    uint8_t* to = image.data();
    for (const Segment& segment : segments_) {
        std::memcpy(to, segment.base, segment.size);
        to += segment.size;
    }
}

void BlockLocal::Load(const LocalImage& image) const
{
    const uint8_t* from = image.data();
    for (const Segment& segment : segments_) {
        // Most blocks change nothing: comparing leaves the pages clean.
        if (std::memcmp(segment.base, from, segment.size) != 0) {
            std::memcpy(segment.base, from, segment.size);
        }
        from += segment.size;
    }
}

void BlockLocal::BeginLaunch()
{
    if (Any()) {
        Save(initial_);
    }
    inside_ = nullptr;
    clean_ = true;
}

void BlockLocal::EndLaunch()
{
    if (Any() && !clean_) {
        Load(initial_);
    }
    inside_ = nullptr;
    clean_ = true;
}

void BlockLocal::Enter(LocalImage& image)
{
    if (!Any() || inside_ == &image) {
        return;
    }
    if (inside_ != nullptr) {
        Save(*inside_);
    }
    if (!image.empty()) {
        Load(image);
    } else if (!clean_) {
        Load(initial_);
    }
    inside_ = &image;
    clean_ = false;
}

void BlockLocal::Forget(const LocalImage& image)
{
    if (inside_ == &image) {
        inside_ = nullptr;
    }
}

}  // namespace machine
}  // namespace ascendsim
