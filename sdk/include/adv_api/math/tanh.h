// The toolkit's name for what is in ascendc/adv/hyperbolic.h.
#ifndef ADV_API_MATH_TANH_H
#define ADV_API_MATH_TANH_H

#include "ascendc/adv/hyperbolic.h"

#endif
