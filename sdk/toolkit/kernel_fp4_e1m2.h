// Name under which toolkit headers ask for the type.
#include "kernel_low_precision.h"
