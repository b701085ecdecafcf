// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_UT_OP_COMMON_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_UT_OP_COMMON_H

#include "../../../ut_op_common.h"

#endif
