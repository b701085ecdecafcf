// Another path of graph/types.h.
#ifndef ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_TYPES_H
#define ASCEND_SDK_FORWARD_EXTERNAL_GRAPH_TYPES_H

#include "../../graph/types.h"

#endif
