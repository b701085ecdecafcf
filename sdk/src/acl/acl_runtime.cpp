// Devices, contexts, streams, events and errors of programs. There is one device, and every call is synchronous.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "acl_error.h"
#include "ascendsim/types.h"
#include "graph/types.h"
#include "machine/machine.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
constexpr int32_t kDevices = 1;
constexpr size_t kHbmBytes = size_t(64) << 30;

struct Errors {
    aclError last = ACL_SUCCESS;
    std::string recent; // not asked for yet
    std::string given;  // keeps what aclGetRecentErrMsg returned
};
thread_local Errors t_errors;
bool g_initialised = false;
int32_t g_device = 0;

// Streams, events and contexts have no state; a handle only has to be unlike others and unlike null.
aclError NewHandle(void** handle, const char* function)
{
    static uintptr_t next = 0x1000;
    if (handle == nullptr) {
        return ascendsim::acl::Fail(ACL_ERROR_INVALID_PARAM, std::string(function) + ": the pointer is null");
    }
    next += 16;
    *handle = reinterpret_cast<void*>(next);
    return ACL_SUCCESS;
}

aclError NeedHandle(const void* handle, const char* function)
{
    return handle != nullptr ? static_cast<aclError>(ACL_SUCCESS) :
                               ascendsim::acl::Fail(ACL_ERROR_INVALID_PARAM, std::string(function) + ": no handle");
}

// What the device reports when it is waited for: a kernel that could not go on is an exception of the core.
aclError Synchronize(const char* function)
{
    const ascendsim::LaunchResult& launch = ascendsim::LastLaunch();
    if (launch.completed) {
        return ACL_SUCCESS;
    }
    return ascendsim::acl::Fail(ACL_ERROR_RT_AICORE_EXCEPTION,
                                std::string(function) + ": the kernel did not finish: " + launch.first_fault);
}
} // namespace

namespace ascendsim {
namespace acl {
aclError Fail(aclError code, const std::string& message)
{
    t_errors.last = code;
    t_errors.recent = message;
    (void)std::fprintf(stderr, "[acl] %s (error %d)\n", message.c_str(), code);
    return code;
}
} // namespace acl
} // namespace ascendsim

using ascendsim::acl::Fail;

extern "C" {
aclError aclInit(const char*)
{
    if (g_initialised) {
        return Fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: called before");
    }
    g_initialised = true;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    if (!g_initialised) {
        return Fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: aclInit was not called");
    }
    g_initialised = false;
    return ACL_SUCCESS;
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion)
{
    if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is null");
    }
    *majorVersion = 1;
    *minorVersion = 14;
    *patchVersion = 0;
    return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum)
{
    if (pkgName == nullptr || versionNum == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum: a pointer is null");
    }
    return Fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum: the package is not installed");
}

const char* aclGetRecentErrMsg(void)
{
    t_errors.given.swap(t_errors.recent);
    t_errors.recent.clear();
    return t_errors.given.empty() ? nullptr : t_errors.given.c_str();
}

aclError aclrtGetLastError(aclrtLastErrLevel)
{
    const aclError last = t_errors.last;
    t_errors.last = ACL_SUCCESS;
    return last;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel)
{
    return t_errors.last;
}

aclError aclrtSetDevice(int32_t deviceId)
{
    if (deviceId < 0 || deviceId >= kDevices) {
        return Fail(ACL_ERROR_INVALID_DEVICE, "aclrtSetDevice: device " + std::to_string(deviceId) +
                                                  " does not exist; the only simulated one is 0");
    }
    g_device = deviceId;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t)
{
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t* deviceId)
{
    if (deviceId == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: the pointer is null");
    }
    *deviceId = g_device;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count)
{
    if (count == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: the pointer is null");
    }
    *count = kDevices;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode)
{
    if (runMode == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: the pointer is null");
    }
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attr, int64_t* value)
{
    if (value == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: the pointer is null");
    }
    const fe::MachineNumbers& machine = fe::PlatformInfoManager::Instance().Machine().GetNumbers();
    const auto* const platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    switch (attr) {
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM:
            *value = machine.cores_aic;
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_VECTOR_CORE_NUM:
            *value = machine.cores_aiv;
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
            *value = static_cast<int64_t>(machine.ub_bytes);
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
            *value = static_cast<int64_t>(machine.hbm_bytes);
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_L2_CACHE_SIZE:
            *value = static_cast<int64_t>(machine.l2_bytes);
            return ACL_SUCCESS;
        case ACL_DEV_ATTR_NPU_ARCH:
            *value = static_cast<int64_t>(platform->GetCurNpuArch());
            return ACL_SUCCESS;
        default:
            return Fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                        "aclrtGetDeviceInfo: attribute " + std::to_string(attr) + " is not simulated");
    }
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value)
{
    switch (deviceInfo) {
        case ACL_DEVICE_INFO_AI_CORE_NUM:
            return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_AICORE_CORE_NUM, value);
        case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
            return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_VECTOR_CORE_NUM, value);
        case ACL_DEVICE_INFO_L2_SIZE:
            return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_L2_CACHE_SIZE, value);
        default:
            return Fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: unknown question");
    }
}

