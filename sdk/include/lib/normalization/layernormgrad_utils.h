// The toolkit's name for what is in ascendc/adv/layernorm_grad.h.
#ifndef LIB_NORMALIZATION_LAYERNORMGRAD_UTILS_H
#define LIB_NORMALIZATION_LAYERNORMGRAD_UTILS_H

#include "ascendc/adv/layernorm_grad.h"

#endif
