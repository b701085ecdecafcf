// Spreading, gathering, packing and transposing.
#include <algorithm>
#include <utility>
#include <vector>

#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

/// Shape of an instruction that ignores the mask registers.
Active Unmasked(uint32_t per_repeat, uint32_t repeat)
{
    Active active;
    active.per_repeat = per_repeat;
    active.lanes = per_repeat;
    active.repeats = repeat;
    return active;
}

template <typename T>
void Spread(uint64_t site, T* dst, T* src, uint32_t dbs, uint32_t drs, uint32_t repeat)
{
    constexpr uint32_t per_repeat = 8;
    constexpr uint32_t per_block = kBlock / sizeof(T);
    Core& core = Current();
    Recorder recorder(core, kOp_vbrcb, site);
    const Active active = Unmasked(per_repeat, repeat);
    if (repeat == 0) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(src, kBlock)) {
        return;
    }
    recorder.AddPieces(dst, kBlock, kWrite, per_repeat, int64_t{dbs} * kBlock, repeat, int64_t{drs} * kBlock);
    recorder.AddPieces(src, static_cast<uint32_t>(repeat * per_repeat * sizeof(T)), kRead);
    if (!recorder.InBounds()) {
        return;
    }
    // A repeat may write over what it has read, not over what comes next.
    const auto from = reinterpret_cast<uintptr_t>(src);
    const uintptr_t end = from + size_t{repeat} * sizeof(T[per_repeat]);
    const auto to = reinterpret_cast<uintptr_t>(dst);
    const uintptr_t last = to + (size_t{repeat - 1u} * drs + size_t{per_repeat - 1u} * dbs + 1) * kBlock;
    const bool apart = last <= from || end <= to;
    for (uint32_t step = 0; !apart && step + 1 < repeat; ++step) {
        const auto block = [&](uint32_t i) {
            return to + (size_t{step} * drs + size_t{i} * dbs) * kBlock;
        };
        const uintptr_t next = from + (size_t{step} + 1) * sizeof(T[per_repeat]);
        bool overlaps = false;
        for (uint32_t i = 0; i < per_repeat; ++i) {
            overlaps = overlaps || (block(i) < end && block(i) + kBlock > next);
        }
        if (overlaps) {
            RaiseFault(core, FaultKind::kOperandOverlap, site, "vbrcb: a repeat reads results that an earlier one has written");
            break;
        }
    }
    if (!recorder.Write(DtypeOf<T>::value, active)) {
        return;
    }
    for (uint32_t step = 0; step < repeat; ++step) {
        T values[per_repeat];
        std::memcpy(values, src + size_t{step} * per_repeat, sizeof(values));
        for (uint32_t i = 0; i < per_repeat; ++i) {
            T* block = dst + (size_t{step} * drs + size_t{i} * dbs) * per_block;
            std::fill(block, block + per_block, values[i]);
        }
    }
}

/// Base of a gather: a host address, its lower 32 bits (what the toolkit's library passes), or an offset in the buffer.
uint64_t GatherBase(const Core& core, uint64_t base)
{
    constexpr uint64_t kLow = 0xFFFFFFFFu;
    const auto ub = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(core.ub));
    if (base < core.ub_size + kUbReservedBytes) {
        return ub + base;
    }
    if (base <= kLow) {
        const uint64_t address = (ub & ~kLow) | base;
        return address + (address < ub ? kLow + 1 : 0);
    }
    return base;
}

/// Source addresses of a gather, checked; the record names their hull.
struct Hull {
    uint64_t low = ~uint64_t{0};
    uint64_t high = 0;
    void Add(uint64_t address, uint32_t bytes)
    {
        low = std::min(low, address);
        high = std::max(high, address + bytes);
    }
    /// An offset that is meant to be negative ends four gigabytes further on.
    uint32_t Bytes() const { return static_cast<uint32_t>(std::min<uint64_t>(high - low, INT32_MAX)); }
    bool IsIn(const Core& core) const
    {
        const auto ub = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(core.ub));
        return low >= ub && high <= ub + core.ub_size + kUbReservedBytes;
    }
};

