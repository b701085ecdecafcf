// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_TILING_DATA_H
#define ASCEND_SDK_RUNTIME_TILING_DATA_H

#include "exe_graph/runtime/tiling_data.h"

#endif
