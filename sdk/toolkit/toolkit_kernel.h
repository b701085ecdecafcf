// What every kernel library of the second door begins with. The builder keeps it compiled.
#ifndef ASCENDSIM_TOOLKIT_TOOLKIT_KERNEL_H
#define ASCENDSIM_TOOLKIT_TOOLKIT_KERNEL_H

#include "ascendsim/knob.h"

#include "lean_checks.h"

#include "kernel_operator.h"

#include "core_switch.h"

#include "ascendsim/tiling_data.h"

#endif
