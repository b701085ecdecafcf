// The toolkit's name for what is in ascendc/adv/broadcast.h.
#ifndef PAD_BROADCAST_H
#define PAD_BROADCAST_H

#include "ascendc/adv/broadcast.h"

#endif
