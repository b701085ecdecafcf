// The toolkit's name for what is in ascendc/adv/inverse_trigonometry.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_ACOS_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_ACOS_INTF_H

#include "ascendc/adv/inverse_trigonometry.h"

#endif
