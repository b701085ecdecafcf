// Synchronisation of pipes within a core and of cores with each other.
#ifndef ASCENDC_SYNC_H
#define ASCENDC_SYNC_H

#include "ascendc/tensor.h"
#include "ascendsim/isa.h"

namespace AscendC {

/// An ordered pair of pipes: the first sets a flag, the second waits for it.
enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V, MTE3_MTE1, MTE1_MTE3,
    MTE1_V, MTE2_M, M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3, S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S,
    MTE2_FIX, FIX_MTE2, FIX_S, M_S, FIX_MTE3, MTE1_FIX, FIX_MTE1, FIX_FIX, MAX
};
constexpr uint8_t EVENT_NUM = static_cast<uint8_t>(HardEvent::MAX);

namespace detail {

struct PipePair {
    pipe_t src;
    pipe_t dst;
};

constexpr PipePair PipesOf(HardEvent event)
{
    switch (event) {
        case HardEvent::MTE2_V: return {PIPE_MTE2, PIPE_V};
        case HardEvent::V_MTE2: return {PIPE_V, PIPE_MTE2};
        case HardEvent::MTE3_V: return {PIPE_MTE3, PIPE_V};
        case HardEvent::V_MTE3: return {PIPE_V, PIPE_MTE3};
        case HardEvent::MTE3_MTE2: return {PIPE_MTE3, PIPE_MTE2};
        case HardEvent::MTE2_MTE3: return {PIPE_MTE2, PIPE_MTE3};
        case HardEvent::S_V: return {PIPE_S, PIPE_V};
        case HardEvent::V_S: return {PIPE_V, PIPE_S};
        case HardEvent::S_MTE2: return {PIPE_S, PIPE_MTE2};
        case HardEvent::MTE2_S: return {PIPE_MTE2, PIPE_S};
        case HardEvent::S_MTE3: return {PIPE_S, PIPE_MTE3};
        case HardEvent::MTE3_S: return {PIPE_MTE3, PIPE_S};
        case HardEvent::V_V: return {PIPE_V, PIPE_V};
        case HardEvent::MTE2_MTE1: return {PIPE_MTE2, PIPE_MTE1};
        case HardEvent::MTE1_MTE2: return {PIPE_MTE1, PIPE_MTE2};
        case HardEvent::MTE1_M: return {PIPE_MTE1, PIPE_M};
        case HardEvent::M_MTE1: return {PIPE_M, PIPE_MTE1};
        case HardEvent::MTE3_MTE1: return {PIPE_MTE3, PIPE_MTE1};
        case HardEvent::MTE1_MTE3: return {PIPE_MTE1, PIPE_MTE3};
        case HardEvent::MTE2_M: return {PIPE_MTE2, PIPE_M};
        case HardEvent::M_MTE2: return {PIPE_M, PIPE_MTE2};
        case HardEvent::M_FIX: return {PIPE_M, PIPE_FIX};
        case HardEvent::FIX_M: return {PIPE_FIX, PIPE_M};
        case HardEvent::MTE2_FIX: return {PIPE_MTE2, PIPE_FIX};
        case HardEvent::FIX_MTE2: return {PIPE_FIX, PIPE_MTE2};
        case HardEvent::FIX_S: return {PIPE_FIX, PIPE_S};
        case HardEvent::M_S: return {PIPE_M, PIPE_S};
        case HardEvent::FIX_MTE3: return {PIPE_FIX, PIPE_MTE3};
        case HardEvent::MTE1_FIX: return {PIPE_MTE1, PIPE_FIX};
        case HardEvent::FIX_MTE1: return {PIPE_FIX, PIPE_MTE1};
        case HardEvent::FIX_FIX: return {PIPE_FIX, PIPE_FIX};
        default: return {PIPE_ALL, PIPE_ALL};  // between the vector and the matrix pipe: no core has both
    }
}

/// Whether the kind of core that is compiled for has a pipe.
constexpr bool HasPipe(pipe_t pipe)
{
    switch (pipe) {
        case PIPE_S:
        case PIPE_MTE2:
        case PIPE_MTE3: return true;
        case PIPE_V: return g_coreType == AIV;
        case PIPE_M:
        case PIPE_MTE1:
        case PIPE_FIX: return g_coreType == AIC;
        default: return false;
    }
}
constexpr bool HasPipes(PipePair pipes) { return HasPipe(pipes.src) && HasPipe(pipes.dst); }

// Flags between pipes of the other kind of core compile and do nothing, as in a mixed kernel.
ASC_API void SetFlag(HardEvent event, int32_t id)
{
    const PipePair pipes = PipesOf(event);
    if (pipes.src == pipes.dst) {
        if (HasPipe(pipes.src)) {
            pipe_barrier(pipes.src);
        }
    } else if (HasPipes(pipes)) {
        set_flag(pipes.src, pipes.dst, static_cast<event_t>(id));
    }
}
ASC_API void WaitFlag(HardEvent event, int32_t id)
{
    const PipePair pipes = PipesOf(event);
    if (pipes.src != pipes.dst && HasPipes(pipes)) {
        wait_flag(pipes.src, pipes.dst, static_cast<event_t>(id));
    }
}

}  // namespace detail

