// The toolkit's name for what is in ascendc/matmul/matmul_intf.h.
#ifndef LIB_MATRIX_MATMUL_MATMUL_INTF_H
#define LIB_MATRIX_MATMUL_MATMUL_INTF_H

#include "ascendc/matmul/matmul_intf.h"

#endif
