// Runs the cores of a launch as coroutines, one after another. A core gives way only where it waits for others or polls
// memory, so that every run has the same order.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ascendsim/launch.h"
#include "machine/block_local.h"
#include "machine/constants.h"
#include "machine/core_state.h"
#include "machine/launch_trace.h"

namespace ascendsim {
namespace machine {

State g_state;

namespace {

constexpr size_t kStackBytes = size_t{4} << 20;
constexpr size_t kPageBytes = 4096;
constexpr size_t kFlagBytes = 32;  // of a flag in global memory
// A core that polls memory gets this many turns without anything moving before it counts as stuck.
constexpr uint32_t kIdleTurns = 500;
// Reads of memory that was read before until a core counts as polling and gives others a turn.
constexpr uint32_t kPollReads = 128;
// Programs' own data segments beyond this are left shared: exchanging them would cost more than a launch.
constexpr size_t kMostProgramData = size_t{1} << 20;

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

/// What a paused core waits for.
struct Wait {
    enum class For : uint8_t { kTurn, kFlag, kBarrier };
    For what = For::kTurn;
    uint32_t id = 0;          // flag, or ordinal of the barrier
    bool everybody = false;   // barrier of all kinds of cores
    uint64_t site = 0;
};

struct Fiber {
    Core core;
    ucontext_t context;
    std::unique_ptr<Resources> resources;
    LocalImage local;
    Wait wait;
    bool done = false;
};

struct Launching {
    void (*fn)(void*) = nullptr;
    void* arg = nullptr;
    ucontext_t scheduler;
    Fiber* running = nullptr;
    Core* latest = nullptr;                      // the core that ran last, for the callbacks
    std::vector<std::unique_ptr<Fiber>> fibers;  // by core index; null before its start and once the core is through
    std::vector<CoreName> names;
    CrossFlags flags;
    std::map<uint64_t, uint32_t> passed;         // flags in global memory that blocks pass, by address: number for the trace
    uint64_t progress = 0;                       // grows whenever something happens that a polling core may wait for
    KernelType type = KernelType::kAiv;
    uint32_t groups = 0;
    uint32_t vectors = 1;                        // vector cores of a group
};

Launching* g_launch = nullptr;

/// Stacks and memories of cores that are through; later launches use them again.
std::vector<std::unique_ptr<Resources>>& Spare()
{
    static std::vector<std::unique_ptr<Resources>> spare;
    return spare;
}

struct CoreCallback {
    void (*fn)(void*);
    void* arg;
};

std::vector<CoreCallback>& Callbacks()
{
    static std::vector<CoreCallback> callbacks;
    return callbacks;
}

BlockLocal& Locals()
{
    static BlockLocal locals;
    return locals;
}

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
    Locals().Enter(fiber.local);
    if (g_launch->latest != &fiber.core) {
        g_launch->latest = &fiber.core;
        for (const CoreCallback& callback : Callbacks()) {
            callback.fn(callback.arg);
        }
    }
    swapcontext(&g_launch->scheduler, &fiber.context);
    g_launch->running = nullptr;
    g_state.core = before;
}

/// Gives the core back; returns when it is resumed.
void Pause(const Wait& wait)
{
    Fiber& fiber = *g_launch->running;
    fiber.wait = wait;
    swapcontext(&fiber.context, &g_launch->scheduler);
}

bool IsReady(const Fiber& fiber)
{
    switch (fiber.wait.what) {
        case Wait::For::kFlag:
            return g_launch->flags.IsSet(fiber.core.index, fiber.wait.id);
        case Wait::For::kBarrier:
            return g_launch->flags.Arrived(fiber.core.index, fiber.wait.everybody, fiber.wait.id);
        default:
            return true;
    }
}

void Start(Fiber& fiber, uint32_t index)
{
    // Where a core's records are cut into chunks depends on it alone then, and the streams of alike cores are equal byte by byte.
    g_state.writer.Flush();
    if (Spare().empty()) {
        Spare().push_back(std::make_unique<Resources>());
    }
    fiber.resources = std::move(Spare().back());
    Spare().pop_back();
    const CoreName& name = g_launch->names[index];
    const bool mixed = g_launch->type != KernelType::kAiv && g_launch->type != KernelType::kAic;
    Core& core = fiber.core;
    core.unit = name.unit;
    core.group = name.group;
    core.groups = g_launch->groups;
    core.sub_block = name.sub_block;
    core.sub_blocks = std::max(g_launch->vectors, 1u);
    core.mixed = mixed;
    core.index = index;
    core.trace_core = !mixed ? index : name.group * 3 + (name.unit == Unit::kCube ? 0 : 1 + name.sub_block);
    fiber.resources->memory.Attach(core, g_state.ub_size, g_state.poison, name.unit == Unit::kCube);
    core.stack = static_cast<const uint8_t*>(fiber.resources->stack.memory);
    core.stack_bytes = kStackBytes;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.resources->stack.memory;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, Entry, 0);
}

void Retire(std::unique_ptr<Fiber>& fiber)
{
    g_state.launch.records += fiber->core.records;
    Spare().push_back(std::move(fiber->resources));
    Locals().Forget(fiber->local);
    g_launch->latest = nullptr;
    ++g_launch->progress;
    fiber.reset();
}

void EndRecord(Core& core)
{
    const uint64_t values = core.values;
    Append(core, kOp_end_of_block, kPipeNone, 0, 0)->values = static_cast<uint32_t>(values ^ values >> 32);
}

std::string WhyStuck(const Fiber& fiber)
{
    const CrossFlags& flags = g_launch->flags;
    const std::string name = flags.Name(fiber.core.index);
    switch (fiber.wait.what) {
        case Wait::For::kFlag:
            return name + " waits for ever in a wait for cross-core flag " + std::to_string(fiber.wait.id) + ": " +
                   flags.Missing(fiber.core.index, fiber.wait.id);
        case Wait::For::kBarrier:
            return name + " waits for ever in SyncAll: " +
                   flags.Absent(fiber.core.index, fiber.wait.everybody, fiber.wait.id) + " does not reach it";
        default:
            return name + " waits for ever in a loop that polls memory: no other core can go on and write it";
    }
}

/// Ends every waiting core with a deadlock fault.
void BreakDeadlock()
{
    for (auto& fiber : g_launch->fibers) {
        if (fiber == nullptr) {
            continue;
        }
        fiber->core.polling.due = false;
        g_state.core = &fiber->core;
        g_state.writer.SelectCore(fiber->core.trace_core);
        RaiseFault(fiber->core, FaultKind::kDeadlock, fiber->wait.site, "%s", WhyStuck(*fiber).c_str());
        EndRecord(fiber->core);
        g_state.core = nullptr;
        g_state.launch.completed = false;
        Retire(fiber);
    }
}

/// True when the launch has ended before its cores have: one of them needs data that are not there.
bool CutShort() { return !g_state.launch.data_read.empty(); }

/// Resumes a core and retires it when it is through, and all others with it when the launch is cut short.
void Turn(std::unique_ptr<Fiber>& fiber)
{
    Resume(*fiber);
    if (fiber->done) {
        Retire(fiber);
    }
    if (CutShort()) {
        for (auto& other : g_launch->fibers) {
            if (other != nullptr) {
                Retire(other);
            }
        }
    }
}

/// Runs the cores [from, to) as far as they get by themselves. Pollers wait for the rest of the launch.
void RunGroup(size_t from, size_t to)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t index = from; index < to; ++index) {
            auto& fiber = g_launch->fibers[index];
            if (fiber == nullptr || fiber->wait.what == Wait::For::kTurn || !IsReady(*fiber)) {
                continue;
            }
            moved = true;
            Turn(fiber);
        }
    }
}

