// Tiling keys on the kernel side, and the macros that the operator compiler looks for.
#ifndef ASCENDC_TILING_H
#define ASCENDC_TILING_H

#include "ascendc/tensor.h"
#include "ascendsim/tiling_data.h"

// A library of one key knows it when it is compiled, so that the code of all other keys is left out.
#ifdef TILING_KEY_VAR
#define ASCENDSIM_TILING_KEY TILING_KEY_VAR
#else
#define ASCENDSIM_TILING_KEY ::ascendsim::TilingKey()
#endif

/// Compares with the key that the tiling function chose. Legal in `if TILING_KEY_IS(1) {` too.
#define TILING_KEY_IS(k) (static_cast<uint64_t>(ASCENDSIM_TILING_KEY) == static_cast<uint64_t>(k))

// Announcements to the operator compiler; the builder reads them from the source text.
#define REGISTER_TILING_DEFAULT(StructType)
#define REGISTER_TILING_FOR_TILINGKEY(expression, StructType)
#define REGISTER_NONE_TILING
#define KERNEL_TASK_TYPE(key, value)
#define KERNEL_TASK_TYPE_DEFAULT(value)

#endif
