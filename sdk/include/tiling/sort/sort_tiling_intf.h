// The toolkit's name for what is in tiling/rearrange_tiling.h.
#ifndef TILING_SORT_SORT_TILING_INTF_H
#define TILING_SORT_SORT_TILING_INTF_H

#include "tiling/rearrange_tiling.h"

#endif
