// The toolkit's name for what is in ascendc/adv/gelu.h.
#ifndef ADV_API_ACTIVATION_KERNEL_OPERATOR_SWISH_INTF_H
#define ADV_API_ACTIVATION_KERNEL_OPERATOR_SWISH_INTF_H

#include "ascendc/adv/gelu.h"

#endif
