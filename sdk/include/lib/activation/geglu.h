// The toolkit's name for what is in ascendc/adv/gated.h.
#ifndef LIB_ACTIVATION_GEGLU_H
#define LIB_ACTIVATION_GEGLU_H

#include "ascendc/adv/gated.h"

#endif
