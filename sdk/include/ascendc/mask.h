// Mask registers: which lanes of a repeat, or how many elements, a vector instruction works on.
#ifndef ASCENDC_MASK_H
#define ASCENDC_MASK_H

#include "ascendc/defs.h"
#include "ascendc/fault.h"
#include "ascendsim/isa.h"

namespace AscendC {

ASC_API void SetMaskCount() { set_mask_count(); }
ASC_API void SetMaskNorm() { set_mask_norm(); }
ASC_API void ResetMask() { set_vector_mask(FULL_MASK, FULL_MASK); }

namespace detail {

/// The lowest `len` lanes. 64 means the low word alone whatever the dtype, as the toolkit's library does it.
template <typename T>
ASC_API void SetMaskLen(int32_t len)
{
    constexpr int32_t lanes = DEFAULT_BLOCK_SIZE / static_cast<int32_t>(sizeof(T));
    if (len > lanes && sizeof(T) > 1) {
        ascendsim::Fault(
            "bad_argument", Describe("a mask of ", static_cast<uint64_t>(len), " lanes: a repeat has ", lanes, "").Text());
        return;
    }
    if (len == HALF_MASK_LEN) {
        set_vector_mask(0, FULL_MASK);
    } else if (len == lanes || len >= FULL_MASK_LEN) {
        set_vector_mask(FULL_MASK, FULL_MASK);
    } else if (len > HALF_MASK_LEN) {
        set_vector_mask((uint64_t(1) << static_cast<uint32_t>(len - HALF_MASK_LEN)) - 1, FULL_MASK);
    } else {
        set_vector_mask(0, (uint64_t(1) << static_cast<uint32_t>(len)) - 1);
    }
}

template <typename T, bool isSetMask>
ASC_API void SetMask(int32_t len)
{
    if constexpr (isSetMask) {
        SetMaskLen<T>(len);
    }
}
template <typename T, bool isSetMask>
ASC_API void SetMask(uint64_t high, uint64_t low)
{
    if constexpr (isSetMask) {
        if (sizeof(T) == 4 && low == 0 && high != 0) {
            ascendsim::Fault(
                "bad_argument", "the second word of a mask has lanes and the first has none: elements of 32 bits have only those of the first");
        }
        set_vector_mask(high, low);
    }
}

/// Mask state around one counter-mode instruction over `count` elements.
ASC_API void BeginCount(uint64_t count)
{
    set_mask_count();
    set_vector_mask(0, count);
}
ASC_API void EndCount()
{
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
}
/// The same in the order in which scalar operations, fills and selections restore it.
ASC_API void EndCountMaskFirst()
{
    set_vector_mask(FULL_MASK, FULL_MASK);
    set_mask_norm();
}

}  // namespace detail

template <typename T, MaskMode mode = MaskMode::NORMAL>
ASC_API void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow)
{
    set_vector_mask(maskHigh, maskLow);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
ASC_API void SetVectorMask(int32_t len)
{
    if constexpr (mode == MaskMode::COUNTER) {
        set_vector_mask(0, static_cast<uint64_t>(len));
    } else {
        detail::SetMaskLen<T>(len);
    }
}

}  // namespace AscendC

#endif
