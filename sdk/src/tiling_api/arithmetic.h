// Small arithmetic that the library tilings share.
#ifndef ASCEND_SDK_TILING_API_ARITHMETIC_H
#define ASCEND_SDK_TILING_API_ARITHMETIC_H

#include <cstdint>
#include <type_traits>

#include "tiling/library_shape.h"

namespace AscendC {
namespace tiling_api {
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kRepeatBytes = 256;
constexpr uint32_t kFloat = 4;

constexpr bool IsHalfOrFloat(uint32_t type_size)
{
    return type_size == 2 || type_size == kFloat;
}

constexpr uint32_t RoundUp(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

inline uint32_t Dim(const TensorShape& shape, size_t index)
{
    return static_cast<uint32_t>(shape.GetDim(index));
}

inline uint32_t Elements(const TensorShape& shape)
{
    return static_cast<uint32_t>(shape.GetShapeSize());
}

// The same computation for the plain structure that a kernel sees.
template <typename Class, typename Struct, typename Compute>
auto AsStruct(Struct& out, const Compute& compute)
{
    Class tiling;
    if constexpr (std::is_void_v<decltype(compute(tiling))>) {
        compute(tiling);
        tiling.SaveToBuffer(&out, sizeof(Struct));
    } else {
        const auto result = compute(tiling);
        tiling.SaveToBuffer(&out, sizeof(Struct));
        return result;
    }
}
} // namespace tiling_api
} // namespace AscendC

#endif
