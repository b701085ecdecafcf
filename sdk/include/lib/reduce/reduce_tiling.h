// The toolkit's name for what is in tiling/rearrange_tiling.h.
#ifndef LIB_REDUCE_REDUCE_TILING_H
#define LIB_REDUCE_REDUCE_TILING_H

#include "tiling/rearrange_tiling.h"

#endif
