// Matrix multiplication as kernels include it.
#ifndef ASCENDC_MATMUL_MATMUL_INTF_H
#define ASCENDC_MATMUL_MATMUL_INTF_H

#include "ascendc/matmul/matmul.h"

namespace matmul {
using namespace AscendC;
}

#endif
