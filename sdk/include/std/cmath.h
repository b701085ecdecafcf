// The toolkit's name for what is in ascendc/standard.h.
#ifndef STD_CMATH_H
#define STD_CMATH_H

#include "ascendc/standard.h"

#endif
