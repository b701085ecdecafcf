// The toolkit's name for what is in ascendc/adv/sort.h.
#ifndef LIB_SORT_SORT_H
#define LIB_SORT_SORT_H

#include "ascendc/adv/sort.h"

#endif
