// Name under which toolkit headers ask for the type.
#include "ascendsim/isa.h"
