// The toolkit's name for what is in ascendc/standard.h.
#ifndef UTILS_STD_TUPLE_H
#define UTILS_STD_TUPLE_H

#include "ascendc/standard.h"

#endif
