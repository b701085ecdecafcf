// The toolkit's name for what is in ascendc/adv/reduce.h.
#ifndef ADV_API_REDUCE_REDUCE_H
#define ADV_API_REDUCE_REDUCE_H

#include "ascendc/adv/reduce.h"

#endif
