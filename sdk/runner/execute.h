// Runs the kernel of a call on the simulated machine.
#ifndef ASCEND_SDK_RUNNER_EXECUTE_H
#define ASCEND_SDK_RUNNER_EXECUTE_H

#include <string>

#include "call.h"
#include "machine/machine.h"
#include "tile.h"

namespace runner {
// What serves a tiling key: its own entries of the job, else those of "*".
struct KernelChoice {
    ascendsim::KernelType type = ascendsim::KernelType::kAiv;
    std::string vector; // library for vector cores, empty when the type has none
    std::string cube;   // library for cube cores, likewise
    std::string missing; // why it cannot run; empty when it can
};
KernelChoice KernelFor(const Job& job, uint64_t tiling_key);

struct Execution {
    ascendsim::LaunchResult launch;
    bool guards_intact = true;
};

// Writes trace and outputs. Throws Failure.
Execution RunKernel(const Job& job, const Call& call, const Tiling& tiling, const KernelChoice& choice);
} // namespace runner

#endif
