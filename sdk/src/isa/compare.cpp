// Comparisons, to the CMPMASK register or to packed bits in memory, and selection.
#include <algorithm>

#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

enum class Relation { kEq, kNe, kLt, kLe, kGt, kGe };

inline void Comparable(const half* from, float* to, uint32_t count) { Widen(from, to, count); }
template <typename T>
inline void Comparable(const T* from, T* to, uint32_t count)
{
    std::memcpy(to, from, count * sizeof(T));
}

/// One byte per lane: whether the relation holds. The switch stays outside the loops so that they vectorise.
template <typename C>
void CompareRow(Relation relation, const C* a, const C* b, uint8_t* holds, uint32_t count)
{
    const auto each = [&](auto relates) {
        for (uint32_t i = 0; i < count; ++i) {
            holds[i] = relates(a[i], b[i]) ? 1 : 0;
        }
    };
    switch (relation) {
        case Relation::kEq:
            return each([](C x, C y) { return x == y; });
        case Relation::kNe:
            return each([](C x, C y) { return x != y; });
        case Relation::kLt:
            return each([](C x, C y) { return x < y; });
        case Relation::kLe:
            return each([](C x, C y) { return x <= y; });
        case Relation::kGt:
            return each([](C x, C y) { return x > y; });
        default:
            return each([](C x, C y) { return x >= y; });
    }
}

/// Comparison source: memory lanes, or one value for all of them.
template <typename T>
struct Source {
    Lanes lanes;
    bool scalar;
    T value;
    void Row(uint32_t step, uint32_t count, T* out) const
    {
        if (scalar) {
            std::fill(out, out + count, value);
        } else {
            CopyRow(lanes, step, count, out);
        }
    }
};

inline void PutBit(uint8_t* bits, size_t index, bool value)
{
    const uint8_t bit = static_cast<uint8_t>(1u << (index % 8));
    bits[index / 8] = static_cast<uint8_t>(value ? bits[index / 8] | bit : bits[index / 8] & ~bit);
}
inline bool GetBit(const uint8_t* bits, size_t index) { return (bits[index / 8] >> (index % 8) & 1u) != 0; }

/// Compares one step and puts its active bits at `bits`, bit `origin` first.
template <typename T>
void CompareStep(const Active& active, uint32_t step, Relation relation, const Source<T>& a, const Source<T>& b,
                 uint8_t* bits, size_t origin)
{
    using C = std::conditional_t<std::is_same<T, half>::value, float, T>;
    T raw[kRepeat / sizeof(T)];
    C x[kRepeat / sizeof(T)];
    C y[kRepeat / sizeof(T)];
    uint8_t holds[kRepeat / sizeof(T)];
    const uint32_t end = active.End(step);
    if (end == 0) {
        return;
    }
    a.Row(step, end, raw);
    Comparable(raw, x, end);
    b.Row(step, end, raw);
    Comparable(raw, y, end);
    CompareRow(relation, x, y, holds, end);
    uint32_t lane = 0;
    for (; active.low && lane + 8 <= end; lane += 8) {  // origins are multiples of eight
        uint32_t packed = 0;
        for (uint32_t i = 0; i < 8; ++i) {
            packed |= static_cast<uint32_t>(holds[lane + i]) << i;
        }
        bits[(origin + lane) / 8] = static_cast<uint8_t>(packed);
    }
    for (; lane < end; ++lane) {
        if (active.IsOn(step, lane)) {
            PutBit(bits, origin + lane, holds[lane] != 0);
        }
    }
}

/// Lanes of a comparison to memory: outside counter mode all of them, whatever the mask says.
Active ComparedLanes(const Core& core, uint32_t per_repeat, uint32_t repeat)
{
    Active active = ActiveLanes(core, per_repeat, repeat);
    if (!active.counted) {
        active.full = true;
        active.low = true;
        active.lanes = per_repeat;
    }
    return active;
}

