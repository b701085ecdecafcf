// Another path of op_common/op_host/util/fp16.h.
#ifndef ASCEND_SDK_FORWARD_UTIL_FP16_H
#define ASCEND_SDK_FORWARD_UTIL_FP16_H

#include "../op_common/op_host/util/fp16.h"

#endif
