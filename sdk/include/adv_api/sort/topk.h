// The toolkit's name for what is in ascendc/adv/topk.h.
#ifndef ADV_API_SORT_TOPK_H
#define ADV_API_SORT_TOPK_H

#include "ascendc/adv/topk.h"

#endif
