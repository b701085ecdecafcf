// Internal to the library; see launch_trace.cpp.
#ifndef ASCENDSIM_LAUNCH_TRACE_H
#define ASCENDSIM_LAUNCH_TRACE_H

#include "machine/machine.h"

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

/// Chunks before the records of a launch.
void WriteOpening(const LaunchInfo& info);
/// Chunks after them.
void WriteClosing();
/// From here on a process that writes more than it may says where its kernel is before it dies of that.
void WatchTraceLimit();

}  // namespace machine
}  // namespace ascendsim

#endif