/// The buffer of a queue that a gather's table begins in, and which lanes read outside of it. Lanes at the end, fewer than a repeat has,
/// may be what is left of the last repeat, which nobody uses.
class Table {
public:
    Table(const Core& core, uint64_t base) : core_(core)
    {
        const uint64_t at = base - static_cast<uint64_t>(reinterpret_cast<uintptr_t>(core.ub));
        for (const machine::Stretch& buffer : core.buffers) {
            const bool holds = buffer.from <= at && at < buffer.to;
            if (holds && (to_ == 0 || buffer.to - buffer.from > to_ - from_)) {
                from_ = buffer.from;
                to_ = buffer.to;
            }
        }
    }
    void Add(uint64_t address, uint32_t bytes, uint32_t offset)
    {
        const uint64_t at = address - static_cast<uint64_t>(reinterpret_cast<uintptr_t>(core_.ub));
        if (to_ == 0 || (at >= from_ && at + bytes <= to_)) {
            ++inside_;
            inside_behind_ = inside_behind_ || outside_ > 0;
            return;
        }
        if (outside_++ == 0) {
            first_ = offset;
        }
    }
    /// Says so where it is more than what is left of the last repeat.
    void Judge(Core& core, uint64_t site, const char* opcode, uint32_t per_repeat) const
    {
        if (outside_ > 0 && (inside_ == 0 || inside_behind_ || outside_ >= per_repeat)) {
            RaiseFault(core, FaultKind::kOutOfBoundsUb, site,
                       "%s: byte offset %u leaves the buffer of %u bytes that the table lies in; %u elements are read outside of it",
                       opcode, first_, to_ - from_, outside_);
        }
    }

private:
    const Core& core_;
    uint32_t from_ = 0;
    uint32_t to_ = 0;  // 0: no buffer of a queue
    uint32_t inside_ = 0;
    uint32_t outside_ = 0;
    uint32_t first_ = 0;
    bool inside_behind_ = false;
};

/// Says so where what is gathered is also written: an element that another lane of the same repeat or an earlier repeat writes may be
/// read before or after. One that its own lane replaces is read before.
class Clash {
public:
    void Writes(const void* to, uint32_t step)
    {
        const auto at = reinterpret_cast<uintptr_t>(to);
        written_.push_back({at, step});
    }
    void Reads(uint64_t from) { read_.push_back(static_cast<uintptr_t>(from)); }
    /// Both were noted lane by lane, `bytes` each.
    void Judge(Core& core, uint64_t site, const char* opcode, uint32_t bytes) const
    {
        if (written_.empty()) {
            return;
        }
        std::vector<std::pair<uintptr_t, uint32_t>> sorted = written_;
        std::sort(sorted.begin(), sorted.end());
        for (size_t lane = 0; lane < read_.size(); ++lane) {
            const uintptr_t from = read_[lane];
            const auto begin = std::lower_bound(sorted.begin(), sorted.end(), std::pair<uintptr_t, uint32_t>{from - bytes + 1, 0});
            for (auto found = begin; found != sorted.end() && found->first < from + bytes; ++found) {
                if (found->second <= written_[lane].second && (found->first != from || found->first != written_[lane].first)) {
                    RaiseFault(core, FaultKind::kOperandOverlap, site,
                               "%s: an element is read that this or an earlier repeat writes elsewhere", opcode);
                    return;
                }
            }
        }
    }

private:
    std::vector<std::pair<uintptr_t, uint32_t>> written_;  // address and step of each lane
    std::vector<uintptr_t> read_;
};

