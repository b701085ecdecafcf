// Host half of the high-level library. The platform queries are here; tiling of library objects (Matmul, SoftMax, ...)
// is no part of this SDK, and a source that calls it fails to compile with the name of what is missing.
#ifndef ASCEND_SDK_TILING_TILING_API_H
#define ASCEND_SDK_TILING_TILING_API_H

#include "exe_graph/runtime/tiling_context.h"
#include "graph/types.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

#endif
