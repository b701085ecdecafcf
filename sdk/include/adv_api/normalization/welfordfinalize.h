// The toolkit's name for what is in ascendc/adv/normalize.h.
#ifndef ADV_API_NORMALIZATION_WELFORDFINALIZE_H
#define ADV_API_NORMALIZATION_WELFORDFINALIZE_H

#include "ascendc/adv/normalize.h"

#endif
