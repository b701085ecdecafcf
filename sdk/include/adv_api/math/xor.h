// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef ADV_API_MATH_XOR_H
#define ADV_API_MATH_XOR_H

#include "ascendc/adv/elementwise.h"

#endif
