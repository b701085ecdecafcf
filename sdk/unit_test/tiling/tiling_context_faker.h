// Contexts for tiling tests.
#ifndef ASCEND_SDK_UNIT_TEST_TILING_CONTEXT_FAKER_H
#define ASCEND_SDK_UNIT_TEST_TILING_CONTEXT_FAKER_H

#include "tiling_faker.h"

#endif
