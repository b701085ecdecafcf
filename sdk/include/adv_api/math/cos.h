// The toolkit's name for what is in ascendc/adv/trigonometry.h.
#ifndef ADV_API_MATH_COS_H
#define ADV_API_MATH_COS_H

#include "ascendc/adv/trigonometry.h"

#endif
