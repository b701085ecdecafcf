// The toolkit's name for what is in ascendc/vec_duplicate.h.
#ifndef ADV_API_INDEX_ARITHPROGRESSION_H
#define ADV_API_INDEX_ARITHPROGRESSION_H

#include "ascendc/vec_duplicate.h"

#endif
