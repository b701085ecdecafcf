// Contexts for tiling tests.
#ifndef ASCEND_SDK_UNIT_TEST_KERNEL_RUN_CONTEXT_FACKER_H
#define ASCEND_SDK_UNIT_TEST_KERNEL_RUN_CONTEXT_FACKER_H

#include "tiling_faker.h"

#endif
