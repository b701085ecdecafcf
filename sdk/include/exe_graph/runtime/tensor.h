// Older name of exe_graph/runtime/runtime_tensor.h.
#ifndef ASCEND_SDK_EXE_GRAPH_TENSOR_H
#define ASCEND_SDK_EXE_GRAPH_TENSOR_H

#include "exe_graph/runtime/runtime_tensor.h"

#endif
