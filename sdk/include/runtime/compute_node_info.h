// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_COMPUTE_NODE_INFO_H
#define ASCEND_SDK_RUNTIME_COMPUTE_NODE_INFO_H

#include "exe_graph/runtime/compute_node_info.h"

#endif
