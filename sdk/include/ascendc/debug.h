// Debugging aids: they compile and do nothing, as in a release build of a kernel. printf is the C library's, because
// programs that use the whole namespace call it from their host code too.
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "ascendc/tensor.h"

extern "C" int printf(const char* __restrict format, ...);

namespace AscendC {

using ::printf;

template <typename... Args>
ASC_API void PRINTF(const char* format, Args&&... args)
{
    (void)format;
    ((void)args, ...);
}
template <typename... Args>
ASC_API void DumpTensor(Args&&... args)
{
    ((void)args, ...);
}
template <typename... Args>
ASC_API void DumpAccChkPoint(Args&&... args)
{
    ((void)args, ...);
}
ASC_API void PrintTimeStamp(uint32_t descId) { (void)descId; }
ASC_API void OOMCheckAddrRange(GM_ADDR address, const uint64_t size)
{
    (void)address;
    (void)size;
}

}  // namespace AscendC

// Not even parsed: kernels assert on names that exist only in debug builds, and leave out the semicolon.
#undef ASSERT
#define ASSERT(...)
#undef ASSERT_MSG
#define ASSERT_MSG(...)
#undef ascendc_assert
#define ascendc_assert(...)
#define ASCENDC_ASSERT(...)
#define KERNEL_LOG(...)
#ifndef assert
#define assert(...)
#endif
#define PRELOAD(len)

#endif
