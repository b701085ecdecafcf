// The toolkit's name for what is in ascendc/tque.h.
#ifndef KERNEL_TPIPE_H
#define KERNEL_TPIPE_H

#include "ascendc/tque.h"

#endif
