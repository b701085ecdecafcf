// Architecture 2201 has no SIMT unit; the headers only ask that the file exists.
#include "stub_def.h"
