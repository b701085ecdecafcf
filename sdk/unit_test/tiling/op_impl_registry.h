// Registered functions, as tests look them up.
#ifndef ASCEND_SDK_UNIT_TEST_OP_IMPL_REGISTRY_H
#define ASCEND_SDK_UNIT_TEST_OP_IMPL_REGISTRY_H

#include "tiling_faker.h"

#endif
