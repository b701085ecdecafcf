// The toolkit's name for what is in ascendc/matmul/matmul_intf.h.
#ifndef LIB_MATMUL_MATMUL_H
#define LIB_MATMUL_MATMUL_H

#include "ascendc/matmul/matmul_intf.h"

#endif
