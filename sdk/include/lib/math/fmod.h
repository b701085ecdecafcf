// The toolkit's name for what is in ascendc/adv/elementwise.h.
#ifndef LIB_MATH_FMOD_H
#define LIB_MATH_FMOD_H

#include "ascendc/adv/elementwise.h"

#endif
