// Another path of base/alog_pub.h.
#ifndef ASCEND_SDK_FORWARD_BASE_DLOG_PUB_H
#define ASCEND_SDK_FORWARD_BASE_DLOG_PUB_H

#include "alog_pub.h"

#endif
