// The toolkit's name for what is in ascendc/debug.h.
#ifndef KERNEL_MACROS_H
#define KERNEL_MACROS_H

#include "ascendc/debug.h"

#endif
