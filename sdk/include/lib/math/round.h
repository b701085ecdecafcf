// The toolkit's name for what is in ascendc/adv/rounding.h.
#ifndef LIB_MATH_ROUND_H
#define LIB_MATH_ROUND_H

#include "ascendc/adv/rounding.h"

#endif
