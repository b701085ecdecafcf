// Shortcuts from a context to machine numbers. A null context or platform gives 0 and an error line.
#ifndef ASCEND_SDK_OPBASE_PLATFORM_UTIL_H
#define ASCEND_SDK_OPBASE_PLATFORM_UTIL_H

#include <cstdint>

#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "op_common/log/log.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {
namespace Detail {
template <typename T>
fe::PlatFormInfos* PlatformOf(const T* context, const char* caller)
{
    fe::PlatFormInfos* const infos = context == nullptr ? nullptr : context->GetPlatformInfo();
    if (infos == nullptr) {
        OP_LOGE(caller, "the context has no platform information");
    }
    return infos;
}
} // namespace Detail

template <typename T>
uint32_t GetAivCoreNum(const T* context)
{
    fe::PlatFormInfos* const infos = Detail::PlatformOf(context, "GetAivCoreNum");
    return infos == nullptr ? 0 : platform_ascendc::PlatformAscendC(infos).GetCoreNumAiv();
}

template <typename T>
uint32_t GetAicCoreNum(const T* context)
{
    fe::PlatFormInfos* const infos = Detail::PlatformOf(context, "GetAicCoreNum");
    return infos == nullptr ? 0 : platform_ascendc::PlatformAscendC(infos).GetCoreNumAic();
}

template <typename T>
uint32_t GetUbSize(const T* context)
{
    fe::PlatFormInfos* const infos = Detail::PlatformOf(context, "GetUbSize");
    uint64_t bytes = 0;
    if (infos != nullptr) {
        platform_ascendc::PlatformAscendC(infos).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    }
    return static_cast<uint32_t>(bytes);
}

template <typename T>
uint32_t GetWorkspaceSize(const T* context)
{
    fe::PlatFormInfos* const infos = Detail::PlatformOf(context, "GetWorkspaceSize");
    return infos == nullptr ? 0 : platform_ascendc::PlatformAscendC(infos).GetLibApiWorkSpaceSize();
}

template <typename T>
uint32_t GetUbBlockSize(const T*)
{
    return 32;
}

template <typename T>
uint32_t GetVRegSize(const T*)
{
    return 256;
}

template <typename T>
uint32_t GetCacheLineSize(const T*)
{
    return 256;
}

template <typename T>
uint32_t GetSectorCacheLineSize(const T*)
{
    return 128;
}

template <typename T>
uint32_t GetSimtMaxThreadNum(const T*)
{
    return 2048;
}

template <typename T>
uint32_t GetSimtMaxDCacheSize(const T*)
{
    return 131072;
}
} // namespace Base
} // namespace Ops

#endif
