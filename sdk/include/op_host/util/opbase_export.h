// Another path of op_common/op_host/util/opbase_export.h.
#ifndef ASCEND_SDK_FORWARD_OP_HOST_UTIL_OPBASE_EXPORT_H
#define ASCEND_SDK_FORWARD_OP_HOST_UTIL_OPBASE_EXPORT_H

#include "../../op_common/op_host/util/opbase_export.h"

#endif
