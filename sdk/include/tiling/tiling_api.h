// Host half of the library: platform queries, and what sizes the temporaries and tiles of library functions.
#ifndef ASCEND_SDK_TILING_TILING_API_H
#define ASCEND_SDK_TILING_TILING_API_H

#include <map>
#include <string>
#include <vector>

#include "exe_graph/runtime/tiling_context.h"
#include "graph/types.h"
#include "register/tilingdata_base.h"
#include "tiling/elementwise_buffers.h"
#include "tiling/library_shape.h"
#include "tiling/library_tiling_classes.h"
#include "tiling/matmul_tiling.h"
#include "tiling/normalization_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/rearrange_tiling.h"
#include "tiling/softmax_tiling.h"

// Host code opens this namespace and then names containers without their own.
namespace AscendC {
using std::map;
using std::string;
using std::vector;
} // namespace AscendC

#endif
