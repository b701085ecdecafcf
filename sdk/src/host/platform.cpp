// The simulated machine as host functions see it.
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "op_common/log/log.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

namespace fe {
namespace {
// SoC names share what host code branches on: the short name and the architecture.
struct Family {
    const char* prefix;
    const char* short_name;
    uint32_t arch;
};
// The first prefix that fits decides, so longer ones come first.
const Family kFamilies[] = {
    {"Ascend910_93", "Ascend910_93", 2201}, {"Ascend910_95", "Ascend950", 3510}, {"Ascend950", "Ascend950", 3510},
    {"Ascend910B", "Ascend910B", 2201},     {"Ascend310P", "Ascend310P", 2002},  {"Ascend310B", "Ascend310B", 3002},
    {"Ascend910", "Ascend910", 1001},
};

const Family& FamilyOf(const std::string& soc)
{
    for (const Family& family : kFamilies) {
        if (soc.compare(0, std::strlen(family.prefix), family.prefix) == 0) {
            return family;
        }
    }
    static const Family unknown = {"", "", 0};
    return unknown;
}

bool PositiveNumber(const char* variable, uint64_t& number)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) {
        return false;
    }
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value == 0) {
        return false;
    }
    number = value;
    return true;
}
} // namespace

bool PlatFormInfos::Init()
{
    return true;
}

void PlatFormInfos::SetNumbers(const MachineNumbers& numbers)
{
    numbers_ = numbers;
    texts_.clear();
    const Family& family = FamilyOf(numbers.soc);
    auto& version = texts_["version"];
    version["SoC_version"] = numbers.soc;
    version["Short_SoC_version"] = family.short_name;
    version["NpuArch"] = std::to_string(family.arch);
    version["AIC_version"] = "AIC-C-220";
    auto& soc = texts_["SoCInfo"];
    soc["ai_core_cnt"] = std::to_string(numbers.cores_aic);
    soc["cube_core_cnt"] = std::to_string(numbers.cores_aic);
    soc["vector_core_cnt"] = std::to_string(numbers.cores_aiv);
    soc["core_type_list"] = "CubeCore,VectorCore";
    soc["l2_size"] = std::to_string(numbers.l2_bytes);
    soc["memory_size"] = std::to_string(numbers.hbm_bytes);
    auto& core = texts_["AICoreSpec"];
    core["cube_freq"] = std::to_string(numbers.cube_freq_mhz);
    core["vec_freq"] = std::to_string(numbers.cube_freq_mhz);
    core["ub_size"] = std::to_string(numbers.ub_bytes);
    core["ubblock_size"] = "32";
    core["l1_size"] = std::to_string(numbers.l1_bytes);
    core["l0_a_size"] = std::to_string(numbers.l0a_bytes);
    core["l0_b_size"] = std::to_string(numbers.l0b_bytes);
    core["l0_c_size"] = std::to_string(numbers.l0c_bytes);
    core["bt_size"] = std::to_string(numbers.bt_bytes);
    core["fb0_size"] = std::to_string(numbers.fb_bytes);
    core["cube_vector_combine"] = "split";
    core["vec_calc_size"] = "128";
    if (family.arch == 2201) {
        // Instructions that tiling functions ask for, with the operands that docs/isa.md has for this architecture. What is not there the
        // core does not have: no way from L0C or L1 to the Unified Buffer, no bias of bfloat16, no products of int8 with int4.
        auto& instructions = texts_["AICoreintrinsicDtypeMap"];
        instructions["Intrinsic_fix_pipe_l0c2out"] = "f322f32,f322f16,f322bf16,f322s8,f322u8,s322s32,s322f16,s322s8,s322u8";
        instructions["Intrinsic_data_move_l12bt"] = "f322f32,f162f32,s322s32";
        instructions["Intrinsic_data_move_out2l1_nd2nz"] = "b8,b16,b32";
        instructions["Intrinsic_mmad"] = "f16f16,bf16bf16,f32f32,s8s8,s4s4";
    }
    auto& rates = texts_["AICoreMemoryRates"];
    rates["ddr_rate"] = std::to_string(numbers.hbm_bytes_per_cycle);
    rates["l2_rate"] = std::to_string(numbers.l2_bytes_per_cycle);
    rates["l2_read_rate"] = std::to_string(numbers.l2_bytes_per_cycle);
}

bool PlatFormInfos::GetPlatformRes(const std::string& label, const std::string& key, std::string& value)
{
    const auto section = texts_.find(label);
    if (section == texts_.end()) {
        return false;
    }
    const auto found = section->second.find(key);
    if (found == section->second.end()) {
        return false;
    }
    value = found->second;
    return true;
}

