// A failed check of the toolkit's headers ends the block with a fault and not the process with a signal.
#ifndef ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H
#define ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H

namespace AscendC {
class KernelRaise {
public:
    static KernelRaise& GetInstance()
    {
        static KernelRaise instance;
        return instance;
    }
    void Raise(int signal);
};
}  // namespace AscendC

#endif
