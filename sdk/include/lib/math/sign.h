// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef LIB_MATH_SIGN_H
#define LIB_MATH_SIGN_H

#include "ascendc/adv/elementwise.h"

#endif
