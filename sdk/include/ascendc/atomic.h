// Atomic accumulation of transfers to global memory.
#ifndef ASCENDC_ATOMIC_H
#define ASCENDC_ATOMIC_H

#include "ascendc/tensor.h"
#include "ascendsim/isa.h"

namespace AscendC {

template <typename T>
ASC_API void SetAtomicType()
{
    if constexpr (std::is_same<T, float>::value) {
        set_atomic_f32();
    } else if constexpr (std::is_same<T, half>::value) {
        set_atomic_f16();
    } else if constexpr (std::is_same<T, int16_t>::value) {
        set_atomic_s16();
    } else if constexpr (std::is_same<T, int32_t>::value) {
        set_atomic_s32();
    } else if constexpr (std::is_same<T, int8_t>::value) {
        set_atomic_s8();
    } else if constexpr (std::is_same<T, bfloat16_t>::value) {
        set_atomic_bf16();
    } else {
        // Kernels name such dtypes in branches that they do not take.
        ascendsim::Fault("dtype_unsupported", "SetAtomicType: the dtype has no atomic transfers on NPU architecture 2201");
    }
}
template <typename T>
ASC_API void SetAtomicAdd()
{
    set_atomic_add();
    SetAtomicType<T>();
}
template <typename T>
ASC_API void SetAtomicMax()
{
    set_atomic_max();
    SetAtomicType<T>();
}
template <typename T>
ASC_API void SetAtomicMin()
{
    set_atomic_min();
    SetAtomicType<T>();
}
ASC_API void SetAtomicNone() { set_atomic_none(); }
ASC_API void DisableDmaAtomic() { set_atomic_none(); }

}  // namespace AscendC

#endif
