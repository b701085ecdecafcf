// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_EXTENDED_KERNEL_CONTEXT_H
#define ASCEND_SDK_RUNTIME_EXTENDED_KERNEL_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

#endif
