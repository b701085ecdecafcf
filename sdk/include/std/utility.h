// The toolkit's name for what is in ascendc/standard.h.
#ifndef STD_UTILITY_H
#define STD_UTILITY_H

#include "ascendc/standard.h"

#endif
