// The toolkit's name for what is in tiling/elementwise_buffers.h.
#ifndef TILING_MATH_COSH_TILING_H
#define TILING_MATH_COSH_TILING_H

#include "tiling/elementwise_buffers.h"

#endif
