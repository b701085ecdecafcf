// The toolkit's name for what is in ascendc/standard.h.
#ifndef UTILS_STD_UTILITY_H
#define UTILS_STD_UTILITY_H

#include "ascendc/standard.h"

#endif
