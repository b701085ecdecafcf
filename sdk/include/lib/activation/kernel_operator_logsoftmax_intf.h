// The toolkit's name for what is in ascendc/adv/softmax_grad.h.
#ifndef LIB_ACTIVATION_KERNEL_OPERATOR_LOGSOFTMAX_INTF_H
#define LIB_ACTIVATION_KERNEL_OPERATOR_LOGSOFTMAX_INTF_H

#include "ascendc/adv/softmax_grad.h"

#endif
