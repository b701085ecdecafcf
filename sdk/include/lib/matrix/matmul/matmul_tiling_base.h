// The toolkit's name for what is in tiling/matmul_tiling.h.
#ifndef LIB_MATRIX_MATMUL_MATMUL_TILING_BASE_H
#define LIB_MATRIX_MATMUL_MATMUL_TILING_BASE_H

#include "tiling/matmul_tiling.h"

#endif
