// Conversions whose narrow side is no whole number of lanes in a block: four-bit integers, and eight-bit results in one half
// of every block. Also the exchange of channels and pixels.
#include <algorithm>
#include <cmath>

#include "isa/elementwise.h"
#include "isa/operands.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

constexpr uint32_t kLanes = kRepeat / 2;  // of the 16-bit side
constexpr uint32_t kBlockLanes = kBlock / 2;

struct Strides {
    uint32_t repeat, dst_block, src_block, dst_repeat, src_repeat;
};

/// Adds what `blocks` blocks of `bytes` used bytes take, for every repeat of a mask.
void AddBlocks(Recorder& recorder, const uint8_t* base, uint32_t bytes, uint32_t blocks, uint32_t block_stride, uint32_t steps,
               uint32_t repeat_stride, uint8_t access)
{
    recorder.AddPieces(base, bytes, access, blocks, int64_t{block_stride} * kBlock, steps, int64_t{repeat_stride} * kBlock);
}

/// Checks and records an instruction between `wide` (16-bit lanes) and `narrow` (32 / share bytes used of a block of
/// `narrow_lanes` lanes). False when nothing is to be done.
bool Admit(Core& core, uint16_t opcode, uint8_t dtype, uint64_t site, const uint8_t* dst, const uint8_t* src, const Strides& s,
           bool wide_is_dst, uint32_t narrow_lanes, uint32_t narrow_bytes, const uint8_t* aligned_dst, Active* active,
           const uint8_t* second = nullptr, uint32_t second_block = 0, uint32_t second_repeat = 0)
{
    *active = ActiveLanes(core, kLanes, s.repeat);
    Recorder recorder(core, opcode, site);
    if (active->Empty()) {
        recorder.Write(dtype, *active);
        return false;
    }
    if (!recorder.Aligned(aligned_dst, kBlock) || !recorder.Aligned(src, kBlock)) {
        return false;
    }
    const uint32_t end = std::max(active->End(0), active->tail);
    const uint32_t wide_blocks = CeilDiv(end, kBlockLanes);
    const uint32_t narrow_blocks = CeilDiv(end, narrow_lanes);
    const uint32_t steps = active->Steps();
    if (wide_is_dst) {
        AddBlocks(recorder, dst, kBlock, wide_blocks, s.dst_block, steps, s.dst_repeat, kWrite);
        AddBlocks(recorder, src, narrow_bytes, narrow_blocks, s.src_block, steps, s.src_repeat, kRead);
    } else {
        AddBlocks(recorder, dst, narrow_bytes, narrow_blocks, s.dst_block, steps, s.dst_repeat, kWrite);
        AddBlocks(recorder, src, kBlock, wide_blocks, s.src_block, steps, s.src_repeat, kRead);
    }
    if (second != nullptr) {
        if (!recorder.Aligned(second, kBlock)) {
            return false;
        }
        AddBlocks(recorder, second, kBlock, wide_blocks, second_block, steps, second_repeat, kRead);
    }
    if (!recorder.InBounds()) {
        return false;
    }
    return recorder.Write(dtype, *active);
}

/// Calls `lane(step, lane)` for every active lane.
template <typename F>
void ForLanes(const Active& active, F&& lane)
{
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        const uint32_t end = active.End(step);
        for (uint32_t i = 0; i < end; ++i) {
            if (active.IsOn(step, i)) {
                lane(step, i);
            }
        }
    }
}

size_t LaneByte(uint32_t step, uint32_t block, uint32_t repeat_stride, uint32_t block_stride)
{
    return (size_t{step} * repeat_stride + size_t{block} * block_stride) * kBlock;
}

template <char kMode>
int RoundToInteger(float value)
{
    switch (kMode) {
        case 'a':
            return static_cast<int>(std::round(value));
        case 'f':
            return static_cast<int>(std::floor(value));
        case 'c':
            return static_cast<int>(std::ceil(value));
        case 'z':
            return static_cast<int>(value);
        default:
            return static_cast<int>(std::nearbyint(value));
    }
}

template <char kMode>
void HalfToNibbles(uint16_t opcode, uint64_t site, void* dst, const half* src, const Strides& s)
{
    Core& core = Current();
    auto* to = static_cast<uint8_t*>(dst);
    const auto* from = reinterpret_cast<const uint8_t*>(src);
    Active active;
    if (!Admit(core, opcode, kF16, site, to, from, s, false, 64, kBlock, to, &active)) {
        return;
    }
    ForLanes(active, [&](uint32_t step, uint32_t lane) {
        const float value =
            Load<half>(from + LaneByte(step, lane / kBlockLanes, s.src_repeat, s.src_block) + lane % kBlockLanes * 2);
        const float limited = value != value ? 0.0f : std::min(std::max(value, -16.0f), 16.0f);
        const int whole = std::min(std::max(RoundToInteger<kMode>(limited), -8), 7);
        uint8_t& byte = to[LaneByte(step, lane / 64, s.dst_repeat, s.dst_block) + lane % 64 / 2];
        const uint32_t shift = lane % 2 * 4;
        byte = static_cast<uint8_t>((byte & ~(15u << shift)) | (static_cast<uint32_t>(whole) & 15u) << shift);
    });
}

