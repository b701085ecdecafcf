// Another path of register/op_def_registry.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_OP_DEF_REGISTRY_H
#define ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_OP_DEF_REGISTRY_H

#include "../../register/op_def_registry.h"

#endif
