// The toolkit's name for what is in ascendc/adv/power.h.
#ifndef ADV_API_MATH_POWER_H
#define ADV_API_MATH_POWER_H

#include "ascendc/adv/power.h"

#endif
