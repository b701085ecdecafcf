// What kernel libraries built against a toolkit's headers take from the CPU-debug package's libraries.
#include "ascendsim/core.h"

/// Stands for every check function of the package: the instructions check their operands themselves.
extern "C" bool ascend_sim_check_passed() { return true; }
