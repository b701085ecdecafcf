// The toolkit's name for what is in ascendc/adv/hyperbolic.h.
#ifndef ADV_API_MATH_ASINH_H
#define ADV_API_MATH_ASINH_H

#include "ascendc/adv/hyperbolic.h"

#endif