/// Bits of consecutive repeats are packed without gaps, whatever the destination's strides say.
template <typename T>
void CompareTo(uint8_t* dst, uint16_t opcode, uint64_t site, uint32_t repeat, Relation relation, const Source<T>& a,
               const Source<T>& b)
{
    Core& core = Current();
    const uint32_t per_repeat = kRepeat / sizeof(T);
    const Active active = ComparedLanes(core, per_repeat, repeat);
    Recorder recorder(core, opcode, site);
    if (active.Empty()) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    const uint32_t bits = active.repeats * per_repeat + active.tail;
    const bool legal = recorder.Aligned(dst, kBlock) && recorder.Aligned(a.lanes.base, kBlock) &&
                       (b.scalar || recorder.Aligned(b.lanes.base, kBlock));
    if (!legal) {
        return;
    }
    recorder.AddPieces(dst, (bits + 7) / 8, kWrite);
    recorder.AddLanes(a.lanes, active);
    if (!b.scalar) {
        recorder.AddLanes(b.lanes, active);
    }
    if (!recorder.InBounds()) {
        return;
    }
    if (!recorder.Write(DtypeOf<T>::value, active)) {
        return;
    }
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        CompareStep(active, step, relation, a, b, dst, size_t{step} * per_repeat);
    }
}

template <typename T>
void CompareToMask(uint16_t opcode, uint64_t site, uint32_t repeat, Relation relation, const Source<T>& a,
                   const Source<T>& b)
{
    Core& core = Current();
    const uint32_t per_repeat = kRepeat / sizeof(T);
    const Active active = ActiveLanes(core, per_repeat, repeat);
    core.cmpmask_known = false;
    Recorder recorder(core, opcode, site);
    if (!active.Empty()) {
        if (!recorder.Aligned(a.lanes.base, kBlock) || !recorder.Aligned(b.lanes.base, kBlock)) {
            return;
        }
        recorder.AddLanes(a.lanes, active);
        recorder.AddLanes(b.lanes, active);
        if (!recorder.InBounds()) {
            return;
        }
    }
    if (!recorder.Write(DtypeOf<T>::value, active)) {
        return;
    }
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        CompareStep(active, step, relation, a, b, core.cmpmask, 0);
    }
}

/// Where a selection takes its bits and its second operand from.
template <typename T>
struct Choice {
    const uint8_t* bits;   // in memory, or the register
    bool consecutive;      // bits go on from repeat to repeat
    Source<T> other;
};

/// Whether a repeat writes over bits that a later one selects by.
bool WritesItsBits(const Lanes& dst, const Active& active, const uint8_t* bits)
{
    const uint32_t per_repeat = kRepeat / dst.size;
    const uintptr_t end = reinterpret_cast<uintptr_t>(bits) + (active.repeats * per_repeat + active.tail + 7) / 8;
    for (uint32_t step = 0; step + 1 < active.Steps(); ++step) {
        const uintptr_t next = reinterpret_cast<uintptr_t>(bits) + size_t{step + 1} * per_repeat / 8;
        const uint32_t blocks = (active.End(step) * dst.size + kBlock - 1) / kBlock;
        for (uint32_t block = 0; block < blocks; ++block) {
            const size_t before = size_t{step} * dst.repeat_stride + size_t{block} * dst.block_stride;
            const auto at = reinterpret_cast<uintptr_t>(dst.base) + before * kBlock;
            if (at < end && at + kBlock > next) {
                return true;
            }
        }
    }
    return false;
}

