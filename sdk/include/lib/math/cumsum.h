// The toolkit's name for what is in ascendc/adv/cumsum.h.
#ifndef LIB_MATH_CUMSUM_H
#define LIB_MATH_CUMSUM_H

#include "ascendc/adv/cumsum.h"

#endif
