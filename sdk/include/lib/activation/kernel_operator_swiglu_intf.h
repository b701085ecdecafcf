// The toolkit's name for what is in ascendc/adv/gated.h.
#ifndef LIB_ACTIVATION_KERNEL_OPERATOR_SWIGLU_INTF_H
#define LIB_ACTIVATION_KERNEL_OPERATOR_SWIGLU_INTF_H

#include "ascendc/adv/gated.h"

#endif
