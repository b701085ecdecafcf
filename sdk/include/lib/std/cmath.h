// The toolkit's name for what is in ascendc/standard.h.
#ifndef LIB_STD_CMATH_H
#define LIB_STD_CMATH_H

#include "ascendc/standard.h"

#endif
