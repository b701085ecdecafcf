// The toolkit's name for what is in ascendc/matmul/config.h.
#ifndef ADV_API_MATMUL_MATMUL_CONFIG_H
#define ADV_API_MATMUL_MATMUL_CONFIG_H

#include "ascendc/matmul/config.h"

#endif
