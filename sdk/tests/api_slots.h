// The unified buffer in slots of one length, for tests of API functions. Behind kernel_operator.h.
#ifndef API_SLOTS_H
#define API_SLOTS_H

#include <algorithm>

#include "isa_support.h"

namespace isa_test {

/// Everything in the unified buffer before a call: whatever the call writes besides `places`, each the first bytes of a slot, is a mistake.
template <uint32_t kSlotBytes>
class Kept {
public:
    Kept() : before_(ascendsim::UbBase(), ascendsim::UbBase() + kBytes) {}
    void But(const std::string& what, const std::vector<std::pair<uint32_t, size_t>>& places) const
    {
        const uint8_t* now = ascendsim::UbBase();
        std::vector<uint8_t> want = before_;
        for (const auto& [slot, bytes] : places) {
            std::memcpy(want.data() + slot * kSlotBytes, now + slot * kSlotBytes, bytes);
        }
        if (std::memcmp(want.data(), now, kBytes) != 0) {
            const size_t at = static_cast<size_t>(std::mismatch(want.begin(), want.end(), now).first - want.begin());
            Fail(what + " writes byte " + std::to_string(at % kSlotBytes) + " of slot " + std::to_string(at / kSlotBytes));
        }
    }

private:
    static constexpr size_t kBytes = 184 * 1024;  // behind it lies what the library needs for itself
    std::vector<uint8_t> before_;
};

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
