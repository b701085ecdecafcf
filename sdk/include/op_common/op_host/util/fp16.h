// The 16-bit IEEE type of host code: stored as its bits, computed as float.
#ifndef ASCEND_SDK_OPBASE_FP16_H
#define ASCEND_SDK_OPBASE_FP16_H

#include <cstdint>

#include "op_common/op_host/util/opbase_export.h"

namespace Ops {
namespace Base {
struct OPBASE_API fp16_t {
    uint16_t val = 0;

    fp16_t() = default;
    fp16_t(float value);
    operator float() const;
};
} // namespace Base
} // namespace Ops

#endif