/// A word of scale, offset and sign as set_deqscale takes it.
int Requantize(int value, uint64_t word)
{
    const float scale = FloatFromBits(static_cast<uint32_t>(word));
    int offset = static_cast<int>(word >> 37 & 0x1FFu);
    offset = offset > 255 ? offset - 512 : offset;
    const float scaled = static_cast<float>(value) * scale;
    const float limited = scaled != scaled ? 0.0f : std::min(std::max(scaled, -256.0f), 255.0f);
    const int shifted = static_cast<int>(std::nearbyint(limited)) + offset;
    const bool is_signed = (word >> 46 & 1u) != 0;
    return is_signed ? std::min(std::max(shifted, -128), 127) : std::min(std::max(shifted, 0), 255);
}

/// The table of sixteen words: a host address, or as on the device a place in units of 32 bytes.
const uint8_t* FactorTable(Core& core, uint16_t opcode, uint64_t site)
{
    const uint64_t value = core.cube.deq_scale;
    const auto base = reinterpret_cast<uintptr_t>(core.ub);
    uint64_t address = 0;
    for (const uint64_t candidate : {value, value << 5, base + (value << 5)}) {
        if (candidate >= base && candidate + 16 * 8 <= base + core.ub_size + kUbReservedBytes) {
            return reinterpret_cast<const uint8_t*>(candidate);
        }
    }
    machine::CheckSpace(core, kSpaceUb, reinterpret_cast<const void*>(value), 16 * 8, kBlock, site, OpcodeName(opcode), &address);
    return nullptr;
}

enum class Side : uint8_t { kLow, kHigh };

void ToHalfBlocks(uint16_t opcode, uint64_t site, Side side, bool table, void* dst, const int16_t* src, const Strides& s)
{
    Core& core = Current();
    auto* base = static_cast<uint8_t*>(dst);
    uint8_t* to = base + (side == Side::kHigh ? kBlock / 2 : 0);
    const auto* from = reinterpret_cast<const uint8_t*>(src);
    const uint8_t* factors = nullptr;
    if (table && (factors = FactorTable(core, opcode, site)) == nullptr) {
        return;
    }
    Active active;
    if (!Admit(core, opcode, kI16, site, to, from, s, false, kBlockLanes, kBlock / 2, base, &active)) {
        return;
    }
    ForLanes(active, [&](uint32_t step, uint32_t lane) {
        const uint32_t within = lane % kBlockLanes;
        const auto value = Load<int16_t>(from + LaneByte(step, lane / kBlockLanes, s.src_repeat, s.src_block) + within * 2);
        const uint64_t word = table ? Load<uint64_t>(factors + within * 8) : core.cube.deq_scale;
        to[LaneByte(step, lane / kBlockLanes, s.dst_repeat, s.dst_block) + within] =
            static_cast<uint8_t>(Requantize(value, word));
    });
}

void AddReluToHalfBlocks(uint64_t site, bool high, void* dst, const int16_t* src0, const int16_t* src1, const Strides& s,
                         uint32_t second_block, uint32_t second_repeat)
{
    Core& core = Current();
    auto* base = static_cast<uint8_t*>(dst);
    uint8_t* to = base + (high ? kBlock / 2 : 0);
    const auto* a = reinterpret_cast<const uint8_t*>(src0);
    const auto* b = reinterpret_cast<const uint8_t*>(src1);
    const uint8_t* factors = FactorTable(core, kOp_vaddreluconv_vdeqs162b8, site);
    Active active;
    if (factors == nullptr || !Admit(core, kOp_vaddreluconv_vdeqs162b8, kI16, site, to, a, s, false, kBlockLanes, kBlock / 2, base,
                                     &active, b, second_block, second_repeat)) {
        return;
    }
    ForLanes(active, [&](uint32_t step, uint32_t lane) {
        const uint32_t within = lane % kBlockLanes;
        const uint32_t block = lane / kBlockLanes;
        const int sum = Load<int16_t>(a + LaneByte(step, block, s.src_repeat, s.src_block) + within * 2) +
                        Load<int16_t>(b + LaneByte(step, block, second_repeat, second_block) + within * 2);
        to[LaneByte(step, block, s.dst_repeat, s.dst_block) + within] =
            static_cast<uint8_t>(Requantize(std::min(std::max(sum, 0), INT16_MAX), Load<uint64_t>(factors + within * 8)));
    });
}

