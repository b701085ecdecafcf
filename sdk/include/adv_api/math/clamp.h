// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef ADV_API_MATH_CLAMP_H
#define ADV_API_MATH_CLAMP_H

#include "ascendc/adv/elementwise.h"

#endif
