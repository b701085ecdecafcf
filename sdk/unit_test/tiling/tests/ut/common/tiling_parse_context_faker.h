// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TILING_PARSE_CONTEXT_FAKER_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_TILING_PARSE_CONTEXT_FAKER_H

#include "../../../tiling_parse_context_faker.h"

#endif
