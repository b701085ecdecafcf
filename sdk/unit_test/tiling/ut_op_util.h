// Names that tests use without qualification.
#ifndef ASCEND_SDK_UNIT_TEST_UT_OP_UTIL_H
#define ASCEND_SDK_UNIT_TEST_UT_OP_UTIL_H

#include <vector>

#include "tiling_faker.h"

using namespace ge;

namespace ut_util {
inline std::vector<int64_t> ToVector(const gert::Shape& shape)
{
    std::vector<int64_t> dims;
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        dims.push_back(shape.GetDim(i));
    }
    return dims;
}
} // namespace ut_util

#endif
