// The toolkit's name for what is in ascendc/list_tensor.h.
#ifndef KERNEL_OPERATOR_LIST_TENSOR_INTF_H
#define KERNEL_OPERATOR_LIST_TENSOR_INTF_H

#include "ascendc/list_tensor.h"

#endif
