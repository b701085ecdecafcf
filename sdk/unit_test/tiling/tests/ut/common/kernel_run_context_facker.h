// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_KERNEL_RUN_CONTEXT_FACKER_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_KERNEL_RUN_CONTEXT_FACKER_H

#include "../../../kernel_run_context_facker.h"

#endif
