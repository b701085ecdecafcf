// The toolkit's name for what is in ascendc/adv/hyperbolic.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_ATANH_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_ATANH_INTF_H

#include "ascendc/adv/hyperbolic.h"

#endif
