// The toolkit's name for what is in ascendc/adv/activation.h.
#ifndef LIB_ACTIVATION_SILU_H
#define LIB_ACTIVATION_SILU_H

#include "ascendc/adv/activation.h"

#endif
