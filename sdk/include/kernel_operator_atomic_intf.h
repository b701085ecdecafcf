// The toolkit's name for what is in ascendc/atomic.h.
#ifndef KERNEL_OPERATOR_ATOMIC_INTF_H
#define KERNEL_OPERATOR_ATOMIC_INTF_H

#include "ascendc/atomic.h"

#endif
