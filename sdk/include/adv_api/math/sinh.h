// The toolkit's name for what is in ascendc/adv/hyperbolic.h.
#ifndef ADV_API_MATH_SINH_H
#define ADV_API_MATH_SINH_H

#include "ascendc/adv/hyperbolic.h"

#endif
