// The toolkit's name for what is in ascendc/tensor.h.
#ifndef BASIC_API_KERNEL_TENSOR_H
#define BASIC_API_KERNEL_TENSOR_H

#include "ascendc/tensor.h"

#endif
