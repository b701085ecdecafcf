// The toolkit's name for what is in ascendc/adv/antiquantization.h.
#ifndef LIB_QUANTIZATION_KERNEL_OPERATOR_ASCEND_ANTIQUANT_INTF_H
#define LIB_QUANTIZATION_KERNEL_OPERATOR_ASCEND_ANTIQUANT_INTF_H

#include "ascendc/adv/antiquantization.h"

#endif
