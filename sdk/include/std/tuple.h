// The toolkit's name for what is in ascendc/standard.h.
#ifndef STD_TUPLE_H
#define STD_TUPLE_H

#include "ascendc/standard.h"

#endif
