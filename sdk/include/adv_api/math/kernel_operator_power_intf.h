// The toolkit's name for what is in ascendc/adv/power.h.
#ifndef ADV_API_MATH_KERNEL_OPERATOR_POWER_INTF_H
#define ADV_API_MATH_KERNEL_OPERATOR_POWER_INTF_H

#include "ascendc/adv/power.h"

#endif
