// Host half of the library: platform queries and the classes that library functions are tiled by.
#ifndef ASCEND_SDK_TILING_TILING_API_H
#define ASCEND_SDK_TILING_TILING_API_H

#include "exe_graph/runtime/tiling_context.h"
#include "graph/types.h"
#include "register/tilingdata_base.h"
#include "tiling/library_tiling_classes.h"
#include "tiling/platform/platform_ascendc.h"

#endif
