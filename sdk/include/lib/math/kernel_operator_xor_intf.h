// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_XOR_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_XOR_INTF_H

#include "ascendc/adv/elementwise.h"

#endif
