// What older operators take from the toolkit's helpers for tiling functions: compile info in the parse context, and the
// check macros.
#ifndef ASCEND_SDK_RUNTIME2_UTIL_H
#define ASCEND_SDK_RUNTIME2_UTIL_H

#include "error_log.h"
#include "register/op_impl_registry.h"

#ifndef OPS_CHECK_NULL_WITH_CONTEXT
#define OPS_CHECK_NULL_WITH_CONTEXT(context, ptr) OP_CHECK_NULL_WITH_CONTEXT(context, ptr)
#endif

namespace optiling {
template <typename T>
T* GetCompileInfoPtr(gert::TilingParseContext* context)
{
    return context->GetCompiledInfo<T>();
}
} // namespace optiling

#endif
