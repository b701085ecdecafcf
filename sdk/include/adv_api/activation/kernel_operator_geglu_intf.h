// The toolkit's name for what is in ascendc/adv/gated.h.
#ifndef ADV_API_ACTIVATION_KERNEL_OPERATOR_GEGLU_INTF_H
#define ADV_API_ACTIVATION_KERNEL_OPERATOR_GEGLU_INTF_H

#include "ascendc/adv/gated.h"

#endif
