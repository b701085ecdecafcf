// The toolkit's name for what is in ascendc/adv/rounding.h.
#ifndef ADV_API_MATH_CEIL_H
#define ADV_API_MATH_CEIL_H

#include "ascendc/adv/rounding.h"

#endif