aclError aclrtSynchronizeDevice(void)
{
    return Synchronize("aclrtSynchronizeDevice");
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t)
{
    return Synchronize("aclrtSynchronizeDeviceWithTimeout");
}

aclError aclrtCreateContext(aclrtContext* context, int32_t)
{
    return NewHandle(context, "aclrtCreateContext");
}

aclError aclrtDestroyContext(aclrtContext context)
{
    return NeedHandle(context, "aclrtDestroyContext");
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    return NeedHandle(context, "aclrtSetCurrentContext");
}

aclError aclrtGetCurrentContext(aclrtContext* context)
{
    return NewHandle(context, "aclrtGetCurrentContext");
}

aclError aclrtCreateStream(aclrtStream* stream)
{
    return NewHandle(stream, "aclrtCreateStream");
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t)
{
    return NewHandle(stream, "aclrtCreateStreamWithConfig");
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return NeedHandle(stream, "aclrtDestroyStream");
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return NeedHandle(stream, "aclrtDestroyStreamForce");
}

// The null stream is the default stream, so it is a good handle here.
aclError aclrtSynchronizeStream(aclrtStream)
{
    return Synchronize("aclrtSynchronizeStream");
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t)
{
    return Synchronize("aclrtSynchronizeStreamWithTimeout");
}

aclError aclrtStreamQuery(aclrtStream, aclrtStreamStatus* status)
{
    if (status == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: the pointer is null");
    }
    *status = ACL_STREAM_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent event)
{
    return NeedHandle(event, "aclrtStreamWaitEvent");
}

aclError aclrtCreateEvent(aclrtEvent* event)
{
    return NewHandle(event, "aclrtCreateEvent");
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t)
{
    return NewHandle(event, "aclrtCreateEventWithFlag");
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t)
{
    return NewHandle(event, "aclrtCreateEventExWithFlag");
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    return NeedHandle(event, "aclrtDestroyEvent");
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream)
{
    return NeedHandle(event, "aclrtRecordEvent");
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream)
{
    return NeedHandle(event, "aclrtResetEvent");
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status)
{
    if (event == nullptr || status == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: a pointer is null");
    }
    *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    const aclError error = NeedHandle(event, "aclrtSynchronizeEvent");
    return error != ACL_SUCCESS ? error : Synchronize("aclrtSynchronizeEvent");
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    if (ms == nullptr || startEvent == nullptr || endEvent == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: a pointer is null");
    }
    *ms = 0.0F;
    return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total)
{
    if (free == nullptr || total == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: a pointer is null");
    }
    size_t used = 0;
    for (const ascendsim::Region& region : ascendsim::LiveRegions()) {
        used += region.size;
    }
    *total = kHbmBytes;
    *free = used < kHbmBytes ? kHbmBytes - used : 0;
    return ACL_SUCCESS;
}

const char* aclrtGetSocName(void)
{
    return ascendsim::SocName().c_str();
}

size_t aclDataTypeSize(aclDataType dataType)
{
    const int size = ge::GetSizeByDataType(static_cast<ge::DataType>(dataType));
    return size > 0 && size < ge::kDataTypeSizeBitOffset ? static_cast<size_t>(size) : 0;
}

float aclFloat16ToFloat(aclFloat16 value)
{
    half number;
    (void)std::memcpy(static_cast<void*>(&number), &value, sizeof(value));
    return static_cast<float>(number);
}

aclFloat16 aclFloatToFloat16(float value)
{
    uint32_t bits = 0;
    (void)std::memcpy(&bits, &value, sizeof(bits));
    return ascendsim::HalfBitsFromFloatBits(bits);
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...)
{
    if (logLevel < ACL_WARNING) {
        return;
    }
    (void)std::fprintf(stderr, "[%s:%u %s] ", file, line, func);
    va_list arguments;
    va_start(arguments, fmt);
    (void)std::vfprintf(stderr, fmt, arguments);
    va_end(arguments);
    (void)std::fputc('\n', stderr);
}
}
