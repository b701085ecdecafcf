// The toolkit's name for what is in ascendc/adv/pad.h.
#ifndef ADV_API_PAD_PAD_H
#define ADV_API_PAD_PAD_H

#include "ascendc/adv/pad.h"

#endif
