// Another path of register/tilingdata_base.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_TILINGDATA_BASE_H
#define ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_TILINGDATA_BASE_H

#include "../../register/tilingdata_base.h"

#endif
