// The toolkit's name for what is in ascendc/adv/trigonometry.h.
#ifndef LIB_MATH_TAN_H
#define LIB_MATH_TAN_H

#include "ascendc/adv/trigonometry.h"

#endif
