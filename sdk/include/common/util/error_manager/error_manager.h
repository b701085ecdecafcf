// Another path of base/err_msg.h.
#ifndef ASCEND_SDK_FORWARD_COMMON_UTIL_ERROR_MANAGER_ERROR_MANAGER_H
#define ASCEND_SDK_FORWARD_COMMON_UTIL_ERROR_MANAGER_ERROR_MANAGER_H

#include "../../../base/err_msg.h"

#endif
