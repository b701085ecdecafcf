// The toolkit's name for what is in ascendc/adv/trigonometry.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_TAN_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_TAN_INTF_H

#include "ascendc/adv/trigonometry.h"

#endif
