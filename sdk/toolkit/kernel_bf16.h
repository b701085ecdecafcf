// Name under which toolkit headers ask for the 16-bit types.
#include "ascendsim/types.h"
