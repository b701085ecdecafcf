// The toolkit's name for what is in tiling/softmax_tiling.h.
#ifndef ADV_API_ACTIVATION_SOFTMAX_TILING_H
#define ADV_API_ACTIVATION_SOFTMAX_TILING_H

#include "tiling/softmax_tiling.h"

#endif
