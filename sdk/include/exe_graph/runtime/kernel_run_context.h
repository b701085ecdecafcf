// The name under which older sources include what a registered function is given.
#ifndef ASCEND_SDK_EXE_GRAPH_KERNEL_RUN_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_KERNEL_RUN_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

#endif
