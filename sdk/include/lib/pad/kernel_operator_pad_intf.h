// The toolkit's name for what is in ascendc/adv/pad.h.
#ifndef LIB_PAD_KERNEL_OPERATOR_PAD_INTF_H
#define LIB_PAD_KERNEL_OPERATOR_PAD_INTF_H

#include "ascendc/adv/pad.h"

#endif
