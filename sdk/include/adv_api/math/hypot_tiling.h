// The toolkit's name for what is in tiling/elementwise_buffers.h.
#ifndef ADV_API_MATH_HYPOT_TILING_H
#define ADV_API_MATH_HYPOT_TILING_H

#include "tiling/elementwise_buffers.h"

#endif