bool IsChosen(uint32_t block)
{
    const std::vector<uint32_t>& chosen = g_state.chosen;
    return chosen.empty() || std::binary_search(chosen.begin(), chosen.end(), block);
}

void RunAll()
{
    const size_t cores = g_launch->names.size();
    std::vector<std::pair<size_t, size_t>> groups;
    for (size_t from = 0; from < cores;) {
        size_t to = from;
        while (to < cores && g_launch->names[to].group == g_launch->names[from].group) {
            ++to;
        }
        groups.emplace_back(from, to);
        from = to;
    }
    if (g_state.blocks_reversed) {
        std::reverse(groups.begin(), groups.end());
    }
    for (const auto& [from, to] : groups) {
        if (!IsChosen(g_launch->names[from].group)) {
            continue;
        }
        for (size_t core = from; core < to && !CutShort(); ++core) {
            auto& fiber = g_launch->fibers[core];
            fiber = std::make_unique<Fiber>();
            Start(*fiber, static_cast<uint32_t>(core));
            Turn(fiber);
        }
        RunGroup(from, to);
    }
    uint32_t idle = 0;
    while (true) {
        bool live = false;
        bool resumed = false;
        const uint64_t before = g_launch->progress;
        for (auto& fiber : g_launch->fibers) {
            if (fiber == nullptr) {
                continue;
            }
            live = true;
            if (!IsReady(*fiber)) {
                continue;
            }
            resumed = true;
            g_launch->progress += fiber->wait.what == Wait::For::kTurn ? 0 : 1;
            Turn(fiber);
        }
        if (!live) {
            return;
        }
        idle = g_launch->progress != before ? 0 : idle + 1;
        if (!resumed || idle > kIdleTurns) {
            BreakDeadlock();
            return;
        }
    }
}

