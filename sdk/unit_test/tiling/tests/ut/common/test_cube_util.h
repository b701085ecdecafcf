// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TEST_CUBE_UTIL_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TEST_CUBE_UTIL_H

#include "../../../test_cube_util.h"

#endif
