// Unknown ranks and shapes, and the check of an axis.
#ifndef ASCEND_SDK_OPBASE_SHAPE_UTIL_H
#define ASCEND_SDK_OPBASE_SHAPE_UTIL_H

#include <cstdint>

#include "exe_graph/runtime/shape.h"
#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
// True when -rank <= axis < rank; a scalar has axis 0 only.
template <typename Rank, typename Axis>
bool CheckAxisBounds(const Rank rank, const Axis axis)
{
    const int64_t limit = static_cast<int64_t>(rank);
    const int64_t value = static_cast<int64_t>(axis);
    return limit == 0 ? value == 0 : value >= -limit && value < limit;
}

OPBASE_API void SetUnknownRank(gert::Shape& shape);
OPBASE_API bool IsUnknownRank(const gert::Shape& shape);
OPBASE_API void SetUnknownShape(int64_t rank, gert::Shape& shape);
OPBASE_API bool IsUnknownShape(const gert::Shape& shape);
} // namespace Base
} // namespace Ops

#endif