template <typename T>
void Select(T* dst, const Lanes& dst_lanes, const Lanes& first, const Choice<T>& choice, uint32_t repeat, uint64_t site)
{
    Core& core = Current();
    const uint32_t per_repeat = kRepeat / sizeof(T);
    const Active active = ActiveLanes(core, per_repeat, repeat);
    Recorder recorder(core, kOp_vsel, site);
    if (active.Empty()) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(first.base, kBlock) ||
        (!choice.other.scalar && !recorder.Aligned(choice.other.lanes.base, kBlock)) ||
        (choice.consecutive && !recorder.Aligned(choice.bits, kBlock))) {
        return;
    }
    recorder.AddLanes(dst_lanes, active);
    recorder.AddLanes(first, active);
    if (!choice.other.scalar) {
        recorder.AddLanes(choice.other.lanes, active);
    }
    if (choice.consecutive) {
        recorder.AddPieces(choice.bits, (active.repeats * per_repeat + active.tail + 7) / 8, kRead);
    }
    if (!recorder.InBounds()) {
        return;
    }
    if (choice.consecutive && WritesItsBits(dst_lanes, active, choice.bits)) {
        RaiseFault(core, FaultKind::kOperandOverlap, site, "vsel: a repeat reads bits that an earlier one has written its results over");
    }
    if (!recorder.Write(DtypeOf<T>::value, active)) {
        return;
    }
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        const size_t origin = choice.consecutive ? size_t{step} * per_repeat : 0;
        T x[kRepeat / sizeof(T)];
        T y[kRepeat / sizeof(T)];
        const uint32_t end = active.End(step);
        CopyRow(first, step, end, x);
        choice.other.Row(step, end, y);
        for (uint32_t lane = 0; lane < end; ++lane) {
            x[lane] = GetBit(choice.bits, origin + lane) ? x[lane] : y[lane];
        }
        if (active.low && dst_lanes.block_stride == 1) {
            std::memcpy(LaneAt(dst_lanes, step, 0), x, end * sizeof(T));
            continue;
        }
        for (uint32_t lane = 0; lane < end; ++lane) {
            if (active.IsOn(step, lane)) {
                Store(LaneAt(dst_lanes, step, lane), x[lane]);
            }
        }
    }
}

/// The address that mode 2 finds in CMPMASK: a host address, or an offset when the upper word is zero.
const uint8_t* MaskAddress(const Core& core)
{
    uint64_t address = 0;
    std::memcpy(&address, core.cmpmask, sizeof(address));
    const uint64_t low = address & 0xFFFFFFFFu;
    const bool offset = address == low || (address >> 32) == low;  // a 32-bit fill repeats the offset
    return offset ? core.ub + low : reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(address));
}

