// The toolkit's name for what is in ascendc/standard.h.
#ifndef LIB_STD_TYPE_TRAITS_H
#define LIB_STD_TYPE_TRAITS_H

#include "ascendc/standard.h"

#endif
