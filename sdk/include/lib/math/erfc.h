// The toolkit's name for what is in ascendc/adv/error_function.h.
#ifndef LIB_MATH_ERFC_H
#define LIB_MATH_ERFC_H

#include "ascendc/adv/error_function.h"

#endif
