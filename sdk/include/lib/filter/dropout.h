// The toolkit's name for what is in ascendc/adv/dropout.h.
#ifndef LIB_FILTER_DROPOUT_H
#define LIB_FILTER_DROPOUT_H

#include "ascendc/adv/dropout.h"

#endif
