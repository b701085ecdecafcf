// Small helpers of tiling functions. The standard containers come along because callers rely on them.
#ifndef ASCEND_SDK_OPBASE_TILING_BASE_UTIL_H
#define ASCEND_SDK_OPBASE_TILING_BASE_UTIL_H

#include <set>

#include "platform/soc_spec.h"
#include "register/op_impl_registry.h"

namespace Ops {
namespace Base {
// True on architectures whose vector unit works on registers (none that is simulated).
bool IsRegbaseSocVersion(const gert::TilingParseContext* context);
bool IsRegbaseSocVersion(const gert::TilingContext* context);
// The shape itself, or {1} for a scalar.
const gert::Shape& EnsureNotScalar(const gert::Shape& shape);
} // namespace Base
} // namespace Ops

#endif
