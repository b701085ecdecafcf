// The toolkit's name for what is in ascendc/sync.h.
#ifndef KERNEL_OPERATOR_BLOCK_SYNC_INTF_H
#define KERNEL_OPERATOR_BLOCK_SYNC_INTF_H

#include "ascendc/sync.h"

#endif