std::vector<CoreName> CoresOf(KernelType type, uint32_t groups, uint32_t vectors)
{
    std::vector<CoreName> names;
    for (uint32_t group = 0; group < groups; ++group) {
        if (type != KernelType::kAiv) {
            names.push_back({Unit::kCube, group, 0});
        }
        for (uint32_t sub_block = 0; sub_block < vectors; ++sub_block) {
            names.push_back({Unit::kVector, group, sub_block});
        }
    }
    return names;
}

uint32_t VectorsOf(KernelType type)
{
    switch (type) {
        case KernelType::kMix12:
            return 2;
        case KernelType::kAiv:
        case KernelType::kMix11:
            return 1;
        default:
            return 0;
    }
}

/// Groups that run at the same time.
uint32_t GroupLimit()
{
    const uint32_t by_vectors = g_launch->vectors == 0 ? UINT32_MAX : g_state.core_count / g_launch->vectors;
    return g_launch->type == KernelType::kAiv ? by_vectors : std::min(by_vectors, g_state.cube_count);
}

/// Faults when the blocks of the launch cannot all run at once, which a wait for all of them needs.
bool AllAtOnce(Core& core, uint64_t site, const char* what)
{
    if (core.groups <= GroupLimit()) {
        return true;
    }
    RaiseFault(core, FaultKind::kDeadlock, site, "%s in a launch of %u blocks on %u %s: not all can run at once", what,
               core.groups, GroupLimit(), g_launch->type == KernelType::kAiv ? "cores" : "groups of cores");
    return false;
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
    // Instructions outside a launch are not part of any trace; they work on memories of their own.
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
    fiber.core.polling.due = false;
    EndRecord(fiber.core);
    fiber.done = true;
    swapcontext(&fiber.context, &g_launch->scheduler);
    __builtin_unreachable();
}

void NoteGmRead(Core& core, uint64_t virtual_address)
{
    if (!InBlock()) {
        return;
    }
    Polling& polling = core.polling;
    const uint64_t block = virtual_address / 32;
    // Bits from all over the address: messages are often powers of two apart.
    const uint64_t set = (block * 0x9E3779B97F4A7C15u >> 32) % Polling::kSets;
    uint64_t(&seen)[Polling::kWays] = polling.seen[set];
    if (std::find(std::begin(seen), std::end(seen), block) == std::end(seen)) {
        seen[polling.next[set]++ % Polling::kWays] = block;
        polling.repeats = 0;
        ++g_launch->progress;
    } else if (++polling.repeats >= kPollReads) {
        polling.repeats = 0;
        polling.due = true;
    }
}

void NoteGmWrite()
{
    if (g_launch != nullptr) {
        ++g_launch->progress;
    }
}

void GiveTurn(uint64_t site)
{
    if (!InBlock()) {
        return;
    }
    Polling& polling = g_launch->running->core.polling;
    polling.due = false;
    if (!polling.noted) {
        // Whoever judges the trace must know that cores may have an order that no flag shows.
        polling.noted = true;
        Note("polls global memory");
    }
    Pause({Wait::For::kTurn, 0, false, site});
}

