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

/// Of the bytes from `from` to `to` of the unified buffer nothing is read in a run of `body` before something is written there.
inline void ExpectWrittenFirst(const std::string& what, uint64_t from, uint64_t to, Callee<void()> body)
{
    const bool looked = std::exchange(LooksForIdle(), false);
    Expect(ascendsim::OpenTrace("written.trace"), "a trace");
    const auto result = OnCore(body);
    Expect(ascendsim::CloseTrace() && result.faults == 0, what + ": " + result.first_fault);
    LooksForIdle() = looked;
    std::vector<bool> written(to - from, false);
    for (const Record& record : ReadTrace("written.trace").records) {
        // It takes eight values, however many there are.
        const bool whole = record.name != "vbrcb";
        for (const uint8_t access : {1, 2}) {  // an instruction reads before it writes
            for (const auto& op : record.ops) {
                for (uint32_t piece = 0; op.space == 0 && (op.access & access) != 0 && piece < op.count0 * op.count1; ++piece) {
                    const uint64_t at = op.addr + static_cast<uint64_t>(piece / op.count0 * op.stride1 + piece % op.count0 * op.stride0);
                    for (uint64_t byte = std::max(at, from); byte < std::min(at + op.len, to); ++byte) {
                        if (access == 2) {
                            written[byte - from] = true;
                        } else if (whole && !written[byte - from]) {
                            std::remove("written.trace");
                            return Fail(what + ": " + record.name + " reads byte " + std::to_string(byte - from) + ", which nobody has written");
                        }
                    }
                }
            }
        }
    }
    std::remove("written.trace");
}

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
