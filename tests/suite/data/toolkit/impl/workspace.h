// Messages between cores in the library's part of the workspace: where it is, the package says.
#ifndef WORKSPACE_H
#define WORKSPACE_H

#define KERNEL_TASK_TYPE_DEFAULT(type) static_cast<void>(0)

__aicore__ uint8_t* GetSysWorkSpacePtr();

namespace AscendC {

#ifdef __MIX_CORE_AIC_RATION__
constexpr uint32_t MIX_NUM = __MIX_CORE_AIC_RATION__;
#else
constexpr uint32_t MIX_NUM = 2;
#endif

inline uint8_t* GetUserWorkspace(uint8_t* workspace) { return workspace; }

__aicore__ inline volatile uint32_t* Message()
{
    return reinterpret_cast<volatile uint32_t*>(GetSysWorkSpacePtr() + 64 * get_block_idx());
}

__aicore__ inline void clearWorkspace(uint8_t* workspace)
{
    if (g_coreType == AIC_TYPE) {
        *reinterpret_cast<volatile uint32_t*>(workspace + 64 * get_block_idx()) = 0;
        ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 15 << 8);
    }
}

}  // namespace AscendC

#endif
