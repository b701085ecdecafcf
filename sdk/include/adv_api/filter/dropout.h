// The toolkit's name for what is in ascendc/adv/dropout.h.
#ifndef ADV_API_FILTER_DROPOUT_H
#define ADV_API_FILTER_DROPOUT_H

#include "ascendc/adv/dropout.h"

#endif
