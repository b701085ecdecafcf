// Sizes of the vector core as the operator base library names them.
#ifndef ASCEND_SDK_OPBASE_KERNEL_PLATFORM_UTIL_H
#define ASCEND_SDK_OPBASE_KERNEL_PLATFORM_UTIL_H

#include "kernel_operator.h"

namespace Ops {
namespace Base {
/// Bytes of a block of the unified buffer.
__aicore__ inline constexpr uint32_t GetUbBlockSize()
{
    return AscendC::ONE_BLK_SIZE;
}

/// Bytes that a vector instruction takes in one repeat.
__aicore__ inline constexpr uint32_t GetVRegSize()
{
    return AscendC::ONE_REPEAT_BYTE_SIZE;
}
} // namespace Base
} // namespace Ops

#endif
