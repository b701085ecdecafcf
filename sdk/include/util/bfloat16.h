// Another path of op_common/op_host/util/bfloat16.h.
#ifndef ASCEND_SDK_FORWARD_UTIL_BFLOAT16_H
#define ASCEND_SDK_FORWARD_UTIL_BFLOAT16_H

#include "../op_common/op_host/util/bfloat16.h"

#endif
