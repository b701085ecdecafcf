// Another path of op_common/atvoss/elewise/elewise_base_struct.h.
#ifndef ASCEND_SDK_FORWARD_ATVOSS_ELEWISE_ELEWISE_BASE_STRUCT_H
#define ASCEND_SDK_FORWARD_ATVOSS_ELEWISE_ELEWISE_BASE_STRUCT_H

#include "../../op_common/atvoss/elewise/elewise_base_struct.h"

#endif
