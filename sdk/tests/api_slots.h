// The unified buffer in slots of one length, for tests of API functions. Behind kernel_operator.h.
#ifndef API_SLOTS_H
#define API_SLOTS_H

#include "isa_support.h"

namespace isa_test {

template <uint32_t kBytes>
struct Slots {
    /// A slot as a tensor.
    template <typename T>
    static AscendC::LocalTensor<T> At(uint32_t slot)
    {
        return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, slot * kBytes, kBytes / sizeof(T));
    }
    /// The same past the API.
    template <typename T>
    static T* Raw(uint32_t slot)
    {
        return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kBytes);
    }
    template <typename T>
    static float Value(uint32_t slot, uint32_t at)
    {
        return static_cast<float>(Raw<T>(slot)[at]);
    }
};

}  // namespace isa_test

#endif
