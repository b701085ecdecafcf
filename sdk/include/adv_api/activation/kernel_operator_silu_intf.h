// The toolkit's name for what is in ascendc/adv/activation.h.
#ifndef ADV_API_ACTIVATION_KERNEL_OPERATOR_SILU_INTF_H
#define ADV_API_ACTIVATION_KERNEL_OPERATOR_SILU_INTF_H

#include "ascendc/adv/activation.h"

#endif
