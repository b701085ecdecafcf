// The toolkit's name for what is in ascendc/tque.h.
#ifndef BASIC_API_KERNEL_TPIPE_H
#define BASIC_API_KERNEL_TPIPE_H

#include "ascendc/tque.h"

#endif
