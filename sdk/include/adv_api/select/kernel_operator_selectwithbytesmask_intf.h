// The toolkit's name for what is in ascendc/adv/select_bytes.h.
#ifndef ADV_API_SELECT_KERNEL_OPERATOR_SELECTWITHBYTESMASK_INTF_H
#define ADV_API_SELECT_KERNEL_OPERATOR_SELECTWITHBYTESMASK_INTF_H

#include "ascendc/adv/select_bytes.h"

#endif
