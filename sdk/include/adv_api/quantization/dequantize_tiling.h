// The toolkit's name for what is in tiling/rearrange_tiling.h.
#ifndef ADV_API_QUANTIZATION_DEQUANTIZE_TILING_H
#define ADV_API_QUANTIZATION_DEQUANTIZE_TILING_H

#include "tiling/rearrange_tiling.h"

#endif
