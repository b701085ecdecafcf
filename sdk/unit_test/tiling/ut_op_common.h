// Names that tests use without qualification.
#ifndef ASCEND_SDK_UNIT_TEST_UT_OP_COMMON_H
#define ASCEND_SDK_UNIT_TEST_UT_OP_COMMON_H

#include <map>
#include <string>
#include <vector>

#include "tiling_faker.h"

using namespace std;
using namespace ge;

#endif
