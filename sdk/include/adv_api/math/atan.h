// The toolkit's name for what is in ascendc/adv/inverse_trigonometry.h.
#ifndef ADV_API_MATH_ATAN_H
#define ADV_API_MATH_ATAN_H

#include "ascendc/adv/inverse_trigonometry.h"

#endif