void CleanCache(Core& core, const void* ptr, bool entire, uint64_t site)
{
    const uint64_t address = TranslateGm(ptr, 1);
    RecordHead* head = Append(core, kOp_dcci, kPipeS, 0, site);
    head->aux0 = entire ? 1 : 0;
    head->aux1 = static_cast<uint32_t>(address);
    head->aux2 = static_cast<uint32_t>(address >> 32);
    NoteGmRead(core, address);
}

void SetCrossFlag(Core& core, uint8_t pipe, uint32_t id, uint32_t mode, uint64_t site)
{
    if (mode > 2 || id >= CrossFlags::kIds) {
        RaiseFault(core, FaultKind::kFlagMisuse, site, "cross-core flag %u in mode %u: there are 16 flags and modes 0 to 2", id,
                   mode);
        return;
    }
    if (mode == 0 && InBlock() && !AllAtOnce(core, site, "a cross-core flag of all cores")) {
        return;
    }
    RecordHead* head = Append(core, kOp_set_cross_flag, pipe, 0, site);
    head->aux0 = id;
    head->aux1 = mode;
    if (!InBlock()) {
        return;
    }
    ++g_launch->progress;
    if (!g_launch->flags.Set(core.index, id, mode)) {
        RaiseFault(core, FaultKind::kFlagMisuse, site,
                   "cross-core flag %u is set a %u-th time while nobody waits for it: its counter holds %u", id,
                   CrossFlags::kMost + 1, CrossFlags::kMost);
    }
}

void WaitCrossFlag(Core& core, uint32_t id, uint64_t site)
{
    RecordHead* head = Append(core, kOp_wait_cross_flag, kPipeNone, 0, site);
    head->aux0 = id;
    if (!InBlock()) {
        return;
    }
    if (!g_launch->flags.IsSet(core.index, id)) {
        Pause({Wait::For::kFlag, id, false, site});
    }
    g_launch->flags.Take(core.index, id);
    ++g_launch->progress;
}

void PassFlag(Core& core, int32_t* flag, int32_t expected, int32_t next, uint64_t site)
{
    const uint64_t address = TranslateGm(flag, kFlagBytes);
    if (address == 0) {
        RaiseFault(core, FaultKind::kOutOfBoundsGm, site, "a flag between blocks takes 32 bytes of global memory, which are not there");
        return;
    }
    NeedsData(core, site, "a flag between blocks is read from global memory");
    while (*static_cast<volatile int32_t*>(flag) != expected) {
        if (!InBlock()) {
            return;
        }
        Pause({Wait::For::kTurn, 0, false, site});
    }
    *flag = next;
    if (!InBlock()) {
        return;
    }
    ++g_launch->progress;
    const auto number = CrossFlags::kIds + static_cast<uint32_t>(g_launch->passed.size());
    const auto [at, first] = g_launch->passed.emplace(address, number);
    if (!first) {
        Append(core, kOp_wait_cross_flag, kPipeNone, 0, site)->aux0 = at->second;
    }
    RecordHead* head = Append(core, kOp_set_cross_flag, kPipeNone, 0, site);
    head->aux0 = at->second;
    head->aux1 = kToWhoeverPasses;
}

}  // namespace machine

using machine::g_launch;
using machine::g_state;

const char* KernelTypeName(KernelType type)
{
    static const char* const kNames[] = {"aiv", "aic", "mix_1_0", "mix_1_1", "mix_1_2"};
    return kNames[static_cast<uint8_t>(type)];
}

bool ParseKernelType(const std::string& name, KernelType* type)
{
    for (uint8_t i = 0; i <= static_cast<uint8_t>(KernelType::kMix12); ++i) {
        if (name == KernelTypeName(static_cast<KernelType>(i))) {
            *type = static_cast<KernelType>(i);
            return true;
        }
    }
    return false;
}

