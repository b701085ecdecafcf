// The toolkit's name for what is in tiling/normalization_tiling.h.
#ifndef ADV_API_NORMALIZATION_RMSNORM_TILING_H
#define ADV_API_NORMALIZATION_RMSNORM_TILING_H

#include "tiling/normalization_tiling.h"

#endif
