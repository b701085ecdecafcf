// The toolkit's name for what is in ascendc/adv/cumsum.h.
#ifndef ADV_API_MATH_CUMSUM_UTILS_H
#define ADV_API_MATH_CUMSUM_UTILS_H

#include "ascendc/adv/cumsum.h"

#endif
