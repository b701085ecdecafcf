// The toolkit's name for what is in kernel_operator.h.
#ifndef KERNEL_VEC_INTF_H
#define KERNEL_VEC_INTF_H

#include "kernel_operator.h"

#endif
