// The toolkit's name for what is in ascendc/adv/activation.h.
#ifndef ADV_API_ACTIVATION_SILU_H
#define ADV_API_ACTIVATION_SILU_H

#include "ascendc/adv/activation.h"

#endif