void SyncAll(bool everybody)
{
    machine::Core& core = machine::Current();
    const uint64_t site = ASCENDSIM_SITE();
    if (machine::InBlock() && !machine::AllAtOnce(core, site, "SyncAll")) {
        return;
    }
    RecordHead* head = machine::Append(core, kOp_sync_all, kPipeNone, 0, site);
    head->aux1 = everybody ? 1 : 0;
    if (!machine::InBlock()) {
        return;
    }
    const uint32_t ordinal = g_launch->flags.Arrive(core.index, everybody);
    ++g_launch->progress;
    head->aux0 = ordinal - 1;
    if (!g_launch->flags.Arrived(core.index, everybody, ordinal)) {
        machine::Pause({machine::Wait::For::kBarrier, ordinal, everybody, site});
    }
}

bool CompiledFor(bool cube)
{
    g_state.compiled_for |= cube ? 2 : 1;
    return cube;
}

void AddKernelModule(const void* address)
{
    machine::Locals().AddModule(address, SIZE_MAX);
    machine::AddConstants(address);
}

bool InLaunch() { return machine::g_launch != nullptr && machine::g_launch->running != nullptr; }

LaunchResult RunLaunch(const LaunchInfo& info, void (*fn)(void*), void* arg)
{
    machine::ReadEnvironment();
    // A launch inside a block would mean a kernel that launches kernels: not possible on this machine.
    if (g_launch != nullptr) {
        machine::RaiseFault(machine::Current(), machine::FaultKind::kUnsupported, 0, "a launch inside a kernel");
        return g_state.launch;
    }
    g_state.launch = LaunchResult();
    g_state.written.clear();
    // As the compiler spells the function: without namespaces and template arguments.
    g_state.kernel = info.kernel.substr(0, info.kernel.find('<'));
    g_state.kernel.erase(0, g_state.kernel.rfind(':') + 1);
    g_state.tiling_key = info.tiling_key;
    if (g_state.writer.Active()) {
        machine::WriteOpening(info);
    }
    machine::Launching launching;
    launching.fn = fn;
    launching.arg = arg;
    launching.type = info.type;
    launching.groups = info.block_dim;
    launching.vectors = machine::VectorsOf(info.type);
    launching.names = machine::CoresOf(info.type, info.block_dim, launching.vectors);
    launching.fibers.resize(launching.names.size());
    launching.flags.Reset(launching.names, info.type == KernelType::kAiv || info.type == KernelType::kAic);
    g_launch = &launching;
    machine::Locals().BeginLaunch();
    {
        const machine::DataGuard data;
        const machine::DivisionGuard divisions;
        machine::RunAll();
    }
    machine::Locals().EndLaunch();
    g_launch = nullptr;
    g_state.core = nullptr;
    if (g_state.writer.Active()) {
        machine::WriteClosing();
    }
    return g_state.launch;
}

const LaunchResult& LastLaunch() { return g_state.launch; }

void RunBlocks(const char* kernel, const char* kinds, uint32_t blocks, void (*fn)(void*), void* arg)
{
    LaunchInfo info;
    info.kernel = kernel;
    info.block_dim = blocks;
    const std::string text = std::string(";") + kinds;
    const std::string name = ";" + info.kernel + "=";
    if (const size_t at = text.find(name); at != std::string::npos) {
        const size_t from = at + name.size();
        ParseKernelType(text.substr(from, text.find(';', from) - from), &info.type);
    }
    // The program's own globals are no more shared between cores than those of a kernel library.
    machine::Locals().AddModule(reinterpret_cast<const void*>(fn), machine::kMostProgramData);
    machine::AddConstants(reinterpret_cast<const void*>(fn));
    const bool vectors = info.type != KernelType::kAic && info.type != KernelType::kMix10;
    const uint32_t needed = (vectors ? 1 : 0) | (info.type != KernelType::kAiv ? 2 : 0);
    if (g_state.compiled_for != 0 && (needed & ~g_state.compiled_for) != 0) {
        fn = [](void*) {
            Fault("unsupported", "the kernel needs both kinds of cores, or another kind than the program was compiled for: a "
                                 "program with its own main is compiled once, for one kind");
        };
    }
    RunLaunch(info, fn, arg);
}

}  // namespace ascendsim

extern "C" void ascend_sim_on_core(void (*callback)(void*), void* arg)
{
    ascendsim::machine::Callbacks().push_back({callback, arg});
}
