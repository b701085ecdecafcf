// The toolkit's name for what is in ascendc/adv/gelu.h.
#ifndef ADV_API_ACTIVATION_GELU_H
#define ADV_API_ACTIVATION_GELU_H

#include "ascendc/adv/gelu.h"

#endif
