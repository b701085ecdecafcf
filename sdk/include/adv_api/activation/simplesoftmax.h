// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef ADV_API_ACTIVATION_SIMPLESOFTMAX_H
#define ADV_API_ACTIVATION_SIMPLESOFTMAX_H

#include "ascendc/adv/softmax.h"

#endif
