// The toolkit's name for what is in tiling/tiling_api.h.
#ifndef ADV_API_TILING_API_H
#define ADV_API_TILING_API_H

#include "tiling/tiling_api.h"

#endif
