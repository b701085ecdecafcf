// The toolkit's name for what is in ascendc/adv/power.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_POWER_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_POWER_INTF_H

#include "ascendc/adv/power.h"

#endif
