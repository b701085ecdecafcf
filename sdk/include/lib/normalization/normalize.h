// The toolkit's name for what is in ascendc/adv/normalize.h.
#ifndef LIB_NORMALIZATION_NORMALIZE_H
#define LIB_NORMALIZATION_NORMALIZE_H

#include "ascendc/adv/normalize.h"

#endif
