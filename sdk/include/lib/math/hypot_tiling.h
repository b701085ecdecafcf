// The toolkit's name for what is in tiling/elementwise_buffers.h.
#ifndef LIB_MATH_HYPOT_TILING_H
#define LIB_MATH_HYPOT_TILING_H

#include "tiling/elementwise_buffers.h"

#endif
