// Workspace: memory in GM that the framework hands to a kernel.
#ifndef ASCENDC_WORKSPACE_H
#define ASCENDC_WORKSPACE_H

#include "ascendc/data_copy.h"
#include "ascendc/tque.h"
#include "ascendc/vec_duplicate.h"

namespace AscendC {

/// Behind what the system keeps of the workspace for itself, on cores of every kind: the tiling function asks for that too
/// (GetLibApiWorkSpaceSize). What lies there is out of bounds where it did not.
ASC_API GM_ADDR GetUserWorkspace(GM_ADDR workspace)
{
    return workspace != nullptr ? workspace + RESERVED_WORKSPACE : workspace;
}

namespace detail {
/// What SetSysWorkspace was given; all cores of a launch have the same.
static GM_ADDR g_sysWorkspace = nullptr;
static uint8_t g_noWorkspace = 0;
}  // namespace detail
ASC_API void SetSysWorkspace(GM_ADDR workspace) { detail::g_sysWorkspace = workspace; }
ASC_API void SetSysWorkSpacePtr(GM_ADDR workspace) { detail::g_sysWorkspace = workspace; }
ASC_API void SetSysWorkspaceForce(GM_ADDR workspace) { detail::g_sysWorkspace = workspace; }
/// Never null, because kernels take null for "no workspace". Nothing may be read or written where no workspace was set: such
/// an access is a fault.
ASC_API GM_ADDR GetSysWorkSpacePtr()
{
    return detail::g_sysWorkspace != nullptr ? detail::g_sysWorkspace : &detail::g_noWorkspace;
}

/// Fills `size` elements of GM with `value`, by transfers of a constant from the end of the Unified Buffer.
template <typename T>
ASC_API void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0)
{
    LocalTensor<T> fill;
    PopStackBuffer<T, TPosition::LCM>(fill);
    constexpr uint32_t limit = MAX_REPEAT_TIMES * ONE_BLK_SIZE * 8 / sizeof(T);
    uint32_t room = fill.GetSize() < limit ? fill.GetSize() : limit;
    room = room / (ONE_BLK_SIZE / sizeof(T)) * (ONE_BLK_SIZE / sizeof(T));
    if (room == 0) {
        ascendsim::Fault("ub_overflow", "InitOutput: no room left in the Unified Buffer");
        return;
    }
    Duplicate(fill, value, static_cast<int32_t>(room < size ? room : size));
    detail::Order(HardEvent::V_MTE3);
    for (uint32_t done = 0; done < size; done += room) {
        const uint32_t now = size - done < room ? size - done : room;
        DataCopyPad(
            gmWorkspaceAddr[done], fill, DataCopyExtParams(1, now * static_cast<uint32_t>(sizeof(T)), 0, 0, 0));
    }
    detail::Order(HardEvent::MTE3_V);
}
template <typename T>
ASC_API void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value)
{
    InitOutput<T>(gmWorkspaceAddr, static_cast<uint32_t>(size), value);
}
template <typename T>
ASC_API void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value)
{
    InitOutput<T>(gmWorkspaceAddr, static_cast<uint32_t>(size), value);
}

}  // namespace AscendC

#endif
