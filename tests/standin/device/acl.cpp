// AscendCL of the stand-in: devices, kernel objects, launches, events. Everything else is the embedded SDK's.
#include "acl/acl_binary.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "acl/acl_rt.h"
#include "machine/machine.h"
#include "standin.h"

namespace {

constexpr int kTimeout = 507014;
constexpr int kException = 507015;
constexpr int kNotFound = 107003;

thread_local int32_t t_device = 0;
std::string g_recent;
std::string g_given;
int g_pending = 0;        // what waiting for the device will say
bool g_hangs = false;
bool g_timed = false;     // whether anybody looks at events
double g_now_us = 0;      // of the device's own clock

aclError Fail(int code, const std::string& message)
{
    g_recent = "[PID: " + std::to_string(getpid()) + "] EZ9999: Inner Error! " + message +
               "[FUNC:Standin][FILE:standin.cc][LINE:1]";
    std::fprintf(stderr, "[ERROR] %s (error %d)\n", message.c_str(), code);
    return code;
}

aclError Alive(const char* function)
{
    const int physical = standin::Physical(t_device);
    return physical >= 0 && standin::Dead(physical) ?
               Fail(kException, std::string(function) + ": Aicore Kernel Exec Failed: the device has to be reset") :
               static_cast<aclError>(ACL_SUCCESS);
}

// Waiting, for `timeout_ms` at most where that is not negative.
aclError Wait(const char* function, int32_t timeout_ms)
{
    if (g_hangs) {
        const double wanted = standin::Number("hang_s", 3600) * 1000;
        const double ms = timeout_ms >= 0 && timeout_ms < wanted ? timeout_ms : wanted;
        usleep(static_cast<useconds_t>(ms * 1000));
        return Fail(kTimeout, std::string(function) + ": Aicore Kernel Exec Failed: timeout");
    }
    if (g_pending != 0) {
        return Fail(g_pending, std::string(function) + (g_pending == kTimeout ? ": Aicore Kernel Exec Failed: timeout" :
                                                                               ": Aicore Kernel Exec Failed: exception"));
    }
    return Alive(function);
}

struct Event {
    double us = 0;
};

using Entry = void (*)(void**, unsigned);

// A symbol as the stand-in's compilers leave it: `<name>` is the entry and takes words, or `<name>__call` is and takes pointers to values
// of `<name>__sizes` bytes; `<name>__arguments` says how many.
struct Function {
    std::string name;
    uint64_t key = 0;
    Entry entry = nullptr;
    unsigned arguments = 0;
    const unsigned* sizes = nullptr; // of values that the entry wants pointers to
    uint64_t digest = 0;
};

struct Binary {
    void* library = nullptr;
    uint64_t digest = 0;
    std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Call {
    const Function* function;
    std::vector<void*> values;
};

void Block(void* raw)
{
    const Call& call = *static_cast<const Call*>(raw);
    std::vector<void*> values = call.values;
    if (call.function->sizes != nullptr) {
        std::vector<void*> pointers;
        for (void*& value : values) {
            pointers.push_back(&value);
        }
        call.function->entry(pointers.data(), static_cast<unsigned>(pointers.size()));
        return;
    }
    call.function->entry(values.data(), static_cast<unsigned>(values.size()));
}

// What a time depends on: the object, the launch, how large memory is, and what stands in small memory, which tiling data are.
std::string DigestOf(const Function& function, uint32_t blocks, const std::vector<void*>& values)
{
    constexpr size_t kSmall = 1024;
    uint64_t hash = standin::Hash(&blocks, sizeof(blocks), function.digest);
    for (void* const value : values) {
        const ascendsim::Region* const region = value == nullptr ? nullptr : ascendsim::FindRegion(value);
        const uint64_t size = region == nullptr ? reinterpret_cast<uint64_t>(value) : region->size;
        hash = standin::Hash(&size, sizeof(size), hash);
        if (region != nullptr && region->size <= kSmall) {
            hash = standin::Hash(region->base, region->size, hash);
        }
    }
    char text[32];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

struct Launching {
    ascendsim::LaunchInfo info;
    void (*fn)(void*);
    void* argument;
};

void RunOnce(void* raw)
{
    const auto& launching = *static_cast<Launching*>(raw);
    (void)ascendsim::RunLaunch(launching.info, launching.fn, launching.argument);
}

// Silicon that computes otherwise than anybody thinks: kernels of every object but the first one that was ever launched leave a wrong
// byte at the beginning of one of their arguments.
void Spoil(const Function& function, const std::vector<void*>& values)
{
    const double argument = standin::Number("spoiled_argument", -1);
    if (argument < 0 || argument >= static_cast<double>(values.size())) {
        return;
    }
    const std::string file = standin::Own("state/first_object");
    std::string first;
    if (!(std::ifstream(file) >> first)) {
        std::ofstream(file) << function.digest;
        return;
    }
    if (first != std::to_string(function.digest)) {
        *static_cast<uint8_t*>(values[static_cast<size_t>(argument)]) ^= 0x40;
    }
}

aclError Take(const standin::Outcome& outcome)
{
    g_hangs = g_hangs || outcome.hangs;
    if (outcome.error != 0) {
        g_pending = outcome.error;
    }
    g_now_us += outcome.us + standin::Number("event_overhead_us", 1);
    return ACL_SUCCESS; // launches are asynchronous: only waiting tells
}

aclError Launch(Function* function, uint32_t blocks, std::vector<void*> values)
{
    const int physical = standin::Physical(t_device);
    if (physical < 0 || function == nullptr || blocks == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "launch: no function, no blocks, or no device");
    }
    if (g_pending != 0 || g_hangs) {
        return Wait("launch", 0);
    }
    if (const aclError dead = Alive("launch"); dead != ACL_SUCCESS) {
        return dead;
    }
    Launching launching;
    Call call{function, std::move(values)};
    launching.info.kernel = function->name;
    launching.info.block_dim = blocks;
    launching.info.tiling_key = function->key;
    launching.fn = &Block;
    launching.argument = &call;
    standin::Launched launched;
    launched.kernel = function->name;
    launched.blocks = blocks;
    launched.key = function->key;
    launched.kind = "aiv";
    launched.digest = DigestOf(*function, blocks, call.values);
    const standin::Outcome outcome = standin::Perform(physical, launched, g_timed, &RunOnce, &launching);
    Spoil(*function, call.values);
    return Take(outcome);
}

std::vector<void*> Words(const void* data, size_t bytes)
{
    std::vector<void*> values(bytes / sizeof(void*));
    (void)std::memcpy(values.data(), data, values.size() * sizeof(void*));
    return values;
}

} // namespace

namespace standin {
// Launches of programs that were compiled with their kernels come here from ascendsim::RunBlocks below.
void TakeProgramLaunch(const Outcome& outcome) { (void)Take(outcome); }
int CurrentPhysical() { return Physical(t_device); }
bool Timed() { return g_timed; }
bool Broken() { return g_pending != 0 || g_hangs; }
} // namespace standin

extern "C" {

aclError aclrtSetDevice(int32_t deviceId)
{
    if (standin::Physical(deviceId) < 0) {
        return Fail(107001, "aclrtSetDevice: device " + std::to_string(deviceId) + " does not exist, there are " +
                                std::to_string(standin::Devices()));
    }
    t_device = deviceId;
    return Alive("aclrtSetDevice");
}

aclError aclrtGetDevice(int32_t* deviceId)
{
    *deviceId = t_device;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count)
{
    *count = standin::Devices();
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
aclError aclrtResetDeviceForce(int32_t) { return ACL_SUCCESS; }

const char* aclrtGetSocName(void)
{
    static const std::string soc = standin::Knob("soc", "Ascend910B2");
    return soc.c_str();
}

const char* aclGetRecentErrMsg(void)
{
    g_given.swap(g_recent);
    g_recent.clear();
    return g_given.empty() ? nullptr : g_given.c_str();
}

aclError aclrtSynchronizeDevice(void) { return Wait("aclrtSynchronizeDevice", -1); }
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) { return Wait("aclrtSynchronizeDeviceWithTimeout", timeout); }
aclError aclrtSynchronizeStream(aclrtStream) { return Wait("aclrtSynchronizeStream", -1); }
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t timeout)
{
    return Wait("aclrtSynchronizeStreamWithTimeout", timeout);
}
aclError aclrtSynchronizeEvent(aclrtEvent) { return Wait("aclrtSynchronizeEvent", -1); }

aclError aclrtCreateEvent(aclrtEvent* event)
{
    g_timed = true;
    *event = new Event();
    return ACL_SUCCESS;
}
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtDestroyEvent(aclrtEvent event)
{
    delete static_cast<Event*>(event);
    return ACL_SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream)
{
    static_cast<Event*>(event)->us = g_now_us;
    return ACL_SUCCESS;
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) { return aclrtRecordEvent(event, stream); }
aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    if (const aclError error = Wait("aclrtEventElapsedTime", 0); error != ACL_SUCCESS) {
        return error;
    }
    *ms = static_cast<float>((static_cast<Event*>(endEvent)->us - static_cast<Event*>(startEvent)->us) / 1000);
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions*, aclrtBinHandle* binHandle)
{
    if (const aclError dead = Alive("aclrtBinaryLoadFromFile"); dead != ACL_SUCCESS) {
        return dead;
    }
    std::ifstream stream(binPath, std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    const std::string content = bytes.str();
    char path[] = "/tmp/standin-object-XXXXXX";
    // The dynamic linker takes a file that was replaced for the one it knows: each load has one of its own.
    const int fd = content.empty() ? -1 : mkstemp(path);
    const bool copied = fd >= 0 && write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    void* const library = copied ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    const char* const reason = copied && library == nullptr ? dlerror() : "it cannot be read or is empty";
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    if (library == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, std::string("aclrtBinaryLoadFromFile: ") + binPath + ": " + reason);
    }
    auto* const binary = new Binary();
    binary->library = library;
    binary->digest = standin::Hash(content.data(), content.size());
    // For tests that ask which object was really loaded.
    std::ofstream(standin::Own("state/loaded"), std::ios::app) << binPath << "\n";
    *binHandle = binary;
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions*, aclrtBinHandle* binHandle)
{
    char path[] = "/tmp/standin-data-XXXXXX";
    const int fd = mkstemp(path);
    const bool written = fd >= 0 && write(fd, data, length) == static_cast<ssize_t>(length);
    const aclError error =
        written ? aclrtBinaryLoadFromFile(path, nullptr, binHandle) : Fail(ACL_ERROR_BAD_ALLOC, "aclrtBinaryLoadFromData");
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    return error;
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    delete static_cast<Binary*>(binHandle);
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle)
{
    auto* const binary = static_cast<Binary*>(const_cast<void*>(binHandle));
    std::unique_ptr<Function>& known = binary->functions[kernelName];
    if (known == nullptr) {
        auto function = std::make_unique<Function>();
        function->name = kernelName;
        const auto of = [&](const char* end) { return dlsym(binary->library, (function->name + end).c_str()); };
        const auto sizes = reinterpret_cast<const unsigned* (*)()>(of("__sizes"));
        function->sizes = sizes == nullptr ? nullptr : sizes();
        function->entry = reinterpret_cast<Entry>(of(sizes == nullptr ? "" : "__call"));
        const auto* const arguments =
            static_cast<const unsigned*>(of("__arguments"));
        const auto* const key = static_cast<const uint64_t*>(of("__key"));
        if (function->entry == nullptr || arguments == nullptr) {
            return Fail(kNotFound, "aclrtBinaryGetFunction: the object has no kernel " + function->name);
        }
        function->arguments = *arguments;
        function->key = key == nullptr ? 0 : *key;
        function->digest = standin::Hash(kernelName, std::strlen(kernelName), binary->digest);
        ascendsim::AddKernelModule(reinterpret_cast<const void*>(function->entry));
        known = std::move(function);
    }
    *funcHandle = known.get();
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle* funcHandle)
{
    const auto* const name =
        static_cast<const char*>(dlsym(static_cast<Binary*>(binHandle)->library, "standin_kernel_name"));
    return name == nullptr ? Fail(kNotFound, "aclrtBinaryGetFunctionByEntry: the object names no kernel") :
                             aclrtBinaryGetFunction(binHandle, (name + ("_" + std::to_string(funcEntry))).c_str(), funcHandle);
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize, aclrtStream)
{
    return Launch(static_cast<Function*>(funcHandle), numBlocks, Words(argsData, argsSize));
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream, aclrtLaunchKernelCfg*, void** args)
{
    auto* const function = static_cast<Function*>(func);
    std::vector<void*> values(function == nullptr ? 0 : function->arguments);
    for (size_t i = 0; i < values.size(); ++i) {
        const size_t bytes = function->sizes == nullptr ? sizeof(void*) : function->sizes[i];
        (void)std::memcpy(&values[i], args[i], bytes < sizeof(void*) ? bytes : sizeof(void*));
    }
    return Launch(function, numBlocks, std::move(values));
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream, aclrtLaunchKernelCfg*,
                                       void* hostArgs, size_t argsSize, aclrtPlaceHolderInfo*, size_t placeHolderNum)
{
    if (placeHolderNum != 0) {
        return Fail(ACL_ERROR_FEATURE_UNSUPPORTED, "aclrtLaunchKernelWithHostArgs: the stand-in has no place holders");
    }
    return Launch(static_cast<Function*>(funcHandle), numBlocks, Words(hostArgs, argsSize));
}

aclError aclrtKernelArgsInit(aclrtFuncHandle, aclrtArgsHandle* argsHandle)
{
    *argsHandle = new std::vector<void*>();
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize, aclrtParamHandle* paramHandle)
{
    void* value = nullptr;
    (void)std::memcpy(&value, param, paramSize < sizeof(value) ? paramSize : sizeof(value));
    static_cast<std::vector<void*>*>(argsHandle)->push_back(value);
    if (paramHandle != nullptr) {
        *paramHandle = nullptr;
    }
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle) { return ACL_SUCCESS; }

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream, aclrtLaunchKernelCfg*,
                                     aclrtArgsHandle argsHandle, void*)
{
    return Launch(static_cast<Function*>(funcHandle), numBlocks, *static_cast<std::vector<void*>*>(argsHandle));
}

} // extern "C"
