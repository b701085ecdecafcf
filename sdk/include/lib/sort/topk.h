// The toolkit's name for what is in ascendc/adv/topk.h.
#ifndef LIB_SORT_TOPK_H
#define LIB_SORT_TOPK_H

#include "ascendc/adv/topk.h"

#endif
