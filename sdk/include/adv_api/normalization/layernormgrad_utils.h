// The toolkit's name for what is in ascendc/adv/layernorm_grad.h.
#ifndef ADV_API_NORMALIZATION_LAYERNORMGRAD_UTILS_H
#define ADV_API_NORMALIZATION_LAYERNORMGRAD_UTILS_H

#include "ascendc/adv/layernorm_grad.h"

#endif
