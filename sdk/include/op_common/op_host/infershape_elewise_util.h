// Shape inference of elementwise operators with one input.
#ifndef ASCEND_SDK_OPBASE_INFERSHAPE_ELEWISE_UTIL_H
#define ASCEND_SDK_OPBASE_INFERSHAPE_ELEWISE_UTIL_H

#include "exe_graph/runtime/infer_shape_context.h"
#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
// Output 0 gets the shape of input 0.
OPBASE_API ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context);
} // namespace Base
} // namespace Ops

#endif
