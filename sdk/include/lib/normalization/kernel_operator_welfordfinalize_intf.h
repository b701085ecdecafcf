// The toolkit's name for what is in ascendc/adv/normalize.h.
#ifndef LIB_NORMALIZATION_KERNEL_OPERATOR_WELFORDFINALIZE_INTF_H
#define LIB_NORMALIZATION_KERNEL_OPERATOR_WELFORDFINALIZE_INTF_H

#include "ascendc/adv/normalize.h"

#endif