bool PlatFormInfos::GetPlatformRes(const std::string& label, std::map<std::string, std::string>& values)
{
    const auto section = texts_.find(label);
    if (section == texts_.end()) {
        return false;
    }
    values = section->second;
    return true;
}

bool PlatFormInfos::GetPlatformResWithLock(const std::string& label, const std::string& key, std::string& value)
{
    return GetPlatformRes(label, key, value);
}

bool PlatFormInfos::GetPlatformResWithLock(const std::string& label, std::map<std::string, std::string>& values)
{
    return GetPlatformRes(label, values);
}

void PlatFormInfos::SetPlatformRes(const std::string& label, std::map<std::string, std::string>& values)
{
    texts_[label] = values;
    TakeNumbers();
}

void PlatFormInfos::TakeNumbers()
{
    const auto take = [&](const char* label, const char* key, auto& number) {
        std::string text;
        if (!GetPlatformRes(label, key, text) || text.empty()) {
            return false;
        }
        char* end = nullptr;
        const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
        if (*end != '\0') {
            return false;
        }
        number = static_cast<std::remove_reference_t<decltype(number)>>(value);
        return true;
    };
    std::string kinds;
    (void)GetPlatformRes("SoCInfo", "core_type_list", kinds);
    uint32_t cores = 0;
    // Where cores are of one kind, each of them does both kinds of work.
    if (take("SoCInfo", "ai_core_cnt", cores)) {
        numbers_.cores_aic = cores;
        numbers_.cores_aiv = cores;
    }
    if (kinds.find("VectorCore") != std::string::npos || cores == 0) {
        (void)take("SoCInfo", "cube_core_cnt", numbers_.cores_aic);
        (void)take("SoCInfo", "vector_core_cnt", numbers_.cores_aiv);
    }
    (void)take("SoCInfo", "l2_size", numbers_.l2_bytes);
    (void)take("AICoreSpec", "ub_size", numbers_.ub_bytes);
    (void)take("AICoreSpec", "l1_size", numbers_.l1_bytes);
    (void)take("AICoreSpec", "l0_a_size", numbers_.l0a_bytes);
    (void)take("AICoreSpec", "l0_b_size", numbers_.l0b_bytes);
    (void)take("AICoreSpec", "l0_c_size", numbers_.l0c_bytes);
    (void)take("AICoreSpec", "bt_size", numbers_.bt_bytes);
    (void)take("AICoreSpec", "fb0_size", numbers_.fb_bytes);
}

uint64_t PlatFormInfos::Number(const char* label, const char* key) const
{
    const auto section = texts_.find(label);
    if (section == texts_.end()) {
        return 0;
    }
    const auto found = section->second.find(key);
    return found == section->second.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

uint32_t PlatFormInfos::GetCoreNum() const
{
    if (core_type_.empty()) {
        const uint64_t vector_cores = Number("SoCInfo", "vector_core_cnt");
        return static_cast<uint32_t>(vector_cores != 0 ? vector_cores : Number("SoCInfo", "ai_core_cnt"));
    }
    const char* const key = core_type_ == "VectorCore" ? "vector_core_cnt" : "ai_core_cnt";
    return static_cast<uint32_t>(Number("SoCInfo", key));
}

uint32_t PlatFormInfos::GetCoreNumByType(const std::string& core_type)
{
    return static_cast<uint32_t>(Number("SoCInfo", core_type == "VectorCore" ? "vector_core_cnt" : "ai_core_cnt"));
}

void PlatFormInfos::SetCoreNumByCoreType(const std::string& core_type)
{
    core_type_ = core_type;
}

void PlatFormInfos::GetLocalMemSize(const LocalMemType& type, uint64_t& size)
{
    // What a description leaves out does not exist.
    switch (type) {
        case LocalMemType::L0_A:
            size = Number("AICoreSpec", "l0_a_size");
            break;
        case LocalMemType::L0_B:
            size = Number("AICoreSpec", "l0_b_size");
            break;
        case LocalMemType::L0_C:
            size = Number("AICoreSpec", "l0_c_size");
            break;
        case LocalMemType::L1:
            size = Number("AICoreSpec", "l1_size");
            break;
        case LocalMemType::L2:
            size = Number("SoCInfo", "l2_size");
            break;
        case LocalMemType::UB:
            size = Number("AICoreSpec", "ub_size");
            break;
        case LocalMemType::HBM:
            size = Number("SoCInfo", "memory_size");
            break;
        default:
            size = 0;
            break;
    }
}

void PlatFormInfos::GetLocalMemBw(const LocalMemType& type, uint64_t& bandwidth)
{
    bandwidth = 0;
    if (type == LocalMemType::L2) {
        bandwidth = numbers_.l2_bytes_per_cycle;
    } else if (type == LocalMemType::HBM) {
        bandwidth = numbers_.hbm_bytes_per_cycle;
    }
}

PlatformInfoManager& PlatformInfoManager::Instance()
{
    static PlatformInfoManager* const manager = new PlatformInfoManager();
    return *manager;
}

PlatformInfoManager::PlatformInfoManager()
{
    MachineNumbers numbers;
    uint64_t value = 0;
    if (const char* const soc = std::getenv("ASCEND_SIM_SOC")) {
        numbers.soc = soc;
    }
    if (PositiveNumber("ASCEND_SIM_CORES", value)) {
        numbers.cores_aiv = static_cast<uint32_t>(value);
        numbers.cores_aic = static_cast<uint32_t>((value + 1) / 2);
    }
    // The variable holds usable bytes, the description those of the memory.
    if (PositiveNumber("ASCEND_SIM_UB", value)) {
        numbers.ub_bytes = value + numbers.ub_reserved_bytes;
    }
    machine_.SetNumbers(numbers);
}

uint32_t PlatformInfoManager::GetPlatformInfos(const std::string& soc_version, PlatFormInfos& infos,
                                               OptionalInfos& optional)
{
    if (soc_version != machine_.GetNumbers().soc) {
        return 1;
    }
    return GetPlatformInfoWithOutSocVersion(infos, optional);
}

uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatFormInfos& infos, OptionalInfos& optional)
{
    infos = machine_;
    optional.SetSocVersion(machine_.GetNumbers().soc);
    optional.SetAICoreNum(machine_.GetNumbers().cores_aic);
    return 0;
}

