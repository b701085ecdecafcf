// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef ADV_API_ACTIVATION_SOFTMAXFLASHV2_H
#define ADV_API_ACTIVATION_SOFTMAXFLASHV2_H

#include "ascendc/adv/softmax.h"

#endif
