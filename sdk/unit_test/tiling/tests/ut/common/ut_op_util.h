// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_UT_OP_UTIL_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_UT_OP_UTIL_H

#include "../../../ut_op_util.h"

#endif
