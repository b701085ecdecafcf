// The toolkit's name for what is in ascendc/adv/layernorm.h.
#ifndef ADV_API_NORMALIZATION_DEEPNORM_H
#define ADV_API_NORMALIZATION_DEEPNORM_H

#include "ascendc/adv/layernorm.h"

#endif
