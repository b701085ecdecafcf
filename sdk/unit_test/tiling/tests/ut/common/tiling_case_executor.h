// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TILING_CASE_EXECUTOR_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TILING_CASE_EXECUTOR_H

#include "../../../tiling_case_executor.h"

#endif
