// The toolkit's name for what is in ascendc/adv/activation.h.
#ifndef LIB_ACTIVATION_KERNEL_OPERATOR_SILU_INTF_H
#define LIB_ACTIVATION_KERNEL_OPERATOR_SILU_INTF_H

#include "ascendc/adv/activation.h"

#endif
