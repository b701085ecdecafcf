// The toolkit's name for what is in ascendc/adv/quantization.h.
#ifndef ADV_API_QUANTIZATION_ASCEND_QUANT_H
#define ADV_API_QUANTIZATION_ASCEND_QUANT_H

#include "ascendc/adv/quantization.h"

#endif
