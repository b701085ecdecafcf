// The toolkit's name for what is in ascendc/adv/normalize.h.
#ifndef LIB_NORMALIZATION_WELFORDFINALIZE_UTILS_H
#define LIB_NORMALIZATION_WELFORDFINALIZE_UTILS_H

#include "ascendc/adv/normalize.h"

#endif
