// Runs the kernel of a call on the simulated machine.
#ifndef ASCEND_SDK_RUNNER_EXECUTE_H
#define ASCEND_SDK_RUNNER_EXECUTE_H

#include <string>

#include "call.h"
#include "machine/machine.h"
#include "tile.h"

namespace runner {
// The kernel library for a tiling key: its own, else that of "*". Empty when the job has neither.
std::string KernelFor(const Job& job, uint64_t tiling_key);

struct Execution {
    ascendsim::LaunchResult launch;
    bool guards_intact = true;
};

// Writes trace and outputs. Throws Failure.
Execution RunKernel(const Job& job, const Call& call, const Tiling& tiling, const std::string& kernel);
} // namespace runner

#endif
