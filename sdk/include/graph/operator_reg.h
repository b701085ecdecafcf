// Included by operator definitions; graph prototypes (REG_OP) are no part of this SDK.
#ifndef ASCEND_SDK_GRAPH_OPERATOR_REG_H
#define ASCEND_SDK_GRAPH_OPERATOR_REG_H

#include "graph/operator.h"

#endif
