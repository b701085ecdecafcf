// The toolkit's name for what is in ascendc/matmul/config.h.
#ifndef ADV_API_MATMUL_CONSTANT_TILING_H
#define ADV_API_MATMUL_CONSTANT_TILING_H

#include "ascendc/matmul/config.h"

#endif
