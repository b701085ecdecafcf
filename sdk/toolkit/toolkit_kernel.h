// What every kernel library of the second door begins with. The builder keeps it compiled.
#ifndef ASCENDSIM_TOOLKIT_TOOLKIT_KERNEL_H
#define ASCENDSIM_TOOLKIT_TOOLKIT_KERNEL_H

#include "ascendsim/knob.h"

#include "lean_checks.h"
#include "scratch_fill.h"

#include "kernel_operator.h"

#undef default_random_engine

#include "scalar_functions.h"

#include "core_switch.h"

// A queue of position VECCALC has no position among those that the headers map to memories (it becomes TPosition::MAX). On a
// device its buffers are in the unified buffer all the same; in CPU-debug headers, looking it up would end the process.
#ifdef ASCENDC_MODULE_UTILS_MODE_CPU_H
namespace ascendsim {
namespace toolkit {
inline const bool g_scratchQueuesHaveAPlace = [] {
    // The map is a constant for the headers' own code. Nobody has looked into it yet when a library is loaded.
    auto& memories = const_cast<std::map<AscendC::TPosition, AscendC::Hardware>&>(
        AscendC::ConstDefiner::Instance().positionHardMap);
    return memories.emplace(AscendC::TPosition::MAX, AscendC::Hardware::UB).second;
}();
}  // namespace toolkit
}  // namespace ascendsim
#endif

#include "ascendsim/tiling_data.h"

#endif
