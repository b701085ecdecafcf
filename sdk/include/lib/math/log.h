// The toolkit's name for what is in ascendc/adv/logarithm.h.
#ifndef LIB_MATH_LOG_H
#define LIB_MATH_LOG_H

#include "ascendc/adv/logarithm.h"

#endif