template <HardEvent event>
ASC_API void SetFlag(int32_t eventID)
{
    detail::SetFlag(event, eventID);
}
template <HardEvent event>
ASC_API void WaitFlag(int32_t eventID)
{
    detail::WaitFlag(event, eventID);
}

template <pipe_t pipe>
ASC_API void PipeBarrier()
{
    static_assert(pipe != PIPE_S, "PipeBarrier: PIPE_S has no barrier on NPU architecture 2201");
    if constexpr (pipe == PIPE_ALL || detail::HasPipe(pipe)) {
        pipe_barrier(pipe);
    }
}

template <MemDsbT kind>
ASC_API void DataSyncBarrier()
{
    dsb(static_cast<mem_dsb_t>(kind));
}

/// Cross-core flags that library synchronisation uses, for kernels that build messages themselves.
constexpr uint16_t SYNC_AIC_FLAG = 11;
constexpr uint16_t SYNC_AIV_FLAG = 12;
constexpr uint16_t SYNC_AIC_AIV_FLAG = 13;
constexpr uint16_t SYNC_AIV_ONLY_ALL = 14;
constexpr uint16_t SYNC_MODE_SHIFT_VALUE = 4;
constexpr uint16_t SYNC_FLAG_SHIFT_VALUE = 8;

namespace detail {
constexpr uint64_t CROSS_CORE_MODE_ALL_AIV = 0;
constexpr uint16_t CROSS_CORE_FLAG_ALL_AIV = 14;

ASC_API constexpr uint64_t CrossCoreMessage(uint64_t mode, uint64_t flagId)
{
    return 1u | ((mode & 3u) << 4) | ((flagId & 15u) << 8);
}
}  // namespace detail

/// Sets a cross-core flag when everything issued to `pipe` before has finished. Mode 0: all vector cores.
template <uint8_t modeId, pipe_t pipe>
ASC_API void CrossCoreSetFlag(uint16_t flagId)
{
    ffts_cross_core_sync(pipe, detail::CrossCoreMessage(modeId, flagId));
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
ASC_API void CrossCoreWaitFlag(uint16_t flagId)
{
    wait_flag_dev(flagId);
}

/// A flag between a cube core and its vector cores, of mode 2: from the one to both, or from both to the one.
template <pipe_t pipe>
ASC_API void NotifyEvent(uint16_t flagId)
{
    CrossCoreSetFlag<2, pipe>(flagId);
}
template <pipe_t pipe = PIPE_S>
ASC_API void WaitEvent(uint16_t flagId)
{
    CrossCoreWaitFlag<0, pipe>(flagId);
}

/// Where flags between cores lie. Kernels that are launched as a whole have it set for them.
ASC_API void SetSyncBaseAddr(uint64_t config) { set_ffts_base_addr(config); }

/// All vector cores of the launch wait for each other by a hardware flag; with `isAIVOnly` false cube cores do too.
template <bool isAIVOnly = true>
ASC_API void SyncAll()
{
    if constexpr (!isAIVOnly) {
        PipeBarrier<PIPE_ALL>();
        ascendsim::SyncAll(true);
    } else if constexpr (g_coreType == AIV) {
        PipeBarrier<PIPE_ALL>();
        ffts_cross_core_sync(
            PIPE_MTE3, detail::CrossCoreMessage(detail::CROSS_CORE_MODE_ALL_AIV, detail::CROSS_CORE_FLAG_ALL_AIV));
        wait_flag_dev(detail::CROSS_CORE_FLAG_ALL_AIV);
    }
}

/// The software form: on hardware every core polls counters in `gmWorkspace`; here the same all-core barrier stands
/// for the polling, whose number of rounds is not determined by the program.
template <bool isAIVOnly = true>
ASC_API void SyncAll(
    const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, const int32_t usedCores = 0)
{
    ascendsim::CheckOwnCounter(gmWorkspace.GetPhyAddr());
    (void)ubWorkspace;
    if (usedCores != 0 && usedCores != ascendsim::BlockNum()) {
        ascendsim::Fault("unsupported", "SyncAll: usedCores must be 0 or the number of blocks of the launch");
    }
    PipeBarrier<PIPE_ALL>();
    ascendsim::SyncAll();
}

/// Keeps the compiler from moving memory accesses; the core itself is not stopped.
ASC_API void Barrier() { asm volatile("" ::: "memory"); }

/// A flag between two pipes, for kernels that name the pipes themselves.
template <pipe_t src, pipe_t dst>
class TQueSync {
public:
    ASC_API void SetFlag(TEventID id) { set_flag(src, dst, static_cast<event_t>(id)); }
    ASC_API void WaitFlag(TEventID id) { wait_flag(src, dst, static_cast<event_t>(id)); }
};

}  // namespace AscendC

#endif
