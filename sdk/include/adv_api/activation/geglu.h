// The toolkit's name for what is in ascendc/adv/gated.h.
#ifndef ADV_API_ACTIVATION_GEGLU_H
#define ADV_API_ACTIVATION_GEGLU_H

#include "ascendc/adv/gated.h"

#endif
