// The toolkit's name for what is in ascendc/adv/power.h.
#ifndef LIB_MATH_POWER_H
#define LIB_MATH_POWER_H

#include "ascendc/adv/power.h"

#endif
