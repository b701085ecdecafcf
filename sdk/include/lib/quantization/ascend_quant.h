// The toolkit's name for what is in ascendc/adv/quantization.h.
#ifndef LIB_QUANTIZATION_ASCEND_QUANT_H
#define LIB_QUANTIZATION_ASCEND_QUANT_H

#include "ascendc/adv/quantization.h"

#endif
