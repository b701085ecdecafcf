// The last lines that host code logged.
#ifndef ASCEND_SDK_SRC_HOST_LOG_RING_H
#define ASCEND_SDK_SRC_HOST_LOG_RING_H

#include <cstddef>
#include <string>
#include <vector>

namespace ascendsim {
namespace host {
// Errors and other lines kept of each kind. Errors have a ring of their own so that chatter cannot push them out.
constexpr size_t kLogRingLines = 32;

// All kept lines in the order in which they were logged.
std::vector<std::string> RecentLogLines();
void ClearLogLines();
// Appends a finished line.
void AppendLogLine(int level, std::string line);
} // namespace host
} // namespace ascendsim

#endif