template <typename T>
void Gather(uint64_t site, T* dst, const uint32_t* offsets, uint64_t base, uint32_t drs, uint32_t repeat)
{
    Core& core = Current();
    base = GatherBase(core, base);
    Recorder recorder(core, kOp_vgather, site);
    const Active active = ActiveLanes(core, kRepeat / sizeof(T), repeat);
    if (active.Empty()) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(offsets, kBlock)) {
        return;
    }
    const Lanes to = {dst, sizeof(T), 1, drs, kWrite};
    const Lanes index = {offsets, 4, 1, active.per_repeat / 8, kRead};
    recorder.AddLanes(to, active);
    Recorder first(core, kOp_vgather, site);
    first.AddLanes(index, active);
    if (!first.InBounds()) {
        return;
    }
    machine::NeedsData(core, site, "vgather reads at offsets from memory");
    const auto is_active = [&](uint32_t step, uint32_t lane) {
        return active.low ? lane < active.LanesAt(step) : active.Bit(lane);
    };
    Hull hull;
    Table table(core, base);
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        for (uint32_t lane = 0; lane < active.per_repeat; ++lane) {
            if (!is_active(step, lane)) {
                continue;
            }
            const uint32_t offset = offsets[size_t{step} * active.per_repeat + lane];
            if (offset % sizeof(T) != 0) {
                first.Write(DtypeOf<T>::value, active);  // whoever finds that nothing has written it says more
                RaiseFault(core, FaultKind::kMisaligned, site, "vgather: byte offset %u is not a multiple of %zu", offset,
                           sizeof(T));
                return;
            }
            hull.Add(base + offset, sizeof(T));
            table.Add(base + offset, sizeof(T), offset);
        }
    }
    if (!hull.IsIn(core)) {
        first.Write(DtypeOf<T>::value, active);
    }
    recorder.AddPieces(reinterpret_cast<const void*>(static_cast<uintptr_t>(hull.low)), hull.Bytes(), kRead);
    recorder.AddLanes(index, active);
    if (!recorder.InBounds()) {
        return;
    }
    table.Judge(core, site, "vgather", active.per_repeat);
    recorder.Write(DtypeOf<T>::value, active);
    const auto end = reinterpret_cast<uintptr_t>(LaneAt(to, active.Steps() - 1, active.per_repeat - 1)) + sizeof(T);
    if (hull.low < end && hull.high > reinterpret_cast<uintptr_t>(dst)) {
        Clash clash;
        for (uint32_t step = 0; step < active.Steps(); ++step) {
            for (uint32_t lane = 0; lane < active.per_repeat; ++lane) {
                if (is_active(step, lane)) {
                    clash.Writes(LaneAt(to, step, lane), step);
                    clash.Reads(base + offsets[size_t{step} * active.per_repeat + lane]);
                }
            }
        }
        clash.Judge(core, site, "vgather", sizeof(T));
    }
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        for (uint32_t lane = 0; lane < active.per_repeat; ++lane) {
            if (is_active(step, lane)) {
                const uint64_t from = base + offsets[size_t{step} * active.per_repeat + lane];
                Store(LaneAt(to, step, lane), Load<T>(reinterpret_cast<const void*>(static_cast<uintptr_t>(from))));
            }
        }
    }
}

