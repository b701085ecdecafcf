// A failed check of the toolkit's headers is a fault of the running core and not a signal to the process.
#ifndef ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H
#define ASCENDSIM_TOOLKIT_KERNEL_RAISE_SIGNAL_H

#include <csignal>

#include "ascendsim/core.h"

namespace ascendsim {
namespace toolkit {
inline int Raise(int)
{
    Fault("bad_argument", "a check of the toolkit's headers failed; its message stands in the output of the kernel");
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
