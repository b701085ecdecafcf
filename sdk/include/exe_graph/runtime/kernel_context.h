// Older entry point to the contexts.
#ifndef ASCEND_SDK_EXE_GRAPH_KERNEL_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_KERNEL_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

#endif
