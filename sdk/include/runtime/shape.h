// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_SHAPE_H
#define ASCEND_SDK_RUNTIME_SHAPE_H

#include "exe_graph/runtime/shape.h"

#endif
