// The toolkit's name for what is in ascendc/adv/pad.h.
#ifndef ADV_API_PAD_KERNEL_OPERATOR_PAD_INTF_H
#define ADV_API_PAD_KERNEL_OPERATOR_PAD_INTF_H

#include "ascendc/adv/pad.h"

#endif
