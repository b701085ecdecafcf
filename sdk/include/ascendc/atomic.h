// Atomic accumulation of transfers to global memory.
#ifndef ASCENDC_ATOMIC_H
#define ASCENDC_ATOMIC_H

#include "ascendc/tensor.h"
#include "ascendsim/isa.h"

namespace AscendC {

template <typename T>
ASC_API void SetAtomicType()
{
    ASCENDC_CHECK_DTYPE(SetAtomicType, T, half, float, int16_t, int32_t, int8_t, bfloat16_t);
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
    } else {
        set_atomic_bf16();
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
