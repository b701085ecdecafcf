// The toolkit's name for what is in tiling/normalization_tiling.h.
#ifndef LIB_NORMALIZATION_RMSNORM_TILING_H
#define LIB_NORMALIZATION_RMSNORM_TILING_H

#include "tiling/normalization_tiling.h"

#endif
