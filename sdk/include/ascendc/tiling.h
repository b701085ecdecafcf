// Tiling keys on the kernel side, and the macros that the operator compiler looks for.
#ifndef ASCENDC_TILING_H
#define ASCENDC_TILING_H

#include "ascendc/tensor.h"
#include "ascendsim/tiling_data.h"

/// Compares with the key that the tiling function chose. Legal in `if TILING_KEY_IS(1) {` too.
// A library of one key knows it when it is compiled, so that the code of all other keys is left out.
#ifdef TILING_KEY_VAR
#define TILING_KEY_IS(k) (static_cast<uint64_t>(TILING_KEY_VAR) == static_cast<uint64_t>(k))
#else
#define TILING_KEY_IS(k) (::ascendsim::TilingKey() == static_cast<uint64_t>(k))
#endif

// Announcements to the operator compiler; the builder reads them from the source text.
#define REGISTER_TILING_DEFAULT(StructType)
#define REGISTER_TILING_FOR_TILINGKEY(expression, StructType)
#define REGISTER_NONE_TILING
#define KERNEL_TASK_TYPE(key, value)
#define KERNEL_TASK_TYPE_DEFAULT(value)

#endif
