// The toolkit's name for what is in ascendc/adv/hyperbolic.h.
#ifndef LIB_MATH_ASINH_H
#define LIB_MATH_ASINH_H

#include "ascendc/adv/hyperbolic.h"

#endif
