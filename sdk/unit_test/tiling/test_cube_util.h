// Machine descriptions of tests.
#ifndef ASCEND_SDK_UNIT_TEST_TEST_CUBE_UTIL_H
#define ASCEND_SDK_UNIT_TEST_TEST_CUBE_UTIL_H

#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "tiling_faker.h"

using namespace std;

#endif
