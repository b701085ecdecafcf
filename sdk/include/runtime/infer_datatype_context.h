// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_INFER_DATATYPE_CONTEXT_H
#define ASCEND_SDK_RUNTIME_INFER_DATATYPE_CONTEXT_H

#include "exe_graph/runtime/infer_datatype_context.h"

#endif
