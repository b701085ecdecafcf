// The toolkit's name for what is in ascendc/adv/error_function.h.
#ifndef LIB_MATH_KERNEL_OPERATOR_ERFC_INTF_H
#define LIB_MATH_KERNEL_OPERATOR_ERFC_INTF_H

#include "ascendc/adv/error_function.h"

#endif
