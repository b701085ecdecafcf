// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef ADV_API_ACTIVATION_SOFTMAXFLASH_H
#define ADV_API_ACTIVATION_SOFTMAXFLASH_H

#include "ascendc/adv/softmax.h"

#endif
