// The toolkit's name for what is in ascendc/adv/gelu.h.
#ifndef LIB_ACTIVATION_KERNEL_OPERATOR_SWISH_INTF_H
#define LIB_ACTIVATION_KERNEL_OPERATOR_SWISH_INTF_H

#include "ascendc/adv/gelu.h"

#endif
