// Launches that are timed without data. Instructions are checked and recorded and touch nothing; the memories that hold data
// are inaccessible. So nothing that reads data goes by unseen: what is not announced as a scalar read, and what an
// instruction would still touch, ends in a fault of the processor here, and the launch ends with the reason.
#include <csignal>
#include <ucontext.h>

#include <cstdarg>
#include <cstdio>

#include "machine/core_state.h"

namespace ascendsim {
namespace machine {

namespace {

constexpr size_t kReasonBytes = 256;

struct sigaction g_before;  // what else handles such faults

/// One past the instruction that faulted, as a return address would say it; zero where the machine is not known.
uint64_t SiteOf(const void* context)
{
#if defined(__x86_64__)
    return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
    return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc) + 1;
#else
    (void)context;
    return 0;
#endif
}

/// Runs on the stack of the core that faulted, and leaves it as any end of a block does. What faults with data as well does so
/// again in the run with data.
void OnFault(int number, siginfo_t*, void* context)
{
    if (InBlock() && g_state.core != nullptr) {
        NeedsData(*g_state.core, SiteOf(context), "memory is accessed through a plain pointer");
    }
    // Not a core: the instruction is tried again and meets whoever was there before.
    (void)sigaction(number, &g_before, nullptr);
}

}  // namespace

void NeedsData(Core& core, uint64_t site, const char* format, ...)
{
    LaunchResult& launch = g_state.launch;
    if (!g_state.timing_only || !InBlock()) {
        return;
    }
    char text[kReasonBytes];
    va_list args;
    va_start(args, format);
    (void)std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    launch.completed = false;
    launch.data_read = text;
    launch.data_read_site = site;
    core.pending.any = false;
    AbandonBlock();
}

DataGuard::DataGuard()
{
    if (g_state.timing_only) {
        struct sigaction action = {};
        action.sa_sigaction = OnFault;
        // A core is left from inside the handler, so that the signal must not stay blocked.
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        (void)sigaction(SIGSEGV, &action, &g_before);
    }
}

DataGuard::~DataGuard()
{
    if (g_state.timing_only) {
        (void)sigaction(SIGSEGV, &g_before, nullptr);
    }
}

}  // namespace machine

void SetTimingOnly(bool timing_only)
{
    machine::ReadEnvironment();
    machine::g_state.timing_only = timing_only;
}

bool TouchesData() { return !machine::g_state.timing_only; }

}  // namespace ascendsim
