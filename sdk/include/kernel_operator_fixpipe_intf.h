// The toolkit's name for what is in kernel_operator.h.
#ifndef KERNEL_OPERATOR_FIXPIPE_INTF_H
#define KERNEL_OPERATOR_FIXPIPE_INTF_H

#include "kernel_operator.h"

#endif
