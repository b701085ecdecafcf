// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_ANY_VALUE_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_ANY_VALUE_H

#include "../../../any_value.h"

#endif
