// Another path of register/op_impl_registry.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_OP_IMPL_REGISTRY_H
#define ASCEND_SDK_FORWARD_EXTERNAL_REGISTER_OP_IMPL_REGISTRY_H

#include "../../register/op_impl_registry.h"

#endif
