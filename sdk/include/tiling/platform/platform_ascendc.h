// What Ascend C host code asks about the machine: cores, memory sizes, SoC.
#ifndef ASCEND_SDK_TILING_PLATFORM_ASCENDC_H
#define ASCEND_SDK_TILING_PLATFORM_ASCENDC_H

#include <csignal>
#include <cstdint>

#include "platform/soc_spec.h"

#ifndef ASCENDC_ASSERT
#define ASCENDC_ASSERT(cond, behavior) \
    do {                               \
        if (!(cond)) {                 \
            behavior;                  \
            (void)raise(SIGABRT);      \
        }                              \
    } while (0)
#endif

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {
enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND950,
    ASCEND910_55,
    ASCEND910_95 = ASCEND950,
    AS31XM1,
    ASCEND031,
    ASCEND035,
    ASCEND310,
    ASCEND610,
    ASCEND610Lite,
    ASCEND910_93,
    BS9SX1A,
    BS9SX2A,
    HI3796CV300CS,
    HI3796CV300ES,
    MC61AM21A,
    MC62,
    SD3403,
    KIRINX90,
    KIRIN9030,
    MC32DM11A,
    ASCEND350,
    RESERVED_VERSION = 99999
};

enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
public:
    PlatformAscendC() = delete;
    explicit PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {}

    // Vector cores of a machine with separate vector and cube cores, else its AI cores.
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;
    // Blocks to launch for `slice_num` vector cores' worth of work.
    uint32_t CalcTschBlockDim(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const;
    uint32_t CalcTschNumBlocks(uint32_t slice_num, uint32_t aic_core_num, uint32_t aiv_core_num) const;
    // Bytes at the head of the workspace that belong to the library.
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const;
    uint32_t GetResGroupBarrierWorkSpaceSize() const;
    void GetCoreMemSize(const CoreMemType& type, uint64_t& size) const;
    // Bytes per cycle.
    void GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const;
    void ReserveLocalMemory(ReservedSize size);
    SocVersion GetSocVersion() const;
    NpuArch GetCurNpuArch() const;
    // Bytes of a vector register; this architecture has none.
    uint32_t GetVecRegLen() const;

private:
    fe::PlatFormInfos* infos_;
    uint32_t reserved_ub_bytes_ = 0;
};

class PlatformAscendCManager {
public:
    // The machine that this process simulates; `soc_version` is ignored because there is only one.
    static PlatformAscendC* GetInstance();
    static PlatformAscendC* GetInstance(const char* soc_version);
};
} // namespace platform_ascendc

#endif
