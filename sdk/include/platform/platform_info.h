// Finds the description of the machine that the process simulates.
#ifndef ASCEND_SDK_PLATFORM_INFO_H
#define ASCEND_SDK_PLATFORM_INFO_H

#include <cstdint>
#include <string>

#include "platform/platform_infos_def.h"

namespace fe {
class PlatformInfoManager {
public:
    static PlatformInfoManager& Instance();
    static PlatformInfoManager& GeInstance()
    {
        return Instance();
    }
    uint32_t InitializePlatformInfo()
    {
        return 0;
    }
    uint32_t Finalize()
    {
        return 0;
    }
    // All return 0, or 1 when `soc_version` is another machine than the simulated one.
    uint32_t GetPlatformInfos(const std::string& soc_version, PlatFormInfos& infos, OptionalInfos& optional);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos& infos, OptionalInfos& optional);
    uint32_t GetPlatformInstanceByDevice(const uint32_t& device_id, PlatFormInfos& infos);
    void SetOptionalCompilationInfo(OptionalInfos&) {}
    // The same in the older form.
    uint32_t GetPlatformInfo(const std::string& soc_version, PlatformInfo& info, OptionalInfo& optional);
    uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& info, OptionalInfo& optional);
    // A machine that a test put into the map comes first.
    void SetOptionalCompilationInfo(OptionalInfo& optional)
    {
        chosen_ = optional.soc_version;
    }
    std::map<std::string, PlatformInfo> platform_info_map_;
    std::map<std::string, PlatFormInfos> platform_infos_map_;

    // The machine of this process.
    PlatFormInfos& Machine()
    {
        return machine_;
    }

private:
    PlatformInfoManager();

    PlatFormInfos machine_;
    std::string chosen_;
};
} // namespace fe

#endif
