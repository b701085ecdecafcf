// The toolkit's name for what is in ascendc/matmul/matmul_intf.h.
#ifndef ADV_API_MATMUL_MATMUL_H
#define ADV_API_MATMUL_MATMUL_H

#include "ascendc/matmul/matmul_intf.h"

#endif
