// The toolkit's name for what is in ascendc/dtype_ids.h.
#ifndef BASIC_API_KERNEL_TYPE_H
#define BASIC_API_KERNEL_TYPE_H

#include "ascendc/dtype_ids.h"

#endif
