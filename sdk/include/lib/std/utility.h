// The toolkit's name for what is in ascendc/standard.h.
#ifndef LIB_STD_UTILITY_H
#define LIB_STD_UTILITY_H

#include "ascendc/standard.h"

#endif