uint32_t PlatformInfoManager::GetPlatformInfo(const std::string& soc_version, PlatformInfo& info,
                                              OptionalInfo& optional)
{
    const auto found = platform_info_map_.find(soc_version);
    if (found != platform_info_map_.end()) {
        info = found->second;
        optional.soc_version = soc_version;
        return 0;
    }
    return soc_version == machine_.GetNumbers().soc ? GetPlatformInfoWithOutSocVersion(info, optional) : 1;
}

uint32_t PlatformInfoManager::GetPlatformInfoWithOutSocVersion(PlatformInfo& info, OptionalInfo& optional)
{
    const auto found = platform_info_map_.find(chosen_);
    const MachineNumbers& numbers = machine_.GetNumbers();
    if (found != platform_info_map_.end()) {
        info = found->second;
        optional.soc_version = chosen_;
        return 0;
    }
    (void)machine_.GetPlatformRes("version", "Short_SoC_version", info.str_info.short_soc_version);
    (void)machine_.GetPlatformRes("version", "AIC_version", info.str_info.aic_version);
    info.soc_info.ai_core_cnt = numbers.cores_aic;
    info.soc_info.vector_core_cnt = numbers.cores_aiv;
    info.soc_info.memory_size = numbers.hbm_bytes;
    info.soc_info.l2_size = numbers.l2_bytes;
    info.ai_core_spec.cube_freq = numbers.cube_freq_mhz;
    info.ai_core_spec.vec_calc_size = 128;
    info.ai_core_spec.l0_a_size = numbers.l0a_bytes;
    info.ai_core_spec.l0_b_size = numbers.l0b_bytes;
    info.ai_core_spec.l0_c_size = numbers.l0c_bytes;
    info.ai_core_spec.l1_size = numbers.l1_bytes;
    info.ai_core_spec.ub_size = numbers.ub_bytes;
    info.ai_core_spec.ubblock_size = 32;
    info.ai_core_spec.cube_vector_split = 1;
    optional.soc_version = numbers.soc;
    optional.ai_core_num = numbers.cores_aic;
    return 0;
}

uint32_t PlatformInfoManager::GetPlatformInstanceByDevice(const uint32_t&, PlatFormInfos& infos)
{
    infos = machine_;
    return 0;
}
} // namespace fe

