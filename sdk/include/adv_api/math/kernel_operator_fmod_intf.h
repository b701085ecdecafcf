// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef ADV_API_MATH_KERNEL_OPERATOR_FMOD_INTF_H
#define ADV_API_MATH_KERNEL_OPERATOR_FMOD_INTF_H

#include "ascendc/adv/elementwise.h"

#endif
