// Runs the blocks of a launch one after another as coroutines. A block gives way only where it waits for others,
// so that every run has the same order.
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "ascendsim/launch.h"
#include "machine/core_state.h"

namespace ascendsim {
namespace machine {

State g_state;

namespace {

constexpr size_t kStackBytes = size_t{4} << 20;
constexpr size_t kPageBytes = 4096;
// A block that polls memory gets this many turns without any other block moving before it counts as stuck.
constexpr uint32_t kIdleTurns = 1000;

struct Stack {
    void* memory = nullptr;
    Stack()
    {
        memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            std::abort();
        }
        mprotect(memory, kPageBytes, PROT_NONE);
    }
    ~Stack() { munmap(memory, kStackBytes); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
};

struct Resources {
    Stack stack;
    OnChip memory;
};

struct Fiber {
    Core core;
    ucontext_t context;
    std::unique_ptr<Resources> resources;
    bool done = false;
    bool (*ready)(const Core&, const void*) = nullptr;
    const void* ready_arg = nullptr;
    uint64_t wait_site = 0;
    const char* wait_what = "";
};

struct Launching {
    void (*fn)(void*) = nullptr;
    void* arg = nullptr;
    ucontext_t scheduler;
    Fiber* running = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers;  // by block; null once the block is through
    std::vector<std::unique_ptr<Resources>> spare;
    std::vector<uint32_t> syncs;                 // SyncAll calls per block
    std::vector<std::array<uint32_t, 16>> flags; // cross-core flags set per block and id
};

Launching* g_launch = nullptr;

void Entry()
{
    g_launch->fn(g_launch->arg);
    AbandonBlock();
}

void Resume(Fiber& fiber)
{
    Core* before = g_state.core;
    g_launch->running = &fiber;
    g_state.core = &fiber.core;
    g_state.writer.SelectCore(fiber.core.trace_core);
    swapcontext(&g_launch->scheduler, &fiber.context);
    g_launch->running = nullptr;
    g_state.core = before;
}

void Start(Fiber& fiber, uint32_t block, uint32_t blocks)
{
    if (g_launch->spare.empty()) {
        g_launch->spare.push_back(std::make_unique<Resources>());
    }
    fiber.resources = std::move(g_launch->spare.back());
    g_launch->spare.pop_back();
    fiber.core.group = block;
    fiber.core.groups = blocks;
    fiber.core.trace_core = block;
    fiber.resources->memory.Attach(fiber.core, g_state.ub_size, g_state.poison, false);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.resources->stack.memory;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, Entry, 0);
}

void Retire(std::unique_ptr<Fiber>& fiber)
{
    g_state.launch.records += fiber->core.records;
    g_launch->spare.push_back(std::move(fiber->resources));
    fiber.reset();
}

void EndRecord(Core& core) { Append(core, kOp_end_of_block, kPipeNone, 0, 0); }

/// Ends every waiting block with a deadlock fault.
void BreakDeadlock()
{
    for (auto& fiber : g_launch->fibers) {
        if (fiber == nullptr) {
            continue;
        }
        g_state.core = &fiber->core;
        g_state.writer.SelectCore(fiber->core.trace_core);
        RaiseFault(fiber->core, FaultKind::kDeadlock, fiber->wait_site, "block %u waits for ever in %s",
                   fiber->core.group, fiber->wait_what);
        EndRecord(fiber->core);
        g_state.core = nullptr;
        g_state.launch.completed = false;
        Retire(fiber);
    }
}

void RunAll(uint32_t blocks)
{
    uint32_t live = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
        auto& fiber = g_launch->fibers[block];
        fiber = std::make_unique<Fiber>();
        Start(*fiber, block, blocks);
        Resume(*fiber);
        if (fiber->done) {
            Retire(fiber);
        } else {
            ++live;
        }
    }
    uint32_t idle = 0;
    while (live > 0) {
        bool moved = false;
        bool polled = false;
        for (auto& fiber : g_launch->fibers) {
            if (fiber == nullptr) {
                continue;
            }
            const bool polling = fiber->ready == nullptr;
            if (!polling && !fiber->ready(fiber->core, fiber->ready_arg)) {
                continue;
            }
            moved = moved || !polling;
            polled = polled || polling;
            Resume(*fiber);
            if (fiber->done) {
                moved = true;
                --live;
                Retire(fiber);
            }
        }
        idle = moved ? 0 : idle + 1;
        if (!moved && (!polled || idle > kIdleTurns)) {
            BreakDeadlock();
            return;
        }
    }
}

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

void WriteOpening(const LaunchInfo& info)
{
    std::string text = "kernel=" + info.kernel + "\nblock_dim=" + std::to_string(info.block_dim) +
                       "\ntiling_key=" + std::to_string(info.tiling_key) +
                       "\nschedule_mode=" + std::to_string(info.schedule_mode) + "\nkernel_type=aiv\n";
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
    if (g_state.dump) {
        // Only what the launch wrote: inputs are large and nobody doubts them.
        for (const Region& region : LiveRegions()) {
            const uint64_t ordinal = region.virtual_base >> 40;
            if (ordinal < g_state.written.size() && g_state.written[ordinal]) {
                g_state.writer.DataChunk(region.virtual_base, region.base, region.size);
            }
        }
    }
    std::string modules;
    dl_iterate_phdr(AddModule, &modules);
    g_state.writer.Chunk(kChunkModules, modules);
    g_state.writer.Chunk(kChunkEnd, g_state.launch.completed
                                        ? std::string("status=ok")
                                        : "status=aborted reason=" + g_state.launch.first_fault);
}

}  // namespace

