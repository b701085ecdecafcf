// The toolkit's name for what is in ascendc/standard.h.
#ifndef UTILS_STD_TYPE_TRAITS_H
#define UTILS_STD_TYPE_TRAITS_H

#include "ascendc/standard.h"

#endif