bool MaskAccess(Core& core, uint16_t opcode, uint64_t site, void* where, uint8_t access)
{
    Recorder recorder(core, opcode, site);
    if (!recorder.Aligned(where, 16)) {
        return false;
    }
    recorder.AddPieces(where, sizeof(core.cmpmask), access);
    if (!recorder.InBounds()) {
        return false;
    }
    return recorder.Write(kB8, Active());
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;
using ascendsim::kRead;

#define SRC0(T) Source<T>{{src0, sizeof(T), src0BlockStride, src0RepeatStride, kRead}, false, T()}
#define SRC1(T) Source<T>{{src1, sizeof(T), src1BlockStride, src1RepeatStride, kRead}, false, T()}

#define BODY_V(rel, Rel, T)                                                                                \
    void vcmpv_##rel(uint8_t* dst, T* src0, T* src1, uint8_t repeat, uint8_t, uint8_t src0BlockStride,     \
                     uint8_t src1BlockStride, uint8_t, uint8_t src0RepeatStride, uint8_t src1RepeatStride) \
    {                                                                                                      \
        CompareTo<T>(dst, ascendsim::kOp_vcmpv_##rel, ASCENDSIM_SITE(), repeat, Relation::Rel, SRC0(T), SRC1(T)); \
    }
#define BODY_VS(rel, Rel, T)                                                                               \
    void vcmpvs_##rel(uint8_t* dst, T* src, T value, uint8_t repeat, uint16_t, uint16_t srcBlockStride,    \
                      uint16_t, uint16_t srcRepeatStride)                                                  \
    {                                                                                                      \
        const Source<T> lanes = {{src, sizeof(T), srcBlockStride, srcRepeatStride, kRead}, false, T()};    \
        const Source<T> scalar = {lanes.lanes, true, value};                                               \
        NoteValue(Current(), value);                                                                       \
        CompareTo<T>(dst, ascendsim::kOp_vcmpvs_##rel, ASCENDSIM_SITE(), repeat, Relation::Rel, lanes, scalar); \
    }
#define BODY(rel, Rel, T)                                                                                  \
    BODY_V(rel, Rel, T)                                                                                    \
    BODY_VS(rel, Rel, T)                                                                                   \
    void vcmp_##rel(T* src0, T* src1, uint8_t repeat, uint8_t, uint8_t src0BlockStride,                    \
                    uint8_t src1BlockStride, uint8_t, uint8_t src0RepeatStride, uint8_t src1RepeatStride)  \
    {                                                                                                      \
        CompareToMask<T>(ascendsim::kOp_vcmp_##rel, ASCENDSIM_SITE(), repeat, Relation::Rel, SRC0(T), SRC1(T)); \
    }
#define BODY_BOTH(rel, Rel) \
    BODY(rel, Rel, half)    \
    BODY(rel, Rel, float)
BODY_BOTH(eq, kEq)
BODY_BOTH(ne, kNe)
BODY_BOTH(lt, kLt)
BODY_BOTH(le, kLe)
BODY_BOTH(gt, kGt)
BODY_BOTH(ge, kGe)
BODY_V(eq, kEq, int32_t)
BODY_VS(eq, kEq, int32_t)

#define BODY_SEL(T)                                                                                               \
    void vsel(T* dst, T* src0, T* src1, uint8_t repeat, uint8_t dstBlockStride, uint8_t src0BlockStride,          \
              uint8_t src1BlockStride, uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride) \
    {                                                                                                             \
        const Lanes to = {dst, sizeof(T), dstBlockStride, dstRepeatStride, ascendsim::kWrite};                    \
        Select<T>(dst, to, SRC0(T).lanes, {Current().cmpmask, false, SRC1(T)}, repeat, ASCENDSIM_SITE());         \
    }                                                                                                             \
    void vsel(T* dst, T* src0, void* src1, uint8_t repeat, uint8_t dstBlockStride, uint8_t src0BlockStride,       \
              uint8_t src1BlockStride, uint8_t dstRepeatStride, uint8_t src0RepeatStride,                         \
              uint8_t src1RepeatStride, uint8_t mode)                                                             \
    {                                                                                                             \
        Core& core = Current();                                                                                   \
        const Lanes to = {dst, sizeof(T), dstBlockStride, dstRepeatStride, ascendsim::kWrite};                    \
        if (mode == 1) {                                                                                          \
            const Source<T> scalar = {{}, true, Load<T>(core.cmpmask)};                                            \
            Select<T>(dst, to, SRC0(T).lanes, {static_cast<const uint8_t*>(src1), true, scalar}, repeat,          \
                      ASCENDSIM_SITE());                                                                          \
        } else {                                                                                                  \
            if (mode != 0 && !core.cmpmask_known) {                                                               \
                ascendsim::machine::NeedsData(core, ASCENDSIM_SITE(),                                             \
                                              "vsel takes the place of its mask from a register that memory is loaded into"); \
            }                                                                                                     \
            const uint8_t* bits = mode == 0 ? core.cmpmask : MaskAddress(core);                                   \
            Select<T>(dst, to, SRC0(T).lanes, {bits, mode != 0, SRC1(T)}, repeat, ASCENDSIM_SITE());              \
        }                                                                                                         \
    }
BODY_SEL(half)
BODY_SEL(float)
#undef BODY_V
#undef BODY_VS
#undef BODY
#undef BODY_BOTH
#undef BODY_SEL

void set_cmpmask(void* src)
{
    Core& core = Current();
    core.cmpmask_known = false;
    if (MaskAccess(core, ascendsim::kOp_set_cmpmask, ASCENDSIM_SITE(), src, kRead)) {
        std::memcpy(core.cmpmask, src, sizeof(core.cmpmask));
    }
}

void get_cmpmask(void* dst)
{
    Core& core = Current();
    if (MaskAccess(core, ascendsim::kOp_get_cmpmask, ASCENDSIM_SITE(), dst, ascendsim::kWrite)) {
        std::memcpy(dst, core.cmpmask, sizeof(core.cmpmask));
    }
}

void ascendsim::LoadedCmpMask(const void* value, size_t bytes)
{
    Core& core = Current();
    core.cmpmask_known = true;
    uint64_t bits = 0;
    std::memcpy(&bits, value, std::min(bytes, sizeof(bits)));
    NoteValue(core, bits);
    for (size_t at = 0; !TouchesData() && at + bytes <= sizeof(core.cmpmask); at += bytes) {
        std::memcpy(core.cmpmask + at, value, bytes);
    }
}
