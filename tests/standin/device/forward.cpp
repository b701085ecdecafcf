// What the stand-in's AscendCL takes from the embedded SDK unchanged: programs link with this library alone.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

#include "acl/acl_rt.h"
#include "machine/machine.h"
#include "standin.h"

namespace {
template <typename Signature> Signature* Next(const char* name)
{
    return reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name));
}
} // namespace

#define STANDIN_FORWARD(name, parameters, arguments)                                  \
    aclError name parameters                                                          \
    {                                                                                 \
        static auto* const next = Next<aclError parameters>(#name);                   \
        return next arguments;                                                        \
    }

extern "C" {
aclError aclInit(const char* path)
{
    // For tests that ask which packages a program saw.
    const char* const packages = std::getenv("ASCEND_CUSTOM_OPP_PATH");
    std::ofstream(standin::Own("state/packages"), std::ios::app) << (packages == nullptr ? "" : packages) << "\n";
    return Next<aclError(const char*)>("aclInit")(path);
}
STANDIN_FORWARD(aclFinalize, (void), ())
STANDIN_FORWARD(aclrtGetVersion, (int32_t * a, int32_t* b, int32_t* c), (a, b, c))
STANDIN_FORWARD(aclrtGetLastError, (aclrtLastErrLevel level), (level))
STANDIN_FORWARD(aclrtPeekAtLastError, (aclrtLastErrLevel level), (level))
STANDIN_FORWARD(aclrtGetRunMode, (aclrtRunMode * mode), (mode))
STANDIN_FORWARD(aclrtGetDeviceInfo, (uint32_t id, aclrtDevAttr attr, int64_t* value), (id, attr, value))
STANDIN_FORWARD(aclGetDeviceCapability, (uint32_t id, aclDeviceInfo info, int64_t* value), (id, info, value))
STANDIN_FORWARD(aclrtCreateContext, (aclrtContext * context, int32_t id), (context, id))
STANDIN_FORWARD(aclrtDestroyContext, (aclrtContext context), (context))
STANDIN_FORWARD(aclrtSetCurrentContext, (aclrtContext context), (context))
STANDIN_FORWARD(aclrtGetCurrentContext, (aclrtContext * context), (context))
STANDIN_FORWARD(aclrtCreateStream, (aclrtStream * stream), (stream))
STANDIN_FORWARD(aclrtCreateStreamWithConfig, (aclrtStream * stream, uint32_t a, uint32_t b), (stream, a, b))
STANDIN_FORWARD(aclrtDestroyStream, (aclrtStream stream), (stream))
STANDIN_FORWARD(aclrtDestroyStreamForce, (aclrtStream stream), (stream))
STANDIN_FORWARD(aclrtStreamQuery, (aclrtStream stream, aclrtStreamStatus* status), (stream, status))
STANDIN_FORWARD(aclrtMalloc, (void** to, size_t size, aclrtMemMallocPolicy policy), (to, size, policy))
STANDIN_FORWARD(aclrtMallocAlign32, (void** to, size_t size, aclrtMemMallocPolicy policy), (to, size, policy))
STANDIN_FORWARD(aclrtMallocCached, (void** to, size_t size, aclrtMemMallocPolicy policy), (to, size, policy))
STANDIN_FORWARD(aclrtFree, (void* pointer), (pointer))
STANDIN_FORWARD(aclrtMallocHost, (void** to, size_t size), (to, size))
STANDIN_FORWARD(aclrtFreeHost, (void* pointer), (pointer))
STANDIN_FORWARD(aclrtMemcpy, (void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind kind),
                (to, most, from, count, kind))
STANDIN_FORWARD(aclrtMemcpyAsync,
                (void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind kind, aclrtStream stream),
                (to, most, from, count, kind, stream))
STANDIN_FORWARD(aclrtMemset, (void* to, size_t most, int32_t value, size_t count), (to, most, value, count))
STANDIN_FORWARD(aclrtMemsetAsync, (void* to, size_t most, int32_t value, size_t count, aclrtStream stream),
                (to, most, value, count, stream))
STANDIN_FORWARD(aclrtGetMemInfo, (aclrtMemAttr attr, size_t* free, size_t* total), (attr, free, total))

aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return ACL_SUCCESS; }
aclError aclrtQueryEventStatus(aclrtEvent, aclrtEventRecordedStatus* status)
{
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return ACL_SUCCESS;
}
size_t aclDataTypeSize(aclDataType type) { return Next<size_t(aclDataType)>("aclDataTypeSize")(type); }
float aclFloat16ToFloat(aclFloat16 value) { return Next<float(aclFloat16)>("aclFloat16ToFloat")(value); }
aclFloat16 aclFloatToFloat16(float value) { return Next<aclFloat16(float)>("aclFloatToFloat16")(value); }
}

namespace standin {
void TakeProgramLaunch(const Outcome& outcome);
int CurrentPhysical();
bool Timed();
bool Broken();

namespace {
using Blocks = void(const char*, const char*, uint32_t, void (*)(void*), void*);
struct ProgramLaunch {
    const char* kernel;
    const char* kinds;
    uint32_t blocks;
    void (*fn)(void*);
    void* argument;
};
void RunProgram(void* raw)
{
    const auto& launch = *static_cast<ProgramLaunch*>(raw);
    static Blocks* const next = Next<Blocks>("_ZN9ascendsim9RunBlocksEPKcS1_jPFvPvES2_");
    next(launch.kernel, launch.kinds, launch.blocks, launch.fn, launch.argument);
}
} // namespace
} // namespace standin

namespace ascendsim {
// Kernels of programs that were compiled with them.
void RunBlocks(const char* kernel, const char* kinds, uint32_t blocks, void (*fn)(void*), void* argument)
{
    const int physical = standin::CurrentPhysical();
    // Silicon on which nothing comes of a launch, and nobody is told.
    if (physical < 0 || standin::Broken() || standin::Knob("programs_do_nothing", "off") == "on") {
        return;
    }
    standin::ProgramLaunch launch{kernel, kinds, blocks, fn, argument};
    standin::Launched launched;
    launched.kernel = kernel;
    launched.blocks = blocks;
    launched.kind = "aiv";
    standin::TakeProgramLaunch(standin::Perform(physical, launched, standin::Timed(), &standin::RunProgram, &launch));
}
} // namespace ascendsim
