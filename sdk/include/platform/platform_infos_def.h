// Machine description as host functions get it: numbers by memory type, and text by section and key.
// The simulated machine is set up by the runner's job or, for programs of their own, by the environment
// (ASCEND_SIM_SOC, ASCEND_SIM_CORES, ASCEND_SIM_UB).
#ifndef ASCEND_SDK_PLATFORM_INFOS_DEF_H
#define ASCEND_SDK_PLATFORM_INFOS_DEF_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/platform_info_def.h"

namespace fe {
enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

// The numbers behind PlatFormInfos. Defaults are those of an Ascend910B2.
struct MachineNumbers {
    std::string soc = "Ascend910B2";
    uint32_t cores_aiv = 48;
    uint32_t cores_aic = 24;
    uint64_t ub_bytes = 196608; // of the memory; host functions see it less ub_reserved_bytes
    uint64_t ub_reserved_bytes = 256;
    uint64_t l1_bytes = 524288;
    uint64_t l0a_bytes = 65536;
    uint64_t l0b_bytes = 65536;
    uint64_t l0c_bytes = 131072;
    uint64_t bt_bytes = 1024;
    uint64_t fb_bytes = 7168;
    uint64_t l2_bytes = 201326592;
    uint64_t hbm_bytes = 68719476736;
    uint64_t l2_bytes_per_cycle = 110;
    uint64_t hbm_bytes_per_cycle = 32;
    uint32_t cube_freq_mhz = 1800;
};

class PlatFormInfos {
public:
    bool Init();
    // Text of a key such as ("AICoreSpec", "ub_size"); false when the machine does not have it.
    bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value);
    bool GetPlatformRes(const std::string& label, std::map<std::string, std::string>& values);
    bool GetPlatformResWithLock(const std::string& label, const std::string& key, std::string& value);
    bool GetPlatformResWithLock(const std::string& label, std::map<std::string, std::string>& values);
    // Replaces a section; the numbers that its keys stand for follow.
    void SetPlatformRes(const std::string& label, std::map<std::string, std::string>& values);
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumByType(const std::string& core_type);
    void SetCoreNumByCoreType(const std::string& core_type);
    void GetLocalMemSize(const LocalMemType& type, uint64_t& size);
    void GetLocalMemBw(const LocalMemType& type, uint64_t& bandwidth);

    const MachineNumbers& GetNumbers() const
    {
        return numbers_;
    }
    // Replaces the machine; texts follow the numbers.
    void SetNumbers(const MachineNumbers& numbers);

private:
    MachineNumbers numbers_;
    // The numbers that the sections "SoCInfo" and "AICoreSpec" stand for.
    void TakeNumbers();
    // The number of a key, 0 where the machine does not have it.
    uint64_t Number(const char* label, const char* key) const;

    std::string core_type_;
    std::map<std::string, std::map<std::string, std::string>> texts_;
};

class OptionalInfos {
public:
    bool Init()
    {
        return true;
    }
    std::string GetSocVersion() const
    {
        return soc_version_;
    }
    std::string GetCoreType() const
    {
        return core_type_;
    }
    uint32_t GetAICoreNum() const
    {
        return aicore_num_;
    }
    void SetSocVersion(const std::string& soc_version)
    {
        soc_version_ = soc_version;
    }
    void SetCoreType(const std::string& core_type)
    {
        core_type_ = core_type;
    }
    void SetAICoreNum(uint32_t aicore_num)
    {
        aicore_num_ = aicore_num;
    }

private:
    std::string soc_version_;
    std::string core_type_;
    uint32_t aicore_num_ = 0;
};
} // namespace fe

#endif
