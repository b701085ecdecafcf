// Tiling structures of the toolkit's own matrix and softmax functions would be declared here; this SDK has none of those
// functions. The header exists because kernels include it beside their own tiling structures.
#ifndef KERNEL_TILING_KERNEL_TILING_H
#define KERNEL_TILING_KERNEL_TILING_H

#include "ascendsim/types.h"

#endif
