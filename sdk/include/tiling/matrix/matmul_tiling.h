// The toolkit's name for what is in tiling/matmul_tiling.h.
#ifndef TILING_MATRIX_MATMUL_TILING_H
#define TILING_MATRIX_MATMUL_TILING_H

#include "tiling/matmul_tiling.h"

#endif
