// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_RUNTIME_ATTRS_H
#define ASCEND_SDK_RUNTIME_RUNTIME_ATTRS_H

#include "exe_graph/runtime/runtime_attrs.h"

#endif
