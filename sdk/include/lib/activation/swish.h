// The toolkit's name for what is in ascendc/adv/gelu.h.
#ifndef LIB_ACTIVATION_SWISH_H
#define LIB_ACTIVATION_SWISH_H

#include "ascendc/adv/gelu.h"

#endif
