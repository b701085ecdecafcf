// A failed check of the toolkit's headers is a fault of the running core and not a signal to the process.
#ifndef ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H
#define ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H

#include <csignal>

/// Keeps the message of a check that fails for the fault that follows.
extern "C" __attribute__((cold)) void ascend_sim_check_message(const char* format, ...);

/// The fault, at the place in the kernel that called what was checked.
extern "C" __attribute__((cold)) void ascend_sim_check_failed();

namespace ascendsim {
namespace toolkit {
__attribute__((always_inline)) inline int Raise(int)
{
    ascend_sim_check_failed();
    return 0;
}
}  // namespace toolkit
}  // namespace ascendsim

namespace AscendC {
class KernelRaise {
public:
    static KernelRaise& GetInstance()
    {
        static KernelRaise instance;
        return instance;
    }
    void Raise(int signal) { ascendsim::toolkit::Raise(signal); }
};
}  // namespace AscendC

// The headers call it without a namespace.
#define raise(signal) ascendsim::toolkit::Raise(signal)

#endif
