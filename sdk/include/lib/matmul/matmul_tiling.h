// The toolkit's name for what is in tiling/matmul_tiling.h.
#ifndef LIB_MATMUL_MATMUL_TILING_H
#define LIB_MATMUL_MATMUL_TILING_H

#include "tiling/matmul_tiling.h"

#endif
