// Another path of op_common/log/log.h.
#ifndef ASCEND_SDK_FORWARD_OPDEV_OP_LOG_H
#define ASCEND_SDK_FORWARD_OPDEV_OP_LOG_H

#include "../op_common/log/log.h"

#endif
