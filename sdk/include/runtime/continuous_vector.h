// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_CONTINUOUS_VECTOR_H
#define ASCEND_SDK_RUNTIME_CONTINUOUS_VECTOR_H

#include "exe_graph/runtime/continuous_vector.h"

#endif
