// Another path of graph/ge_error_codes.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_GE_ERROR_CODES_H
#define ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_GE_ERROR_CODES_H

#include "../../graph/ge_error_codes.h"

#endif
