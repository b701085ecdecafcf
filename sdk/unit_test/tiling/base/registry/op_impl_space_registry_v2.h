// Registered functions, as tests look them up.
#ifndef ASCEND_SDK_UNIT_TEST_BASE_REGISTRY_OP_IMPL_SPACE_REGISTRY_V2_H
#define ASCEND_SDK_UNIT_TEST_BASE_REGISTRY_OP_IMPL_SPACE_REGISTRY_V2_H

#include "../../tiling_faker.h"

#endif
