// The toolkit's name for what is in ascendc/standard.h.
#ifndef STD_ALGORITHM_H
#define STD_ALGORITHM_H

#include "ascendc/standard.h"

#endif
