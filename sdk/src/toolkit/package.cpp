// What kernel libraries built against a toolkit's headers take from the libraries of the CPU-debug package, under the
// names that those headers declare.
#include <cstdint>

#include "ascendsim/core.h"

#include "ascendsim/isa_registers.h"

namespace AscendC {

// The package carries out atomic stores in the headers where this is set; here the instructions do.
extern bool g_isAtomic;
bool g_isAtomic = false;
extern uint32_t g_atomicType;
uint32_t g_atomicType = 0;

// Hooks by which the headers tell the package's model which tensor the next instruction uses; ours know by the address.
void SetModelGatherbSrc0Tensor(uint64_t src0, const uint32_t length);
void SetModelScatterDst0Tensor(uint64_t dst0, const uint32_t length);
void SetModelDeqTensor(void* factors);
void SetModelBiasTensor(void* bias);
void SetIndexMatrix(void* index);
void SetModelGatherbSrc0Tensor(uint64_t, const uint32_t) {}
void SetModelScatterDst0Tensor(uint64_t, const uint32_t) {}
void SetModelDeqTensor(void*) {}
void SetModelBiasTensor(void*) {}
// This one has no other way to the instruction.
void SetIndexMatrix(void* index) { ::SetIndexMatrix(index); }

/// Orders the output of cores, which needs nothing where they take turns in one thread.
class ProcessLock {
public:
    int Read();
    int Write();
    int Unlock();
    void UnInit();
    static void FreeLock();
    static ProcessLock* CreateLock();

private:
    static ProcessLock* processLock;
};

ProcessLock* ProcessLock::processLock = nullptr;
int ProcessLock::Read() { return 0; }
int ProcessLock::Write() { return 0; }
int ProcessLock::Unlock() { return 0; }
void ProcessLock::UnInit() {}
void ProcessLock::FreeLock() {}
ProcessLock* ProcessLock::CreateLock()
{
    // The headers only call through it.
    static ProcessLock lock;
    return &lock;
}

namespace check {

/// Bytes of a memory by the headers' number: GM, UB, L1, L0A, L0B, L0C, BT, FB.
uint64_t GetHardWarebufferSize(uint8_t index)
{
    if (index == 0) {
        return uint64_t{1} << 20;
    }
    return ascendsim::OnChipSize(index == 1 ? 0u : index);
}

}  // namespace check
}  // namespace AscendC
