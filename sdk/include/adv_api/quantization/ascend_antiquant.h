// The toolkit's name for what is in ascendc/adv/antiquantization.h.
#ifndef ADV_API_QUANTIZATION_ASCEND_ANTIQUANT_H
#define ADV_API_QUANTIZATION_ASCEND_ANTIQUANT_H

#include "ascendc/adv/antiquantization.h"

#endif
