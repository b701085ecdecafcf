// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef LIB_ACTIVATION_KERNEL_OPERATOR_SOFTMAX_INTF_H
#define LIB_ACTIVATION_KERNEL_OPERATOR_SOFTMAX_INTF_H

#include "ascendc/adv/softmax.h"

#endif
