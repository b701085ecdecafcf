// The toolkit's name for what is in ascendc/adv/quantization.h.
#ifndef LIB_QUANTIZATION_KERNEL_OPERATOR_ASCEND_QUANT_INTF_H
#define LIB_QUANTIZATION_KERNEL_OPERATOR_ASCEND_QUANT_INTF_H

#include "ascendc/adv/quantization.h"

#endif
