// Small pieces that library functions over rows share: lanes, copies by count, temporary memory.
#ifndef ASCENDC_ADV_ROW_TOOLS_H
#define ASCENDC_ADV_ROW_TOOLS_H

#include "ascendc/data_copy.h"
#include "ascendc/gather.h"
#include "ascendc/tque.h"
#include "ascendc/vec_cast.h"
#include "ascendc/vec_duplicate.h"

namespace AscendC {
namespace detail {

/// Unsigned integer of the element's width, for functions that only move elements.
template <typename T>
using MoveLane = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;

template <typename T>
constexpr uint32_t blockElements = ONE_BLK_SIZE / static_cast<uint32_t>(sizeof(T));
template <typename T>
constexpr uint32_t repeatElements = ONE_REPEAT_BYTE_SIZE / static_cast<uint32_t>(sizeof(T));

ASC_API constexpr uint32_t RoundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
ASC_API constexpr uint32_t RoundDown(uint32_t value, uint32_t unit) { return value / unit * unit; }

/// Part of a temporary buffer: `count` elements of T from byte `offset`.
template <typename T>
ASC_API LocalTensor<T> TmpPart(const LocalTensor<uint8_t>& tmp, uint32_t offset, uint32_t count)
{
    LocalTensor<T> part = tmp[offset].template ReinterpretCast<T>();
    part.SetSize(count);
    return part;
}

/// Temporary memory behind the kernel's own buffers.
ASC_API LocalTensor<uint8_t> StackTmp()
{
    LocalTensor<uint8_t> tmp;
    PopStackBuffer<uint8_t, TPosition::LCM>(tmp);
    return tmp;
}

/// A library function that does not get the temporary memory it needs writes nothing.
ASC_API bool EnoughTmp(const char* api, uint64_t needed, uint64_t available)
{
    if (needed <= available) {
        return true;
    }
    FaultText text;
    text << api << ": needs " << needed << " bytes of temporary memory, has " << available;
    ascendsim::Fault("ub_overflow", text.Text());
    return false;
}

/// Copies `count` elements within UB by the vector unit.
template <typename T>
ASC_API void CopyCount(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count)
{
    using Lane = MoveLane<T>;
    BeginCount(uint64_t(count) * (sizeof(T) / sizeof(Lane)));
    vcopy(UbAs<Lane>(dst), UbAs<Lane>(src), 1, 1, 1, DEFAULT_REPEAT_STRIDE, DEFAULT_REPEAT_STRIDE);
    EndCount();
    PipeBarrier<PIPE_V>();
}

/// Drops what lies behind the first `cols` of every `pitch` elements of `rows` rows.
template <typename T>
ASC_API void PackRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t rows, uint32_t cols, uint32_t pitch)
{
    uint64_t kept = 0;
    constexpr uint8_t allElements = 7;
    const GatherMaskParams params(
        1, static_cast<uint16_t>(rows), static_cast<uint16_t>(pitch / blockElements<T>), 0);
    GatherMask(dst, src, allElements, true, cols, params, kept);
    ResetMask();
    PipeBarrier<PIPE_V>();
}

}  // namespace detail
}  // namespace AscendC

#endif
