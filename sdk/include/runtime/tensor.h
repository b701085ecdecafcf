// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_TENSOR_H
#define ASCEND_SDK_RUNTIME_TENSOR_H

#include "exe_graph/runtime/tensor.h"

#endif
