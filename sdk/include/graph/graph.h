// What operator sources reach through the graph header: operators, tensors and their types.
// Graph building itself is no part of this SDK; a source that uses more does not compile here.
#ifndef ASCEND_SDK_GRAPH_GRAPH_H
#define ASCEND_SDK_GRAPH_GRAPH_H

#include "graph/operator.h"
#include "graph/tensor.h"
#include "graph/types.h"

#endif
