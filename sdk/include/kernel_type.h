// The toolkit's name for what is in ascendc/dtype_ids.h.
#ifndef KERNEL_TYPE_H
#define KERNEL_TYPE_H

#include "ascendc/dtype_ids.h"

#endif
