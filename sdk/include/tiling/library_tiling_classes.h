// Structures that library functions are tiled by, as tiling functions see them: classes with setters, in the namespace
// that operators' own tiling classes live in. The list is kernel_tiling/library_tilings.h.
#ifndef ASCEND_SDK_TILING_LIBRARY_TILING_CLASSES_H
#define ASCEND_SDK_TILING_LIBRARY_TILING_CLASSES_H

#include "register/tilingdata_base.h"

namespace optiling {
#define BEGIN_LIBRARY_TILING(name) BEGIN_TILING_DATA_DEF(name)
#define LIBRARY_TILING_FIELD(type, name) TILING_DATA_FIELD_DEF(type, name)
#define LIBRARY_TILING_ARRAY(type, count, name) TILING_DATA_FIELD_DEF_ARR(type, count, name)
#define LIBRARY_TILING_PART(type, name) TILING_DATA_FIELD_DEF_STRUCT(type, name)
#define END_LIBRARY_TILING END_TILING_DATA_DEF
#include "kernel_tiling/library_tilings.h"
} // namespace optiling

#endif
