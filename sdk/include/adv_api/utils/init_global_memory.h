// The toolkit's name for what is in ascendc/workspace.h.
#ifndef ADV_API_UTILS_INIT_GLOBAL_MEMORY_H
#define ADV_API_UTILS_INIT_GLOBAL_MEMORY_H

#include "ascendc/workspace.h"

#endif
