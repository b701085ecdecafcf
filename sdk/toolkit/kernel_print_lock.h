// Output of cores needs no lock: they take turns in one thread.
#ifndef ASCENDSIM_TOOLKIT_KERNEL_PRINT_LOCK_H
#define ASCENDSIM_TOOLKIT_KERNEL_PRINT_LOCK_H

namespace AscendC {
class KernelPrintLock {
public:
    static KernelPrintLock* GetLock()
    {
        static KernelPrintLock lock;
        return &lock;
    }
    static void FreeLock() {}
    void Lock() {}
    void Unlock() {}
};
}  // namespace AscendC

#endif
