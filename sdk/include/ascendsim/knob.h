// Run-time values for tunables: a candidate's configuration without a rebuild.
#ifndef ASCENDSIM_KNOB_H
#define ASCENDSIM_KNOB_H

/// Value that the environment (ASCEND_SIM_KNOBS="name=int;name=int") gives to `name`, or `fallback`.
extern "C" long long ascend_tune_knob(const char* name, long long fallback);

#endif
