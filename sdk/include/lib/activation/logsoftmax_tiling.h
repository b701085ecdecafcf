// The toolkit's name for what is in tiling/softmax_tiling.h.
#ifndef LIB_ACTIVATION_LOGSOFTMAX_TILING_H
#define LIB_ACTIVATION_LOGSOFTMAX_TILING_H

#include "tiling/softmax_tiling.h"

#endif
