// The toolkit's name for what is in ascendc/adv/broadcast.h.
#ifndef LIB_PAD_BROADCAST_H
#define LIB_PAD_BROADCAST_H

#include "ascendc/adv/broadcast.h"

#endif
