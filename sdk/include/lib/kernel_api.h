// The toolkit's name for the whole kernel API.
#ifndef LIB_KERNEL_API_H
#define LIB_KERNEL_API_H

#include "kernel_operator.h"

#endif
