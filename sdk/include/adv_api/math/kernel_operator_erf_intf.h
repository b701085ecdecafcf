// The toolkit's name for what is in ascendc/adv/error_function.h.
#ifndef ADV_API_MATH_KERNEL_OPERATOR_ERF_INTF_H
#define ADV_API_MATH_KERNEL_OPERATOR_ERF_INTF_H

#include "ascendc/adv/error_function.h"

#endif
