// The toolkit's name for what is in ascendc/matmul/config.h.
#ifndef LIB_MATRIX_MATMUL_CONSTANT_TILING_H
#define LIB_MATRIX_MATMUL_CONSTANT_TILING_H

#include "ascendc/matmul/config.h"

#endif
