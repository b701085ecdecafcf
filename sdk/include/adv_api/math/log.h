// The toolkit's name for what is in ascendc/adv/logarithm.h.
#ifndef ADV_API_MATH_LOG_H
#define ADV_API_MATH_LOG_H

#include "ascendc/adv/logarithm.h"

#endif
