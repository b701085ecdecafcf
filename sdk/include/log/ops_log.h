// Another path of error_log.h.
#ifndef ASCEND_SDK_FORWARD_LOG_OPS_LOG_H
#define ASCEND_SDK_FORWARD_LOG_OPS_LOG_H

#include "../error_log.h"

#endif
