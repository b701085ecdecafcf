// The toolkit's name for what is in ascendc/tensor.h.
#ifndef KERNEL_TENSOR_H
#define KERNEL_TENSOR_H

#include "ascendc/tensor.h"

#endif
