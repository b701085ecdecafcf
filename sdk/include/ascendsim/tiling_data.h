// Tiling data on the kernel side. The operator compiler generates these macros, so no header set has them.
#ifndef ASCENDSIM_TILING_DATA_H
#define ASCENDSIM_TILING_DATA_H

#include "ascendsim/core.h"
#include "ascendsim/types.h"

namespace ascendsim {

/// Copies tiling data out of GM word by word with the scalar unit, as compiled kernels do it.
ASC_API void ReadTiling(void* to, const __gm__ void* from, size_t bytes)
{
    ReadTilingWords(to, from, bytes);
}

}  // namespace ascendsim

/// A part of the tiling data, which may lie in global memory still or in a copy of the kernel's. Kernels that need little of much call it.
ASC_API void copy_data_align64(uint8_t* to, const __gm__ uint8_t* from, uint64_t bytes)
{
    if (ascendsim::GmBytesFrom(from) != 0) {
        ascendsim::ReadTiling(to, from, bytes);
    } else {
        __builtin_memcpy(to, from, bytes);
    }
}

/// Declares `name` of StructType and fills it from the tiling argument. The builder's GET_TILING_DATA(name, ptr)
/// expands to this with the operator's generated structure.
#define ASCENDSIM_GET_TILING(StructType, name, ptr) \
    StructType name;                                \
    ::ascendsim::ReadTiling(&name, ptr, sizeof(StructType))

#define GET_TILING_DATA_WITH_STRUCT(StructType, name, ptr) ASCENDSIM_GET_TILING(StructType, name, ptr)
#define GET_TILING_DATA_MEMBER(StructType, member, name, ptr)                                         \
    std::remove_cv_t<decltype(StructType::member)> name;                                              \
    ::ascendsim::ReadTiling(                                                                    \
        &name, static_cast<const uint8_t*>(ptr) + __builtin_offsetof(StructType, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(StructType, name, ptr) \
    const __gm__ StructType* name = reinterpret_cast<const __gm__ StructType*>(ptr)
#define COPY_TILING_WITH_STRUCT(StructType, from, to) \
    StructType to##_copy;                             \
    ::ascendsim::ReadTiling(&to##_copy, from, sizeof(StructType)); \
    const StructType* to = &to##_copy
#define COPY_TILING_WITH_ARRAY(Type, length, from, to) \
    Type to##_copy[length];                            \
    ::ascendsim::ReadTiling(to##_copy, from, sizeof(to##_copy)); \
    const Type* to = to##_copy

#endif
