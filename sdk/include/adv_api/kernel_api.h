// The toolkit's name for the whole kernel API.
#ifndef ADV_API_KERNEL_API_H
#define ADV_API_KERNEL_API_H

#include "kernel_operator.h"

#endif
