// The toolkit's name for what is in ascendc/debug.h.
#ifndef KERNEL_OPERATOR_DUMP_TENSOR_INTF_H
#define KERNEL_OPERATOR_DUMP_TENSOR_INTF_H

#include "ascendc/debug.h"

#endif
