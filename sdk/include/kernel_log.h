// The toolkit's name for what is in ascendc/debug.h.
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include "ascendc/debug.h"

#endif