template <typename T>
void GatherBlocks(uint64_t site, T* dst, const uint32_t* offsets, uint64_t base, uint32_t drs, uint32_t dbs, uint32_t repeat)
{
    constexpr uint32_t per_repeat = 8;
    Core& core = Current();
    base = GatherBase(core, base);
    Recorder recorder(core, kOp_vgatherb, site);
    const Active active = Unmasked(kRepeat / sizeof(T), repeat);
    if (repeat == 0) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(offsets, kBlock)) {
        return;
    }
    Recorder first(core, kOp_vgatherb, site);
    first.AddPieces(offsets, repeat * per_repeat * 4, kRead);
    if (!first.InBounds()) {
        return;
    }
    machine::NeedsData(core, site, "vgatherb reads at offsets from memory");
    Hull hull;
    Table table(core, base);
    for (uint32_t i = 0; i < repeat * per_repeat; ++i) {
        hull.Add(base + offsets[i], kBlock);
        table.Add(base + offsets[i], kBlock, offsets[i]);
        if ((base + offsets[i]) % kBlock != 0) {
            first.Write(DtypeOf<T>::value, active);
            recorder.Aligned(reinterpret_cast<const void*>(static_cast<uintptr_t>(base + offsets[i])), kBlock);
            return;
        }
    }
    if (!hull.IsIn(core)) {
        first.Write(DtypeOf<T>::value, active);
    }
    recorder.AddPieces(dst, kBlock, kWrite, per_repeat, int64_t{dbs} * kBlock, repeat, int64_t{drs} * kBlock);
    recorder.AddPieces(reinterpret_cast<const void*>(static_cast<uintptr_t>(hull.low)), hull.Bytes(), kRead);
    recorder.AddPieces(offsets, repeat * per_repeat * 4, kRead);
    if (!recorder.InBounds()) {
        return;
    }
    table.Judge(core, site, "vgatherb", per_repeat);
    recorder.Write(DtypeOf<T>::value, active);
    const auto block = [&](uint32_t i) {
        return reinterpret_cast<uint8_t*>(dst) + (size_t{i / per_repeat} * drs + size_t{i % per_repeat} * dbs) * kBlock;
    };
    if (hull.low < reinterpret_cast<uintptr_t>(block(repeat * per_repeat - 1)) + kBlock && hull.high > reinterpret_cast<uintptr_t>(dst)) {
        Clash clash;
        for (uint32_t i = 0; i < repeat * per_repeat; ++i) {
            clash.Writes(block(i), i / per_repeat);
            clash.Reads(base + offsets[i]);
        }
        clash.Judge(core, site, "vgatherb", kBlock);
    }
    for (uint32_t i = 0; i < repeat * per_repeat; ++i) {
        std::memmove(block(i), reinterpret_cast<const void*>(static_cast<uintptr_t>(base + offsets[i])), kBlock);
    }
}

bool InPattern(uint32_t pattern, uint32_t lane)
{
    switch (pattern) {
        case 1:
            return lane % 2 == 0;
        case 2:
            return lane % 2 == 1;
        case 7:
            return true;
        default:
            return lane % 4 == pattern - 3;
    }
}

template <typename T>
void Pack(uint64_t site, T* dst, T* src0, T* src1, uint32_t repeat, uint32_t sbs, uint32_t pattern, uint32_t srs,
          uint32_t mask_stride)
{
    Core& core = Current();
    Recorder recorder(core, kOp_vreducev2, site);
    // In counter mode every repeat takes this many elements; otherwise whole repeats, whatever the mask says.
    const uint32_t per_repeat = core.count_mode ? static_cast<uint32_t>(core.mask_low) : kRepeat / sizeof(T);
    Active active = Unmasked(per_repeat, repeat);
    NoteValue(core, uint64_t{pattern});
    core.reserved_count = 0;
    if (active.Empty()) {
        recorder.Write(DtypeOf<T>::value, active);
        return;
    }
    if (pattern > 7) {
        RaiseFault(core, FaultKind::kBadArgument, site, "vreducev2: pattern %u, there are 0 to 7", pattern);
        return;
    }
    const Lanes from = {src0, sizeof(T), sbs, srs, kRead};
    const auto* bits = reinterpret_cast<const uint8_t*>(src1);
    const uint32_t bit_bytes = (per_repeat + 7) / 8;
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(src0, kBlock) ||
        (pattern == 0 && !recorder.Aligned(src1, kBlock))) {
        return;
    }
    Recorder sources(core, kOp_vreducev2, site);
    sources.AddLanes(from, active);
    if (pattern == 0) {
        sources.AddPieces(src1, bit_bytes, kRead, repeat, int64_t{mask_stride} * kBlock);
    }
    if (!sources.InBounds()) {
        return;
    }
    if (pattern == 0) {
        machine::NeedsData(core, site, "vreducev2 keeps what a mask in memory chooses");
    }
    const auto chosen = [&](uint32_t step, uint32_t lane) {
        if (pattern != 0) {
            return InPattern(pattern, lane);
        }
        const uint8_t* row = bits + size_t{step} * mask_stride * kBlock;
        return (row[lane / 8] >> (lane % 8) & 1u) != 0;
    };
    uint32_t kept = 0;
    for (uint32_t step = 0; step < repeat; ++step) {
        for (uint32_t lane = 0; lane < per_repeat; ++lane) {
            kept += chosen(step, lane) ? 1 : 0;
        }
    }
    recorder.AddPieces(dst, static_cast<uint32_t>(kept * sizeof(T)), kWrite);
    recorder.AddLanes(from, active);
    if (pattern == 0) {
        recorder.AddPieces(src1, bit_bytes, kRead, repeat, int64_t{mask_stride} * kBlock);
    }
    if (!recorder.InBounds()) {
        return;
    }
    core.reserved_count = kept;
    if (!recorder.Write(DtypeOf<T>::value, active)) {
        return;
    }
    auto* out = dst;
    for (uint32_t step = 0; step < repeat; ++step) {
        for (uint32_t lane = 0; lane < per_repeat; ++lane) {
            if (chosen(step, lane)) {
                *out++ = Load<T>(LaneAt(from, step, lane));
            }
        }
    }
}

