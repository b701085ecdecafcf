// The toolkit's name for what is in ascendc/adv/trigonometry.h.
#ifndef LIB_MATH_SIN_H
#define LIB_MATH_SIN_H

#include "ascendc/adv/trigonometry.h"

#endif
