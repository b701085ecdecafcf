// The toolkit's name for what is in ascendc/standard.h.
#ifndef STD_TYPE_TRAITS_H
#define STD_TYPE_TRAITS_H

#include "ascendc/standard.h"

#endif