void TransposeSquare(uint64_t site, uint16_t* dst, uint16_t* src)
{
    constexpr uint32_t side = 16;
    Core& core = Current();
    Recorder recorder(core, kOp_vtranspose, site);
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(src, kBlock)) {
        return;
    }
    recorder.AddPieces(dst, side * side * 2, kWrite);
    recorder.AddPieces(src, side * side * 2, kRead);
    if (!recorder.InBounds()) {
        return;
    }
    if (!recorder.Write(kU16, Unmasked(128, 2))) {
        return;
    }
    uint16_t tile[side * side];
    std::memcpy(tile, src, sizeof(tile));
    for (uint32_t row = 0; row < side; ++row) {
        for (uint32_t column = 0; column < side; ++column) {
            dst[column * side + row] = tile[row * side + column];
        }
    }
}

/// Whether one of the sixteen blocks that a repeat reads was written by an earlier one. Blocks begin at multiples of their size.
template <typename Written, typename Read>
bool ReadsEarlierBlocks(uint32_t repeat, const Written& written, const Read& read)
{
    Hull to;
    Hull from;
    for (uint32_t step = 0; step < repeat; ++step) {
        for (uint32_t i = 0; i < 16; ++i) {
            to.Add(reinterpret_cast<uintptr_t>(written(i, step)), kBlock);
            from.Add(reinterpret_cast<uintptr_t>(read(i, step)), kBlock);
        }
    }
    if (to.high <= from.low || from.high <= to.low) {
        return false;
    }
    std::vector<const uint8_t*> results;
    for (uint32_t step = 0; step + 1 < repeat; ++step) {
        for (uint32_t i = 0; i < 16; ++i) {
            results.push_back(written(i, step));
        }
        std::sort(results.begin(), results.end());
        for (uint32_t i = 0; i < 16; ++i) {
            if (std::binary_search(results.begin(), results.end(), read(i, step + 1))) {
                return true;
            }
        }
    }
    return false;
}

