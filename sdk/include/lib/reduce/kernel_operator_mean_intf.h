// The toolkit's name for what is in ascendc/adv/reduce.h.
#ifndef LIB_REDUCE_KERNEL_OPERATOR_MEAN_INTF_H
#define LIB_REDUCE_KERNEL_OPERATOR_MEAN_INTF_H

#include "ascendc/adv/reduce.h"

#endif
