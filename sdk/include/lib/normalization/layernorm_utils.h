// The toolkit's name for what is in ascendc/adv/layernorm.h.
#ifndef LIB_NORMALIZATION_LAYERNORM_UTILS_H
#define LIB_NORMALIZATION_LAYERNORM_UTILS_H

#include "ascendc/adv/layernorm.h"

#endif
