// The toolkit's name for what is in ascendc/adv/softmax_grad.h.
#ifndef LIB_ACTIVATION_SOFTMAXGRAD_H
#define LIB_ACTIVATION_SOFTMAXGRAD_H

#include "ascendc/adv/softmax_grad.h"

#endif
