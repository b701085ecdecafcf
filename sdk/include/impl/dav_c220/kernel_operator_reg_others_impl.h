// The toolkit's name for what is in kernel_operator.h.
#ifndef IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H
#define IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H

#include "kernel_operator.h"

#endif
