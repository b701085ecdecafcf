// Another path of op_common/log/error_code.h.
#ifndef ASCEND_SDK_FORWARD_LOG_ERROR_CODE_H
#define ASCEND_SDK_FORWARD_LOG_ERROR_CODE_H

#include "../op_common/log/error_code.h"

#endif
