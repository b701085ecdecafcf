// The toolkit's name for what is in ascendc/list_tensor.h.
#ifndef BASIC_API_KERNEL_OPERATOR_LIST_TENSOR_INTF_H
#define BASIC_API_KERNEL_OPERATOR_LIST_TENSOR_INTF_H

#include "ascendc/list_tensor.h"

#endif