namespace platform_ascendc {
namespace {
constexpr uint32_t kMiB = 1024 * 1024;
// Bytes at the head of the workspace that the library keeps for itself on this architecture.
constexpr uint32_t kSystemWorkspaceBytes = 16 * kMiB;

struct ShortName {
    const char* name;
    SocVersion version;
};
const ShortName kShortNames[] = {
    {"Ascend910B", SocVersion::ASCEND910B}, {"Ascend910_93", SocVersion::ASCEND910B},
    {"Ascend950", SocVersion::ASCEND950},   {"Ascend310P", SocVersion::ASCEND310P},
    {"Ascend310B", SocVersion::ASCEND310B}, {"Ascend910", SocVersion::ASCEND910},
};

// Cores of a kind: a machine whose cores are split counts each kind, others do both kinds of work on every core.
uint32_t Cores(fe::PlatFormInfos& infos, const char* key)
{
    std::string kinds;
    (void)infos.GetPlatformRes("SoCInfo", "core_type_list", kinds);
    std::string number;
    (void)infos.GetPlatformRes("SoCInfo", kinds == "CubeCore,VectorCore" ? key : "ai_core_cnt", number);
    return static_cast<uint32_t>(std::strtoul(number.c_str(), nullptr, 10));
}
} // namespace

uint32_t PlatformAscendC::GetCoreNum() const
{
    return infos_->GetCoreNum();
}

uint32_t PlatformAscendC::GetCoreNumAic() const
{
    return Cores(*infos_, "cube_core_cnt");
}

uint32_t PlatformAscendC::GetCoreNumAiv() const
{
    return Cores(*infos_, "vector_core_cnt");
}

uint32_t PlatformAscendC::GetCoreNumVector() const
{
    // Only machines whose AI cores are joined by extra vector cores answer this one.
    std::string number;
    (void)infos_->GetPlatformRes("SoCInfo", "vector_core_cnt", number);
    return GetSocVersion() == SocVersion::ASCEND310P ? std::strtoul(number.c_str(), nullptr, 10) : 0;
}

uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const
{
    if (aic_core_num == 0 || aiv_core_num == 0 || aic_core_num > aiv_core_num) {
        return slice_num;
    }
    const uint32_t ratio = aiv_core_num / aic_core_num;
    return (slice_num + ratio - 1) / ratio;
}

uint32_t PlatformAscendC::CalcTschNumBlocks(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const
{
    return CalcTschBlockDim(slice_num, aic_core_num, aiv_core_num);
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const
{
    const NpuArch arch = GetCurNpuArch();
    if (arch == NpuArch::DAV_RESV) {
        return UINT32_MAX; // a machine that does not say what it is
    }
    return arch == NpuArch::DAV_2201 || arch == NpuArch::DAV_3510 ? kSystemWorkspaceBytes : 2 * kMiB;
}

uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const
{
    return kMiB;
}

uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const
{
    return kMiB;
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& size) const
{
    if (type == CoreMemType::FB || type == CoreMemType::BT) {
        std::string text;
        (void)infos_->GetPlatformRes("AICoreSpec", type == CoreMemType::FB ? "fb0_size" : "bt_size", text);
        size = std::strtoull(text.c_str(), nullptr, 10);
        return;
    }
    infos_->GetLocalMemSize(static_cast<fe::LocalMemType>(type), size);
    // This chip keeps a little of both memories for itself; it is known by its name, not by its architecture.
    const bool keeps =
        GetSocVersion() == SocVersion::ASCEND910B && (type == CoreMemType::UB || type == CoreMemType::L1);
    uint64_t taken = keeps ? infos_->GetNumbers().ub_reserved_bytes : 0;
    if (type == CoreMemType::UB) {
        taken += reserved_ub_bytes_;
    }
    // Smaller than that wraps around, as in the original.
    size -= taken;
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const
{
    infos_->GetLocalMemBw(static_cast<fe::LocalMemType>(type), bandwidth);
}

void PlatformAscendC::ReserveLocalMemory(ReservedSize size)
{
    constexpr uint32_t kKiB = 1024;
    reserved_ub_bytes_ = size == ReservedSize::RESERVED_SIZE_8K  ? 8 * kKiB :
                         size == ReservedSize::RESERVED_SIZE_16K ? 16 * kKiB :
                                                                   32 * kKiB;
}

SocVersion PlatformAscendC::GetSocVersion() const
{
    std::string name;
    (void)infos_->GetPlatformRes("version", "Short_SoC_version", name);
    for (const ShortName& row : kShortNames) {
        if (name == row.name) {
            return row.version;
        }
    }
    return SocVersion::RESERVED_VERSION;
}

NpuArch PlatformAscendC::GetCurNpuArch() const
{
    std::string number;
    (void)infos_->GetPlatformRes("version", "NpuArch", number);
    const unsigned long arch = std::strtoul(number.c_str(), nullptr, 10);
    return arch == 0 ? NpuArch::DAV_RESV : static_cast<NpuArch>(arch);
}

uint32_t PlatformAscendC::GetVecRegLen() const
{
    return 0;
}

PlatformAscendC* PlatformAscendCManager::GetInstance()
{
    static PlatformAscendC* const platform =
        new PlatformAscendC(&fe::PlatformInfoManager::Instance().Machine());
    return platform;
}

PlatformAscendC* PlatformAscendCManager::GetInstance(const char*)
{
    return GetInstance();
}
} // namespace platform_ascendc
