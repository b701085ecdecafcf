// Functions of the CPU-debug package beside the instructions: hooks that a toolkit's queues and buffers call.
#ifndef ASCENDSIM_TOOLKIT_STUB_FUN_H
#define ASCENDSIM_TOOLKIT_STUB_FUN_H

#include "stub_def.h"

inline void AscendCQueCreate(uint8_t, uint8_t, uint8_t) {}
/// `count` buffers of `bytes` each, cut at an address in the running core's memory.
__attribute__((always_inline)) inline void AscendCBufInit(uint8_t, uint8_t, uint8_t count, uint64_t address, uint64_t bytes)
{
    const uint64_t from = address - reinterpret_cast<uint64_t>(ascendsim::UbBase());
    for (uint64_t i = 0; i < count && from + (i + 1) * bytes <= ascendsim::UbSize(); ++i) {
        constexpr uint32_t unifiedBuffer = 0;
        ascendsim::NoteBuffer(ascendsim::BufferEvent::kCut, unifiedBuffer, static_cast<uint32_t>(from + i * bytes),
                              static_cast<uint32_t>(bytes));
    }
}
inline void AscendCBufAlloc(uint8_t, uint8_t, uint64_t, uint64_t) {}
inline void AscendCBufFree(uint8_t, uint8_t, uint64_t, uint64_t) {}
inline void AscendCBufEnque(uint8_t, uint8_t, uint8_t, uint64_t) {}
inline void AscendCBufDeque(uint8_t, uint8_t, uint8_t, uint64_t) {}
inline void AscendCBufAbsAddr(uint8_t, uint64_t, uint64_t) {}
inline void AscendCBufGet(uint8_t, uint8_t, uint64_t, uint64_t) {}
inline void AscendCTBufPoolInit(uint8_t, uint64_t, uint64_t, uint64_t) {}
inline void AscendCUpdateTbufPoolStatus(uint64_t, bool) {}
inline void AscendCRecordPoolHierarchy(uint64_t, uint64_t) {}
inline void AscendCTBufPoolResetCheck(uint8_t, uint64_t, uint64_t, uint64_t) {}
inline void AscendCKernelBegin(const char*, int32_t, uint64_t*) {}
inline void AscendCKernelEnd(const char*, int32_t, uint64_t*) {}
inline void AscendCBlockBegin(int32_t, const char*, int32_t, const uint64_t*) {}
inline void AscendCBlockEnd(int32_t, const char*, int32_t, const uint64_t*) {}
inline void AscendCEnInterruptExit() {}
inline void AscendCUpdateVecMask(uint64_t, uint64_t) {}

/// Flags between blocks, which the headers keep in GM beside these: nothing more to do.
inline void __ib_set_stub(int32_t, int32_t, bool) {}
inline void __ib_wait_stub(int32_t, int32_t, bool) {}

/// All cores wait for each other, where the headers would count in shared memory.
inline void __sync_all_stub(int32_t, bool) { ascendsim::SyncAll(); }

#endif
