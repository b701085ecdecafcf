// The toolkit's name for what is in ascendc/adv/antiquantization.h.
#ifndef LIB_QUANTIZATION_ASCEND_ANTIQUANT_H
#define LIB_QUANTIZATION_ASCEND_ANTIQUANT_H

#include "ascendc/adv/antiquantization.h"

#endif
