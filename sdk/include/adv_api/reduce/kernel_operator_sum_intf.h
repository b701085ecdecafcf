// The toolkit's name for what is in ascendc/adv/reduce.h.
#ifndef ADV_API_REDUCE_KERNEL_OPERATOR_SUM_INTF_H
#define ADV_API_REDUCE_KERNEL_OPERATOR_SUM_INTF_H

#include "ascendc/adv/reduce.h"

#endif
