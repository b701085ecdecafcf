// The toolkit's name for what is in ascendc/debug.h.
#ifndef UTILS_DEBUG_ASC_PRINTF_H
#define UTILS_DEBUG_ASC_PRINTF_H

#include "ascendc/debug.h"

#endif
