// The toolkit's name for what is in ascendc/adv/error_function.h.
#ifndef LIB_MATH_ERF_H
#define LIB_MATH_ERF_H

#include "ascendc/adv/error_function.h"

#endif