/// rows x columns elements to columns x rows.
template <typename T>
void Exchange(uint64_t site, T* dst, const T* src, uint32_t image, uint32_t channels, bool to_channels_first)
{
    Core& core = Current();
    NoteValue(core, uint64_t{to_channels_first});
    const uint32_t rows = to_channels_first ? image : channels;
    const uint32_t columns = to_channels_first ? channels : image;
    const uint64_t bytes = uint64_t{rows} * columns * sizeof(T);
    if (bytes == 0) {
        return AdmitNothing(core, kOp_v4dtrans, site);
    }
    uint8_t* to = OnChipAddress(core, kSpaceUb, dst);
    const uint8_t* from = OnChipAddress(core, kSpaceUb, src);
    const Range ranges[] = {{kSpaceUb, kWrite, to, bytes, 0}, {kSpaceUb, kRead, from, bytes, 1}};
    Numbers numbers;
    numbers.aux0 = image;
    numbers.aux1 = channels;
    numbers.repeat = static_cast<uint16_t>(CeilDiv(static_cast<uint32_t>(bytes), kRepeat));
    if (to < from + bytes && from < to + bytes) {
        RaiseFault(core, FaultKind::kOperandOverlap, site, "v4dtrans: the destination overlaps the source");
        return;
    }
    if (!AdmitRanges(core, kOp_v4dtrans, DtypeOf<T>::value, site, ranges, 2, numbers)) {
        return;
    }
    for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t column = 0; column < columns; ++column) {
            Store(to + (size_t{column} * rows + row) * sizeof(T), Load<T>(from + (size_t{row} * columns + column) * sizeof(T)));
        }
    }
}

struct Abs16 {
    static int16_t Of(int16_t a) { return static_cast<int16_t>(a >= 0 ? a : a == INT16_MIN ? INT16_MAX : -a); }
};

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define STRIDES {repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride}

void vconv_s42f16 ASCENDSIM_ARGS1(half, void)
{
    Core& core = Current();
    const Strides s = STRIDES;
    auto* to = reinterpret_cast<uint8_t*>(dst);
    const auto* from = static_cast<const uint8_t*>(src);
    Active active;
    if (!Admit(core, ascendsim::kOp_vconv_s42f16, ascendsim::kI4, ASCENDSIM_SITE(), to, from, s, true, 64, kBlock, to, &active)) {
        return;
    }
    ForLanes(active, [&](uint32_t step, uint32_t lane) {
        const int nibble = from[LaneByte(step, lane / 64, s.src_repeat, s.src_block) + lane % 64 / 2] >> (lane % 2 * 4) & 15;
        Store(to + LaneByte(step, lane / kBlockLanes, s.dst_repeat, s.dst_block) + lane % kBlockLanes * 2,
              half(nibble >= 8 ? nibble - 16 : nibble));
    });
}

#define BODY(name, mode)                                                                                 \
    void name ASCENDSIM_ARGS1(void, half)                                                                \
    {                                                                                                    \
        HalfToNibbles<mode>(ascendsim::kOp_##name, ASCENDSIM_SITE(), dst, src, STRIDES);                 \
    }
BODY(vconv_f162s4, 'r')
BODY(vconv_f162s4r, 'r')
BODY(vconv_f162s4a, 'a')
BODY(vconv_f162s4f, 'f')
BODY(vconv_f162s4c, 'c')
BODY(vconv_f162s4z, 'z')
#undef BODY

#define BODY(name, side, table, D)                                                                       \
    void name ASCENDSIM_ARGS1(D, int16_t)                                                                \
    {                                                                                                    \
        ToHalfBlocks(ascendsim::kOp_##name, ASCENDSIM_SITE(), side, table, dst, src, STRIDES);           \
    }
#define BODY2(name, side, table) BODY(name, side, table, int8_t) BODY(name, side, table, uint8_t)
BODY2(vconv_deqs162b8l, Side::kLow, false)
BODY2(vconv_deqs162b8h, Side::kHigh, false)
BODY2(vconv_vdeqs162b8l, Side::kLow, true)
BODY2(vconv_vdeqs162b8h, Side::kHigh, true)
#undef BODY2
#undef BODY

void vabs ASCENDSIM_ARGS1(int16_t, int16_t)
{
    ASCENDSIM_ISSUE1(vabs, int16_t, sizeof(int16_t), int16_t, sizeof(int16_t), ascendsim::kWrite)
    Elementwise(issue, RunUnary<Abs16, int16_t, int16_t>, nullptr);
}

#define BODY(T)                                                                                          \
    void v4dtrans(T* dst, T* src, uint16_t imageSize, uint16_t nChannel, bool mode)                      \
    {                                                                                                    \
        Exchange<T>(ASCENDSIM_SITE(), dst, src, imageSize, nChannel, mode);                              \
    }
BODY(uint8_t)
BODY(uint16_t)
BODY(uint32_t)
#undef BODY

#define BODY(D)                                                                                                          \
    void vaddreluconv_vdeqs162b8(D* dst, int16_t* src0, int16_t* src1, uint8_t repeat, uint8_t dstBlockStride,           \
                                 uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,              \
                                 uint8_t src0RepeatStride, uint8_t src1RepeatStride, bool h)                             \
    {                                                                                                                    \
        AddReluToHalfBlocks(ASCENDSIM_SITE(), h, dst, src0, src1,                                                        \
                            {repeat, dstBlockStride, src0BlockStride, dstRepeatStride, src0RepeatStride},                \
                            src1BlockStride, src1RepeatStride);                                                          \
    }
BODY(int8_t)
BODY(uint8_t)
#undef BODY
