// Tiling data and tiling keys on the kernel side, and the macros that the operator compiler looks for.
#ifndef ASCENDC_TILING_H
#define ASCENDC_TILING_H

#include "ascendc/tensor.h"

namespace AscendC {
namespace detail {

/// Copies tiling data out of GM word by word with the scalar unit, as compiled kernels do it.
ASC_API void ReadTiling(void* to, const __gm__ void* from, size_t bytes)
{
    constexpr size_t word = 8;
    uint8_t* target = static_cast<uint8_t*>(to);
    const uint8_t* source = static_cast<const uint8_t*>(from);
    for (size_t done = 0; done < bytes; done += word) {
        const size_t now = bytes - done < word ? bytes - done : word;
        if (ascendsim::ScalarRead(source + done, now)) {
            __builtin_memcpy(target + done, source + done, now);
        }
    }
}

}  // namespace detail
}  // namespace AscendC

/// Declares `name` of StructType and fills it from the tiling argument. The builder's GET_TILING_DATA(name, ptr)
/// expands to this with the operator's generated structure.
#define ASCENDSIM_GET_TILING(StructType, name, ptr) \
    StructType name;                                \
    ::AscendC::detail::ReadTiling(&name, ptr, sizeof(StructType))

#define GET_TILING_DATA_WITH_STRUCT(StructType, name, ptr) ASCENDSIM_GET_TILING(StructType, name, ptr)
#define GET_TILING_DATA_MEMBER(StructType, member, name, ptr)                                         \
    std::remove_cv_t<decltype(StructType::member)> name;                                              \
    ::AscendC::detail::ReadTiling(                                                                    \
        &name, static_cast<const uint8_t*>(ptr) + __builtin_offsetof(StructType, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(StructType, name, ptr) \
    const __gm__ StructType* name = reinterpret_cast<const __gm__ StructType*>(ptr)
#define COPY_TILING_WITH_STRUCT(StructType, from, to) \
    StructType to##_copy;                             \
    ::AscendC::detail::ReadTiling(&to##_copy, from, sizeof(StructType)); \
    const StructType* to = &to##_copy
#define COPY_TILING_WITH_ARRAY(Type, length, from, to) \
    Type to##_copy[length];                            \
    ::AscendC::detail::ReadTiling(to##_copy, from, sizeof(to##_copy)); \
    const Type* to = to##_copy

/// Compares with the key that the tiling function chose. Legal in `if TILING_KEY_IS(1) {` too.
#define TILING_KEY_IS(k) (::ascendsim::TilingKey() == static_cast<uint64_t>(k))

// Announcements to the operator compiler; the builder reads them from the source text.
#define REGISTER_TILING_DEFAULT(StructType)
#define REGISTER_TILING_FOR_TILINGKEY(expression, StructType)
#define REGISTER_NONE_TILING
#define KERNEL_TASK_TYPE(key, value)
#define KERNEL_TASK_TYPE_DEFAULT(value)

#endif
