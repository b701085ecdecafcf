// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef LIB_ACTIVATION_SOFTMAXFLASHV2_H
#define LIB_ACTIVATION_SOFTMAXFLASHV2_H

#include "ascendc/adv/softmax.h"

#endif
