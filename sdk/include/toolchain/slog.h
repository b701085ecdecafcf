// Another path of base/alog_pub.h.
#ifndef ASCEND_SDK_FORWARD_TOOLCHAIN_SLOG_H
#define ASCEND_SDK_FORWARD_TOOLCHAIN_SLOG_H

#include "base/alog_pub.h"

#endif
