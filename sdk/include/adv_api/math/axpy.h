// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef ADV_API_MATH_AXPY_H
#define ADV_API_MATH_AXPY_H

#include "ascendc/adv/elementwise.h"

#endif
