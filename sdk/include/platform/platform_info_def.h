// The older, plain form of a machine description. Sources that include it use names of the standard library without
// qualification, which this header is known to bring in.
#ifndef ASCEND_SDK_PLATFORM_INFO_DEF_H
#define ASCEND_SDK_PLATFORM_INFO_DEF_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

using std::map;
using std::string;
using std::vector;

namespace fe {
enum MemoryType { DDR = 0, HBM };
enum L2Type { Cache = 0, Buff };

struct StrInfo {
    std::string aic_version;
    std::string ccec_aic_version;
    std::string ccec_aiv_version;
    std::string is_support_ai_cpu_compiler;
    std::string short_soc_version;
};

// Sizes in bytes.
struct SoCInfo {
    uint32_t ai_core_cnt = 0;
    uint32_t vector_core_cnt = 0;
    uint32_t ai_cpu_cnt = 0;
    MemoryType memory_type = HBM;
    uint64_t memory_size = 0;
    L2Type l2_type = Cache;
    uint64_t l2_size = 0;
};
struct AiCoreSpec {
    double cube_freq = 0;
    uint64_t vec_calc_size = 0;
    uint64_t l0_a_size = 0;
    uint64_t l0_b_size = 0;
    uint64_t l0_c_size = 0;
    uint64_t l1_size = 0;
    uint64_t ub_size = 0;
    uint64_t ubblock_size = 0;
    uint8_t cube_vector_split = 0;
};
struct PlatformInfo {
    StrInfo str_info;
    SoCInfo soc_info;
    AiCoreSpec ai_core_spec;
    std::map<std::string, std::vector<std::string>> ai_core_intrinsic_dtype_map;
    std::map<std::string, std::vector<std::string>> vector_core_intrinsic_dtype_map;
};
struct OptionalInfo {
    std::string soc_version;
    std::string core_type;
    uint32_t ai_core_num = 0;
    std::string l1_fusion_flag;
};
} // namespace fe

#endif
