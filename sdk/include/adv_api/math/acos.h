// The toolkit's name for what is in ascendc/adv/inverse_trigonometry.h.
#ifndef ADV_API_MATH_ACOS_H
#define ADV_API_MATH_ACOS_H

#include "ascendc/adv/inverse_trigonometry.h"

#endif
