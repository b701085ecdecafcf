// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_ARRAY_OPS_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_ARRAY_OPS_H

#include "../../../array_ops.h"

#endif
