// What kernel libraries built against a toolkit's headers take from the libraries of the CPU-debug package, under the
// names that those headers declare.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <unwind.h>

#include "ascendsim/core.h"

#include "ascendsim/isa_registers.h"

namespace AscendC {

// The package carries out atomic stores in the headers where this is set; here the instructions do.
extern bool g_isAtomic;
bool g_isAtomic = false;
extern uint32_t g_atomicType;
uint32_t g_atomicType = 0;

// Hooks by which the headers tell the package's model which tensor the next instruction uses; ours know by the address.
void SetModelGatherbSrc0Tensor(uint64_t src0, const uint32_t length);
void SetModelScatterDst0Tensor(uint64_t dst0, const uint32_t length);
void SetModelDeqTensor(void* factors);
void SetModelBiasTensor(void* bias);
void SetIndexMatrix(void* index);
void SetModelGatherbSrc0Tensor(uint64_t, const uint32_t) {}
void SetModelScatterDst0Tensor(uint64_t, const uint32_t) {}
void SetModelDeqTensor(void*) {}
void SetModelBiasTensor(void*) {}
// This one has no other way to the instruction.
void SetIndexMatrix(void* index) { ::SetIndexMatrix(index); }

/// Orders the output of cores, which needs nothing where they take turns in one thread.
class ProcessLock {
public:
    int Read();
    int Write();
    int Unlock();
    void UnInit();
    static void FreeLock();
    static ProcessLock* CreateLock();

private:
    static ProcessLock* processLock;
};

ProcessLock* ProcessLock::processLock = nullptr;
int ProcessLock::Read() { return 0; }
int ProcessLock::Write() { return 0; }
int ProcessLock::Unlock() { return 0; }
void ProcessLock::UnInit() {}
void ProcessLock::FreeLock() {}
ProcessLock* ProcessLock::CreateLock()
{
    // The headers only call through it.
    static ProcessLock lock;
    return &lock;
}

namespace check {

/// Bytes of a memory by the headers' number: GM, UB, L1, L0A, L0B, L0C, BT, FB.
uint64_t GetHardWarebufferSize(uint8_t index)
{
    if (index == 0) {
        return uint64_t{1} << 20;
    }
    return ascendsim::OnChipSize(index == 1 ? 0u : index);
}

}  // namespace check
}  // namespace AscendC

namespace {

/// What failing checks said since the last fault.
char g_messages[512];

/// Search of a stack for code that is not one of the headers' check functions.
struct Outside {
    int skip;
    uint64_t site;
};

_Unwind_Reason_Code FindOutside(_Unwind_Context* context, void* data)
{
    auto* outside = static_cast<Outside*>(data);
    if (outside->skip > 0) {
        --outside->skip;
        return _URC_NO_REASON;
    }
    const uint64_t at = _Unwind_GetIP(context);
    Dl_info info{};
    if (at == 0 || dladdr(reinterpret_cast<void*>(at - 1), &info) == 0) {
        return _URC_END_OF_STACK;
    }
    outside->site = outside->site == 0 ? at : outside->site;
    const char* name = info.dli_sname;
    if (name != nullptr && std::strstr(name, "7AscendC") != nullptr && std::strstr(name, "Check") != nullptr) {
        return _URC_NO_REASON;
    }
    outside->site = at;
    return _URC_END_OF_STACK;
}

}  // namespace

extern "C" void ascend_sim_check_message(const char* format, ...);
extern "C" void ascend_sim_check_failed();

void ascend_sim_check_message(const char* format, ...)
{
    size_t length = std::strlen(g_messages);
    if (length > 0 && length + 2 < sizeof(g_messages)) {
        std::strcpy(g_messages + length, "; ");
        length += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(g_messages + length, sizeof(g_messages) - length, format, arguments);
    va_end(arguments);
    for (length = std::strlen(g_messages); length > 0 && g_messages[length - 1] == '\n'; --length) {
        g_messages[length - 1] = '\0';
    }
}

void ascend_sim_check_failed()
{
    Outside outside{1, 0};
    _Unwind_Backtrace(&FindOutside, &outside);
    const std::string text = g_messages[0] == '\0' ? std::string("a check of the toolkit's headers failed")
                                                   : "a check of the toolkit's headers failed: " + std::string(g_messages);
    g_messages[0] = '\0';
    ascendsim::FaultAt(outside.site, "bad_argument", text.c_str());
}
