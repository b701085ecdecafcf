// Shape inference of operators whose inputs are broadcast against each other.
#ifndef ASCEND_SDK_OPBASE_INFERSHAPE_BROADCAST_UTIL_H
#define ASCEND_SDK_OPBASE_INFERSHAPE_BROADCAST_UTIL_H

#include <cstddef>
#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"
#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
// Output 0 gets the broadcast of the first two (or `inputNum`) inputs.
OPBASE_API ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context);
OPBASE_API ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context, size_t inputNum);
// False when the shapes do not go together.
OPBASE_API bool BroadcastShape(const gert::Shape* in1Shape, const gert::Shape* in2Shape, gert::Shape* outShape);
OPBASE_API bool BroadcastShape(const std::vector<const gert::Shape*>& inShapes, gert::Shape* outShape);
} // namespace Base
} // namespace Ops

#endif
