// Older name of graph/error_codes.h.
#ifndef ASCEND_SDK_GRAPH_GE_ERROR_CODES_H
#define ASCEND_SDK_GRAPH_GE_ERROR_CODES_H

#include "graph/error_codes.h"

#endif
