// Run-time values for tunables: a candidate's configuration without a rebuild.
#ifndef ASCENDSIM_KNOB_H
#define ASCENDSIM_KNOB_H

// Before everything else: kernels are compiled with the C library's memory functions in the place of the compiler's own.
#include <string.h>

/// Value that the environment (ASCEND_SIM_KNOBS="name=int;name=int") gives to `name`, or `fallback`.
extern "C" long long ascend_tune_knob(const char* name, long long fallback);

#endif
