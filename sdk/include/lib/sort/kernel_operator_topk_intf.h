// The toolkit's name for what is in ascendc/adv/topk.h.
#ifndef LIB_SORT_KERNEL_OPERATOR_TOPK_INTF_H
#define LIB_SORT_KERNEL_OPERATOR_TOPK_INTF_H

#include "ascendc/adv/topk.h"

#endif
