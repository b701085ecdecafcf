// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef ADV_API_ACTIVATION_KERNEL_OPERATOR_SIMPLE_SOFTMAX_INTF_H
#define ADV_API_ACTIVATION_KERNEL_OPERATOR_SIMPLE_SOFTMAX_INTF_H

#include "ascendc/adv/softmax.h"

#endif
