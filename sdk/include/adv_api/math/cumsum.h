// The toolkit's name for what is in ascendc/adv/cumsum.h.
#ifndef ADV_API_MATH_CUMSUM_H
#define ADV_API_MATH_CUMSUM_H

#include "ascendc/adv/cumsum.h"

#endif
