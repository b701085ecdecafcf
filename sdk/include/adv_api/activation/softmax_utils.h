// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef ADV_API_ACTIVATION_SOFTMAX_UTILS_H
#define ADV_API_ACTIVATION_SOFTMAX_UTILS_H

#include "ascendc/adv/softmax.h"

#endif
