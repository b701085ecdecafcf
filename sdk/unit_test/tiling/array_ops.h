// Prototypes of graph inputs; graphs are no part of this SDK.
#ifndef ASCEND_SDK_UNIT_TEST_ARRAY_OPS_H
#define ASCEND_SDK_UNIT_TEST_ARRAY_OPS_H

#include "graph/operator_reg.h"

#endif
