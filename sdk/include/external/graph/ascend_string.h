// Another path of graph/ascend_string.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_ASCEND_STRING_H
#define ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_ASCEND_STRING_H

#include "../../graph/ascend_string.h"

#endif
