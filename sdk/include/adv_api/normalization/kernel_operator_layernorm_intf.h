// The toolkit's name for what is in ascendc/adv/layernorm.h.
#ifndef ADV_API_NORMALIZATION_KERNEL_OPERATOR_LAYERNORM_INTF_H
#define ADV_API_NORMALIZATION_KERNEL_OPERATOR_LAYERNORM_INTF_H

#include "ascendc/adv/layernorm.h"

#endif
