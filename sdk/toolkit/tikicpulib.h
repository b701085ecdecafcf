// Name under which kernels and toolkit headers ask for the CPU-debug package as a whole.
#include "stub_def.h"
