// What a launch says of itself in the trace: its name and kind, the memory regions, the loaded modules, how it ended.
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "machine/core_state.h"
#include "machine/launch_trace.h"

namespace ascendsim {
namespace machine {

namespace {

int AddModule(dl_phdr_info* info, size_t, void* out)
{
    uint64_t end = 0;
    bool executable = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD) {
            end = std::max<uint64_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
            executable = executable || (segment.p_flags & PF_X) != 0;
        }
    }
    std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
    if (path.empty()) {
        char self[4096];
        const ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
        path.assign(self, length > 0 ? static_cast<size_t>(length) : 0);
    }
    if (executable && !path.empty()) {
        char line[64];
        std::snprintf(line, sizeof(line), "%llx %llx ", static_cast<unsigned long long>(info->dlpi_addr),
                      static_cast<unsigned long long>(end));
        *static_cast<std::string*>(out) += line + path + "\n";
    }
    return 0;
}

/// The line of the module list that an address is in, empty if there is none.
std::string ModuleOf(uint64_t site)
{
    std::string left = LoadedModules();
    while (!left.empty()) {
        const size_t end = left.find('\n');
        const std::string line = left.substr(0, end);
        char* rest = nullptr;
        const uint64_t first = std::strtoull(line.c_str(), &rest, 16);
        if (site >= first && site < std::strtoull(rest, nullptr, 16)) {
            return line;
        }
        left.erase(0, end == std::string::npos ? end : end + 1);
    }
    return "";
}

/// Comes while the trace is written, never in the middle of anything else.
void OnFileLimit(int number)
{
    if (InBlock() && g_state.core != nullptr) {
        const uint64_t site = g_state.core->site;
        (void)std::fprintf(stderr, "ascend_sim: the trace is full at %llx in %s\n", static_cast<unsigned long long>(site),
                           ModuleOf(site).c_str());
    }
    (void)std::signal(number, SIG_DFL);
    (void)std::raise(number);
}

}  // namespace

void WatchTraceLimit() { (void)std::signal(SIGXFSZ, OnFileLimit); }

void WriteOpening(const LaunchInfo& info)
{
    std::string text = "kernel=" + info.kernel + "\nblock_dim=" + std::to_string(info.block_dim) +
                       "\ntiling_key=" + std::to_string(info.tiling_key) +
                       "\nschedule_mode=" + std::to_string(info.schedule_mode) + "\nkernel_type=" + KernelTypeName(info.type) + "\n";
    if (!info.dtype.empty()) {
        text += "dtype=" + info.dtype + "\n";
    }
    g_state.writer.Chunk(kChunkLaunch, text);
    struct Entry {
        uint64_t base;
        uint64_t size;
        uint32_t role;
        uint32_t index;
    };
    std::vector<Entry> entries;
    for (const Region& region : LiveRegions()) {
        entries.push_back({region.virtual_base, region.size, static_cast<uint32_t>(region.role), region.index});
    }
    g_state.writer.Chunk(kChunkRegions, 0, entries.data(), entries.size() * sizeof(Entry));
}

void WriteClosing()
{
    if (g_state.dump && !g_state.timing_only) {
        // Only what the launch wrote: inputs are large and nobody doubts them.
        for (const Region& region : LiveRegions()) {
            const uint64_t ordinal = region.virtual_base >> 40;
            if (ordinal < g_state.written.size() && g_state.written[ordinal]) {
                g_state.writer.DataChunk(region.virtual_base, region.base, region.size);
            }
        }
    }
    g_state.writer.Chunk(kChunkModules, LoadedModules());
    g_state.writer.Chunk(kChunkEnd, g_state.launch.completed
                                        ? std::string("status=ok")
                                        : "status=aborted reason=" + g_state.launch.first_fault);
}

}  // namespace machine

std::string LoadedModules()
{
    std::string modules;
    dl_iterate_phdr(machine::AddModule, &modules);
    return modules;
}

}  // namespace ascendsim
