// Language words, types and per-core variables that a toolkit's CPU-debug headers expect from the
// CPU-debug package. Found under this name by the toolkit's own includes; everything here is mapped
// onto ascendsim.
#ifndef ASCENDSIM_TOOLKIT_STUB_DEF_H
#define ASCENDSIM_TOOLKIT_STUB_DEF_H

#include <array>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ascendsim/core.h"
#include "ascendsim/isa.h"
#include "ascendsim/types.h"
#include "kernel_print_lock.h"
#include "kernel_raise_signal.h"

// The headers' functions must be inlined: an instruction then sees a return address inside the kernel, as with the API
// floor's own. core_switch.h gives kernels the empty word back.
#undef __aicore__
#define __aicore__ __attribute__((always_inline))

// Words that ascendsim/types.h leaves to the API floor.
#define __host__
#define __host_aicore__
#define ASCENDC_HOST_AICORE
#define __VEC_SCOPE__
#define __callee__
#define __sync_out__
#define __sync_in__
#define __simt_callee__
#define __simt_vf__
#define __simd_callee__
#define __simd_vf__
#define __kfc_workspace__
#define LAUNCH_BOUND(x)
#define Mode_Zeroing_Type Literal
#define ARG_STEP 0x1000000000000000

// Vector registers exist on other architectures only; the headers name the types everywhere.
using vector_u8 = std::array<uint8_t, 256>;
using vector_s8 = std::array<int8_t, 256>;
using vector_u16 = std::array<uint16_t, 128>;
using vector_s16 = std::array<int16_t, 128>;
using vector_u32 = std::array<uint32_t, 64>;
using vector_s32 = std::array<int32_t, 64>;
using vector_u64 = std::array<uint64_t, 32>;
using vector_s64 = std::array<int64_t, 32>;
using vector_2xvl_u64 = std::array<uint64_t, 32>;
using vector_2xvl_s64 = std::array<int64_t, 32>;
using vector_f16 = std::array<half, 128>;
using vector_bf16 = std::array<bfloat16_t, 128>;
using vector_f32 = std::array<float, 64>;
using vector_f8e4m3 = std::array<fp8_e4m3fn_t, 256>;
using vector_f8e5m2 = std::array<fp8_e5m2_t, 256>;
using vector_f8e8m0 = std::array<fp8_e8m0_t, 256>;
using vector_hif8 = std::array<hifloat8_t, 256>;
using vector_f4e2m1x2 = std::array<fp4x2_e2m1_t, 256>;
using vector_f4e1m2x2 = std::array<fp4x2_e1m2_t, 256>;
using vector_s4x2 = std::array<int4x2_t, 256>;

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };
enum class SocVersion { VER_100 = 100, VER_200 = 200, VER_220 = 220, VER_310 = 310, VER_510 = 510, VER_MAX = 0xFFFFFF };

using ArgInfoT = struct ArgInfoT {
    std::string argType;
    std::vector<uint8_t*> addrList;
};

// What differs between cores. Every kernel library has its own copies, set whenever one of its cores gets its turn.
inline int64_t block_idx = 0;
inline int64_t block_num = 1;
inline int32_t sub_block_idx = 0;
inline int32_t g_taskRation = 1;
#if defined(__DAV_C220_CUBE__)
inline int32_t g_coreType = 1;
#else
inline int32_t g_coreType = 2;
#endif
inline uint64_t g_tilingKey = 0;
inline int64_t g_ubBase = 0;
inline int32_t g_matmulCount = 0;
inline uint64_t* g_workspaceSharedPtr = nullptr;
inline uint64_t g_fullSizeOfWorkspace = 0;
inline uint64_t g_fixpipeNdNzParam = 0;
inline KernelMode g_kernelMode = KernelMode::AIV_MODE;
inline SocVersion g_socVersion = SocVersion::VER_220;
inline int32_t g_mainPid = 0;
inline int32_t g_processNum = 1;

inline std::string& GetStrCoreType()
{
    static std::string name;
    return name;
}

namespace AscendC {

inline constexpr int MIX_TYPE = 0;
inline constexpr int AIC_TYPE = 1;
inline constexpr int AIV_TYPE = 2;
inline constexpr int PAGE_SIZE = 4096;
inline constexpr uint64_t ONE_GIGABYTE = uint64_t{1} << 30;
constexpr int32_t FLAG_NUM = 16;
constexpr int32_t MAX_CORE_NUM_V220 = 25;
constexpr int32_t MIX_IN_GROUP_CORE_NUM = 3;
constexpr int32_t AIV_IN_GROUP_CORE_NUM = 2;
constexpr uint64_t FFTS_MODE_BITS = 3;
constexpr uint64_t FFTS_FLAG_BITS = 15;
constexpr uint64_t FFTS_FLAG_CONFIG_BIT_POSITION = 8;
constexpr uint64_t FFTS_MODE_CONFIG_BIT_POSITION = 4;
constexpr int32_t INTER_BLOCK_MODE = 0;
constexpr int32_t INTER_SUBBLOCK_MODE = 1;
constexpr int32_t INTRA_GROUP_MODE = 2;
constexpr int32_t FFTS_THRESHOLD = 16;
constexpr int32_t FFTS_COUNTER_NUM = 2;
inline bool g_isVdeq = false;

inline void InitSocVersion() {}
inline void SetGCoreType(int type) { g_coreType = type; }
inline void SetKernelMode(KernelMode mode) { g_kernelMode = mode; }
inline void CheckSyncState() {}

}  // namespace AscendC

#endif
