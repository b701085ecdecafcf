// The toolkit's name for what is in kernel_operator.h.
#ifndef BASIC_API_KERNEL_BASIC_INTF_H
#define BASIC_API_KERNEL_BASIC_INTF_H

#include "kernel_operator.h"

#endif
