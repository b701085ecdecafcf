// The toolkit's name for what is in ascendc/sync.h.
#ifndef KERNEL_EVENT_H
#define KERNEL_EVENT_H

#include "ascendc/sync.h"

#endif
