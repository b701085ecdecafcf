// What an operator promises to those who call it: everything that its definition and its registration say.
#ifndef ASCEND_SDK_RUNNER_INTERFACE_H
#define ASCEND_SDK_RUNNER_INTERFACE_H

#include <string>
#include <vector>

#include "host/registry.h"

namespace runner {
// One line for every parameter, attribute, compute unit and dependence of an operator, for all machines, in the order in which it was
// registered. Two operators with the same lines can stand for each other wherever nothing but the interface counts.
std::vector<std::string> InterfaceOf(const std::string& type, const ascendsim::host::OpEntry& entry);
} // namespace runner

#endif
