// The toolkit's name for what is in ascendc/adv/trigonometry.h.
#ifndef ADV_API_MATH_KERNEL_OPERATOR_SIN_INTF_H
#define ADV_API_MATH_KERNEL_OPERATOR_SIN_INTF_H

#include "ascendc/adv/trigonometry.h"

#endif
