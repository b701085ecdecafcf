// The toolkit's name for what is in ascendc/adv/cumsum.h.
#ifndef LIB_MATH_CUMSUM_UTILS_H
#define LIB_MATH_CUMSUM_UTILS_H

#include "ascendc/adv/cumsum.h"

#endif
