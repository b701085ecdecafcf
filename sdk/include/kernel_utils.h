// The toolkit's name for what is in ascendc/scalar.h.
#ifndef KERNEL_UTILS_H
#define KERNEL_UTILS_H

#include "ascendc/scalar.h"

#endif
