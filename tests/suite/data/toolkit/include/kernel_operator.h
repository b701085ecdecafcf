// A header set of our own in the shape of a toolkit's: what it does not define itself comes from the CPU-debug package,
// which is what the test is about.
#ifndef KERNEL_OPERATOR_H
#define KERNEL_OPERATOR_H

#if !defined(ASCENDC_CPU_DEBUG) || ASCENDC_CPU_DEBUG != 1
#error "these headers need the CPU-debug configuration"
#endif

#include <map>
#include <random>

#include "stub_def.h"
#include "stub_fun.h"
#include "../impl/memories.h"
#include "../impl/tile.h"
#include "../impl/with_scalar.h"
#include "../impl/workspace.h"

#endif
