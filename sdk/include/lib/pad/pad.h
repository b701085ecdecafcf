// The toolkit's name for what is in ascendc/adv/pad.h.
#ifndef LIB_PAD_PAD_H
#define LIB_PAD_PAD_H

#include "ascendc/adv/pad.h"

#endif
