// The toolkit's name for what is in ascendc/adv/rounding.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_FLOOR_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_FLOOR_INTF_H

#include "ascendc/adv/rounding.h"

#endif
