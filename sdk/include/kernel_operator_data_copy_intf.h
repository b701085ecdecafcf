// The toolkit's name for what is in ascendc/data_copy.h.
#ifndef KERNEL_OPERATOR_DATA_COPY_INTF_H
#define KERNEL_OPERATOR_DATA_COPY_INTF_H

#include "ascendc/data_copy.h"

#endif
