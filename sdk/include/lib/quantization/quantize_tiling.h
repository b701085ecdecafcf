// The toolkit's name for what is in tiling/rearrange_tiling.h.
#ifndef LIB_QUANTIZATION_QUANTIZE_TILING_H
#define LIB_QUANTIZATION_QUANTIZE_TILING_H

#include "tiling/rearrange_tiling.h"

#endif
