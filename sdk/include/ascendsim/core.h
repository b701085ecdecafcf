// What kernel-side headers may ask of the core that is running them.
#ifndef ASCENDSIM_CORE_H
#define ASCENDSIM_CORE_H

#include <cstddef>
#include <cstdint>

namespace ascendsim {

/// Announces a scalar read of `bytes` at `ptr` (UB or GM), just before it is made. False means that the
/// range is not the kernel's: the fault is recorded already and the access must be left out (use zero).
bool ScalarRead(const void* ptr, size_t bytes);
/// Announces a scalar write; see ScalarRead.
bool ScalarWrite(const void* ptr, size_t bytes);
/// Announces the scalar write of a known value. False also in a launch that is only timed: the write must be left out.
bool ScalarStore(const void* ptr, const void* value, size_t bytes);
/// False in a launch that is only timed: memory has no content there, and an announced write is not made. What is announced
/// as a read does not come back there.
bool TouchesData();
/// Says that the comparison mask register has been loaded with `bytes` bytes at `value`, repeated: where there is no memory, a
/// constant does not get there by way of it.
void LoadedCmpMask(const void* value, size_t bytes);
/// Copies tiling data from GM word by word with the scalar unit, announced as ScalarRead does.
void ReadTilingWords(void* to, const void* from, size_t bytes);
/// Says that the line at `ptr` goes to the data cache, where it stays as it is now. Costs a scalar operation.
void PreloadLine(const void* ptr);
/// Adds `count` generic scalar operations to the current stretch of scalar work.
void ScalarOps(uint32_t count);

/// Records API misuse. `kind` is a name from the fault table of the trace format ("queue_misuse",
/// "ub_overflow", ...). "deadlock" and "unsupported" end the block and do not return.
void Fault(const char* kind, const char* message);
/// Where the caller stands, for what only turns out to be misuse later (FaultAt).
uint64_t Site();
/// A fault whose cause is at `site` and not where it is found.
void FaultAt(uint64_t site, const char* kind, const char* message);
/// A core meets others in software: records misuse where its own counter, of 32 bytes behind those of the blocks before it, holds
/// anything but zeros.
void CheckOwnCounter(const void* counters);
/// Records an informational text.
void Note(const char* message);

/// What happens to bytes that queues and buffers are cut from: they become a buffer, are handed out, are given back, and with
/// kForgotten none of that holds any more. kPipeInObject is about the pipe that cuts them.
enum class BufferEvent : uint32_t { kCut = 0, kTaken, kFreed, kForgotten, kPipeInObject };
/// Records it, for whoever looks for uses after the giving back. `space` is the memory's number in the trace.
void NoteBuffer(BufferEvent what, uint32_t space, uint32_t address, uint32_t bytes);
/// A pipe object is made by the function `maker`: by the kernel's entry as a variable, or by a constructor as a member of an
/// operator's object, which then has its address known outside and keeps the compiler from folding its other members.
void NotePipe(const char* maker);
/// The function that an object is made in. Kernels can't name this type, and so can't say another.
struct Maker {
    explicit constexpr Maker(const char* name) : function(name) {}
    const char* function;
};

int64_t BlockIdx();
int64_t BlockNum();
uint64_t TilingKey();
/// Number of vector cores of the machine.
int64_t CoreCount();

/// First byte of the running core's Unified Buffer and its usable size in bytes.
uint8_t* UbBase();
size_t UbSize();
/// Bytes behind the usable ones that the API floor may use for its own short-lived values (select masks).
constexpr size_t kUbReservedBytes = 256;
inline uint8_t* UbReserved() { return UbBase() + UbSize(); }
/// Any on-chip memory of the running core by its number in the trace: 0 UB, 2 L1, 3 L0A, 4 L0B, 5 L0C, 6 BT, 7 FB.
uint8_t* OnChipBase(uint32_t space);
size_t OnChipSize(uint32_t space);
/// True on a cube core, false on a vector core.
bool OnCubeCore();
/// Says that the program has code in which the kind of core is a constant. Returns its argument.
bool CompiledFor(bool cube);
/// Position of a vector core in its group (0 on a cube core) and the number of vector cores of a group (1 without groups).
int64_t SubBlockIdx();
int64_t SubBlockDim();
/// True when the launch has both kinds of cores.
bool OnMixedCores();
/// True when [ptr, ptr + bytes) lies in the running core's Unified Buffer.
bool InUb(const void* ptr, size_t bytes);
/// Bytes from `ptr` to the end of its GM region, or 0 when it is in none.
size_t GmBytesFrom(const void* ptr);

/// True while a kernel is running, false in host code.
bool InLaunch();

/// All cores of the running core's kind wait for each other, with `everybody` those of both kinds.
void SyncAll(bool everybody = false);
/// Gives the other blocks a turn. For code that polls memory until another block has written it; polling that nothing can
/// end is a deadlock fault.
void Yield();
/// Waits until the word at `flag` in global memory is `expected`, then makes it `next`. Whoever gets past it comes after whoever
/// passed the same flag before: the trace says so, and the word itself is no access of either.
void PassFlag(int32_t* flag, int32_t expected, int32_t next);

/// GM transfers carry the L2 bypass hint while this is set (SetL2CacheHint with CACHE_MODE_DISABLE).
void SetL2Bypass(bool bypass);

/// Slot that the API floor uses for the pipe object of the running block (GetTPipePtr).
void*& CorePipeSlot();

}  // namespace ascendsim

/// Registers a function that is called, on the core concerned, whenever another core than before starts or goes on. For
/// state that has to point at the running core's memories.
extern "C" void ascend_sim_on_core(void (*callback)(void*), void* arg);

#endif
