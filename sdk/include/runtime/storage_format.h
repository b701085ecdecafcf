// The same header without its first directory, as some operators name it.
#ifndef ASCEND_SDK_RUNTIME_STORAGE_FORMAT_H
#define ASCEND_SDK_RUNTIME_STORAGE_FORMAT_H

#include "exe_graph/runtime/storage_format.h"

#endif
