// The toolkit's name for what is in ascendc/adv/softmax.h.
#ifndef LIB_ACTIVATION_SOFTMAX_H
#define LIB_ACTIVATION_SOFTMAX_H

#include "ascendc/adv/softmax.h"

#endif
