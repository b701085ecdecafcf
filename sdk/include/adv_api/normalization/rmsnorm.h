// The toolkit's name for what is in ascendc/adv/layernorm.h.
#ifndef ADV_API_NORMALIZATION_RMSNORM_H
#define ADV_API_NORMALIZATION_RMSNORM_H

#include "ascendc/adv/layernorm.h"

#endif
