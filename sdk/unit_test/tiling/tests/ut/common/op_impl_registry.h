// The helper by its path in the repository.
#ifndef ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_OP_IMPL_REGISTRY_H
#define ASCEND_SDK_UNIT_TEST_TESTS_UT_COMMON_OP_IMPL_REGISTRY_H

#include "../../../op_impl_registry.h"

#endif
