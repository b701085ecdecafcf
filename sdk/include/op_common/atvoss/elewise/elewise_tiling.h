// Names of the elementwise templates' host side (see elewise_base_struct.h).
#ifndef ASCEND_SDK_ATVOSS_ELEWISE_TILING_H
#define ASCEND_SDK_ATVOSS_ELEWISE_TILING_H

#include <map>
#include <vector>

#include "exe_graph/runtime/tiling_context.h"
#include "op_common/atvoss/elewise/elewise_base_struct.h"
#include "op_common/log/log.h"

namespace Ops {
namespace Base {
struct ElewiseCompileInfo {
    uint64_t coreNum = 0;
    uint64_t ubSize = 0;
};
// Incomplete on purpose: what computes with it is for the other architecture.
class ElewiseBaseTiling;
} // namespace Base
} // namespace Ops

#endif
