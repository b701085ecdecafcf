// The toolkit's name for what is in ascendc/adv/reduce.h.
#ifndef LIB_REDUCE_SUM_H
#define LIB_REDUCE_SUM_H

#include "ascendc/adv/reduce.h"

#endif
