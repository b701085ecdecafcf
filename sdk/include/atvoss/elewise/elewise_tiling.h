// Another path of op_common/atvoss/elewise/elewise_tiling.h.
#ifndef ASCEND_SDK_FORWARD_ATVOSS_ELEWISE_ELEWISE_TILING_H
#define ASCEND_SDK_FORWARD_ATVOSS_ELEWISE_ELEWISE_TILING_H

#include "../../op_common/atvoss/elewise/elewise_tiling.h"

#endif