/// Transposes sixteen source blocks into sixteen destination blocks. `width` lanes of a block take part, from byte
/// `src_at` of the source block to byte `dst_at` of the destination block.
template <typename T>
void TransposeBlocks(uint16_t opcode, uint64_t site, ub_addr8_t dst, ub_addr8_t src, uint32_t repeat, uint32_t drs,
                     uint32_t srs, uint32_t dst_at, uint32_t src_at)
{
    constexpr uint32_t width = sizeof(T) == 4 ? 8 : 16;
    constexpr uint32_t bytes = width * sizeof(T);
    Core& core = Current();
    if (repeat == 0) {
        Recorder(core, opcode, site).Write(DtypeOf<T>::value, Unmasked(0, 0));
        return;
    }
    if (dst > VA6 || src > VA6) {
        RaiseFault(core, FaultKind::kBadArgument, site, "%s: an address list takes two registers, VA%d has no successor",
                   OpcodeName(opcode), static_cast<int>(std::max(dst, src)));
        return;
    }
    // The record has no more than the hull of scattered sources.
    for (uint32_t i = 0; i < 16; ++i) {
        NoteValue(core, core.va[src + i / 8][i % 8] - reinterpret_cast<uintptr_t>(core.ub));
    }
    const auto address = [&](ub_addr8_t va, uint32_t i, uint32_t step, uint32_t stride) {
        // A single repeat already applies the stride, as the architecture defines it.
        const uint64_t steps = repeat == 1 ? 1 : step;
        return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(core.va[va + i / 8][i % 8])) + steps * stride * kBlock;
    };
    if (repeat > 1 && ReadsEarlierBlocks(repeat, [&](uint32_t i, uint32_t step) { return address(dst, i, step, drs); },
                                         [&](uint32_t i, uint32_t step) { return address(src, i, step, srs); })) {
        RaiseFault(core, FaultKind::kOperandOverlap, site, "%s: a repeat reads results that an earlier one has written",
                   OpcodeName(opcode));
    }
    for (uint32_t step = 0; step < repeat; ++step) {
        // One record per repeat: the sixteen addresses are independent, so ranges cannot be folded.
        Recorder recorder(core, opcode, site);
        Hull from;
        for (uint32_t i = 0; i < 16; ++i) {
            const uint8_t* d = address(dst, i, step, drs);
            const uint8_t* s = address(src, i, step, srs);
            if (!recorder.Aligned(d, kBlock) || !recorder.Aligned(s, kBlock)) {
                return;
            }
            from.Add(reinterpret_cast<uintptr_t>(s + src_at), bytes);
        }
        // Scattered sources are named by their hull, as in a gather; scattered destinations one by one.
        const auto add = [&](ub_addr8_t va, const Hull& hull, uint32_t at, uint32_t stride, uint8_t access) {
            const int64_t pitch = static_cast<int64_t>(core.va[va][1]) - static_cast<int64_t>(core.va[va][0]);
            bool even = pitch > 0;
            for (uint32_t i = 2; i < 16; ++i) {
                even = even && address(va, i, step, stride) == address(va, 0, step, stride) + pitch * i;
            }
            if (even) {
                recorder.AddPieces(address(va, 0, step, stride) + at, bytes, access, 16, pitch);
            } else if (access == kWrite) {
                for (uint32_t i = 0; i < 16; ++i) {
                    recorder.AddPieces(address(va, i, step, stride) + at, bytes, access);
                }
            } else {
                recorder.AddPieces(reinterpret_cast<const void*>(static_cast<uintptr_t>(hull.low)), hull.Bytes(), access);
            }
        };
        add(dst, from, dst_at, drs, kWrite);
        add(src, from, src_at, srs, kRead);
        if (!recorder.InBounds()) {
            return;
        }
        if (!recorder.Write(DtypeOf<T>::value, Unmasked(16 * width, 1))) {
            continue;
        }
        T tile[16][width];
        for (uint32_t i = 0; i < 16; ++i) {
            std::memcpy(tile[i], address(src, i, step, srs) + src_at, bytes);
        }
        for (uint32_t column = 0; column < width; ++column) {
            for (uint32_t row = 0; row < 16; ++row) {
                // Four-byte lanes: a transposed row of sixteen fills two destination blocks.
                const uint32_t block = sizeof(T) == 4 ? column * 2 + row / 8 : column;
                const uint32_t lane = sizeof(T) == 4 ? row % 8 : row;
                Store(address(dst, block, step, drs) + dst_at + lane * sizeof(T), tile[row][column]);
            }
        }
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define BODY(T)                                                                                              \
    void vbrcb(T* dst, T* src, uint16_t dstBlockStride, uint16_t dstRepeatStride, uint8_t repeat)            \
    {                                                                                                        \
        Spread<T>(ASCENDSIM_SITE(), dst, src, dstBlockStride, dstRepeatStride, repeat);                      \
    }                                                                                                        \
    void vgather(T* dst, uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t repeat)         \
    {                                                                                                        \
        Gather<T>(ASCENDSIM_SITE(), dst, offsets, base, dstRepeatStride, repeat);                            \
    }                                                                                                        \
    void vgatherb(T* dst, uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t dstBlockStride, \
                  uint8_t repeat)                                                                            \
    {                                                                                                        \
        GatherBlocks<T>(ASCENDSIM_SITE(), dst, offsets, base, dstRepeatStride, dstBlockStride, repeat);      \
    }                                                                                                        \
    void vreducev2(T* dst, T* src0, T* src1, uint16_t repeat, uint8_t src0BlockStride, uint8_t patternMode,  \
                   uint16_t src0RepeatStride, uint8_t src1RepeatStride)                                      \
    {                                                                                                        \
        Pack<T>(ASCENDSIM_SITE(), dst, src0, src1, repeat, src0BlockStride, patternMode, src0RepeatStride,   \
                src1RepeatStride);                                                                           \
    }
BODY(uint16_t)
BODY(uint32_t)
#undef BODY

int64_t get_rsvd_cnt() { return Current().reserved_count; }

void vtranspose(uint16_t* dst, uint16_t* src) { TransposeSquare(ASCENDSIM_SITE(), dst, src); }
void vtranspose(int16_t* dst, int16_t* src)
{
    TransposeSquare(ASCENDSIM_SITE(), reinterpret_cast<uint16_t*>(dst), reinterpret_cast<uint16_t*>(src));
}

void set_va_reg_sb(ub_addr8_t addr, uint64_t* addresses)
{
    std::memcpy(Current().va[addr & 7], addresses, 8 * sizeof(uint64_t));
    ascendsim::ScalarOps(8);
}

void vld_va_reg(ub_addr8_t dst, uint64_t* src, vpart_t part)
{
    Core& core = Current();
    Recorder recorder(core, ascendsim::kOp_vld_va_reg, ASCENDSIM_SITE());
    const uint32_t at = part == H128 ? 4 : 0;
    if (!recorder.Aligned(src, kBlock)) {
        return;
    }
    recorder.AddPieces(src, 4 * sizeof(uint64_t), ascendsim::kRead);
    if (recorder.InBounds()) {
        ascendsim::machine::NeedsData(core, ASCENDSIM_SITE(), "vld_va_reg loads addresses from memory");
        recorder.Write(ascendsim::kU64, Active());
        std::memcpy(core.va[dst & 7] + at, src, 4 * sizeof(uint64_t));
    }
}

void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride)
{
    TransposeBlocks<uint16_t>(ascendsim::kOp_scatter_vnchwconv_b16, ASCENDSIM_SITE(), dst, src, repeat, dstStride,
                              srcStride, 0, 0);
}
void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride)
{
    TransposeBlocks<uint32_t>(ascendsim::kOp_scatter_vnchwconv_b32, ASCENDSIM_SITE(), dst, src, repeat, dstStride,
                              srcStride, 0, 0);
}
void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride,
                          bool dstHighHalf, bool srcHighHalf)
{
    TransposeBlocks<uint8_t>(ascendsim::kOp_scatter_vnchwconv_b8, ASCENDSIM_SITE(), dst, src, repeat, dstStride,
                             srcStride, dstHighHalf ? 16 : 0, srcHighHalf ? 16 : 0);
}
