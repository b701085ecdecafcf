// The toolkit's name for what is in ascendc/adv/broadcast.h.
#ifndef ADV_API_PAD_BROADCAST_H
#define ADV_API_PAD_BROADCAST_H

#include "ascendc/adv/broadcast.h"

#endif