void MarkWritten(uint64_t virtual_address)
{
    const uint64_t ordinal = virtual_address >> 40;
    if (ordinal >= g_state.written.size()) {
        g_state.written.resize(ordinal + 1, false);
    }
    g_state.written[ordinal] = true;
}

void Prepare()
{
    ReadEnvironment();
    // Instructions outside a launch are not part of any trace; they work on a buffer of their own.
    static Core idle;
    static OnChip memory;
    if (idle.ub == nullptr) {
        memory.Attach(idle, g_state.ub_size, g_state.poison, true);
    }
    g_state.core = &idle;
}

bool InBlock() { return g_launch != nullptr && g_launch->running != nullptr; }

void AbandonBlock()
{
    if (!InBlock()) {
        std::abort();  // an unsupported instruction outside every launch has nowhere to go back to
    }
    Fiber& fiber = *g_launch->running;
    EndRecord(fiber.core);
    fiber.done = true;
    swapcontext(&fiber.context, &g_launch->scheduler);
    __builtin_unreachable();
}

void WaitUntil(bool (*ready)(const Core&, const void*), const void* arg, uint64_t site, const char* what)
{
    if (!InBlock()) {
        return;
    }
    Fiber& fiber = *g_launch->running;
    if (ready != nullptr && ready(fiber.core, arg)) {
        return;
    }
    fiber.ready = ready;
    fiber.ready_arg = arg;
    fiber.wait_site = site;
    fiber.wait_what = what;
    swapcontext(&fiber.context, &g_launch->scheduler);
}

bool AllSynced(uint32_t ordinal)
{
    return std::all_of(g_launch->syncs.begin(), g_launch->syncs.end(),
                       [ordinal](uint32_t count) { return count >= ordinal; });
}

bool AllSetFlag(uint32_t id, uint32_t times)
{
    return std::all_of(g_launch->flags.begin(), g_launch->flags.end(),
                       [=](const std::array<uint32_t, 16>& counts) { return counts[id] >= times; });
}

void NoteSync(const Core& core) { g_launch->syncs[core.group] = core.syncs; }
void NoteFlag(const Core& core, uint32_t id) { g_launch->flags[core.group][id] = core.flags_set[id]; }

}  // namespace machine

using machine::g_state;

LaunchResult RunLaunch(const LaunchInfo& info, void (*fn)(void*), void* arg)
{
    machine::ReadEnvironment();
    // A launch inside a block would mean a kernel that launches kernels: not possible on this machine.
    if (machine::g_launch != nullptr) {
        machine::RaiseFault(machine::Current(), machine::FaultKind::kUnsupported, 0, "a launch inside a kernel");
        return g_state.launch;
    }
    g_state.launch = LaunchResult();
    g_state.written.clear();
    g_state.tiling_key = info.tiling_key;
    if (g_state.writer.Active()) {
        machine::WriteOpening(info);
    }
    machine::Launching launching;
    launching.fn = fn;
    launching.arg = arg;
    launching.fibers.resize(info.block_dim);
    launching.syncs.resize(info.block_dim);
    launching.flags.resize(info.block_dim);
    machine::g_launch = &launching;
    machine::RunAll(info.block_dim);
    machine::g_launch = nullptr;
    g_state.core = nullptr;
    if (g_state.writer.Active()) {
        machine::WriteClosing();
    }
    return g_state.launch;
}

const LaunchResult& LastLaunch() { return g_state.launch; }

void RunBlocks(const char* kernel, uint32_t blocks, void (*fn)(void*), void* arg)
{
    LaunchInfo info;
    info.kernel = kernel;
    info.block_dim = blocks;
    RunLaunch(info, fn, arg);
}

}  // namespace ascendsim
