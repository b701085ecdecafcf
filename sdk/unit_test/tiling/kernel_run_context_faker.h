// A name under which tests include what tiling_faker.h has.
#ifndef ASCEND_SDK_UNIT_TEST_KERNEL_RUN_CONTEXT_FAKER_H
#define ASCEND_SDK_UNIT_TEST_KERNEL_RUN_CONTEXT_FAKER_H

#include "tiling_faker.h"

#endif
