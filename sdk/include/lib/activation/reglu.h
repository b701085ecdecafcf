// The toolkit's name for what is in ascendc/adv/gated.h.
#ifndef LIB_ACTIVATION_REGLU_H
#define LIB_ACTIVATION_REGLU_H

#include "ascendc/adv/gated.h"

#endif
