// The toolkit's name for what is in tiling/softmax_tiling.h.
#ifndef ADV_API_ACTIVATION_LOGSOFTMAX_TILING_H
#define ADV_API_ACTIVATION_LOGSOFTMAX_TILING_H

#include "tiling/softmax_tiling.h"

#endif
