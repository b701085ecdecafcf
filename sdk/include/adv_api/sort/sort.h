// The toolkit's name for what is in ascendc/adv/sort.h.
#ifndef ADV_API_SORT_SORT_H
#define ADV_API_SORT_SORT_H

#include "ascendc/adv/sort.h"

#endif
