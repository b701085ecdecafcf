// The toolkit's name for what is in kernel_operator.h.
#ifndef KERNEL_COMMON_H
#define KERNEL_COMMON_H

#include "kernel_operator.h"

#endif
