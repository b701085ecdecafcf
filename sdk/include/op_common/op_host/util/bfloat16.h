// The 16-bit brain floating point type of host code: stored as its bits, computed as float.
#ifndef ASCEND_SDK_OPBASE_BFLOAT16_H
#define ASCEND_SDK_OPBASE_BFLOAT16_H

#include <cstdint>

#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
struct OPBASE_API bfloat16 {
    uint16_t value = 0;

    bfloat16() = default;
    bfloat16(float number);
    operator float() const;
};
} // namespace Base
} // namespace Ops

#endif
