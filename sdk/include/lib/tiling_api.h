// The toolkit's name for what is in tiling/tiling_api.h.
#ifndef LIB_TILING_API_H
#define LIB_TILING_API_H

#include "tiling/tiling_api.h"

#endif
