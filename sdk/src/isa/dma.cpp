// Transfers between global memory and the Unified Buffer, with atomic writes and padding.
#include <algorithm>

#include "isa/elementwise.h"
#include "isa/operands.h"
#include "machine/constants.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

constexpr uint64_t AlignUp(uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

/// One side of a transfer: bursts of `len` bytes, `step` bytes apart.
struct TransferSide {
    const void* base;
    uint64_t len;
    uint64_t step;
    bool gm;
    uint8_t access;
};

struct Transfer {
    uint16_t opcode;
    uint8_t dtype;
    uint64_t site;
    uint32_t bursts;
    uint64_t burst_bytes;
    TransferSide dst;
    TransferSide src;
    // What is moved of one more burst, which the end of a tensor cuts; it is not recorded.
    uint64_t cut_bytes = 0;

    uint32_t Moved() const { return bursts + (cut_bytes > 0 ? 1 : 0); }
    uint64_t BytesOf(uint32_t burst) const { return burst < bursts ? burst_bytes : cut_bytes; }
};

uint64_t Extent(const TransferSide& side, uint32_t bursts) { return (bursts - 1) * side.step + side.len; }

bool SideAddress(Core& core, const Transfer& t, const TransferSide& side, uint64_t* address)
{
    const uint64_t extent = Extent(side, t.bursts);
    if (side.gm) {
        *address = machine::TranslateGm(side.base, extent);
        if (*address == 0 && side.access == kRead) {
            *address = machine::TranslateConstant(side.base, extent);
        }
        if (*address != 0) {
            return true;
        }
        *address = machine::TranslateGmPadding(side.base, extent, side.access != kRead);
        machine::RaiseOutOfBoundsGm(core, t.site, OpcodeName(t.opcode), side.base, extent, side.access, *address != 0);
        return *address != 0;
    }
    const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(side.base) - reinterpret_cast<uintptr_t>(core.ub));
    if (offset < 0 || static_cast<uint64_t>(offset) + extent > core.ub_size + kUbReservedBytes) {
        RaiseFault(core, FaultKind::kOutOfBoundsUb, t.site, "%s: %llu bytes at UB offset %lld, the buffer has %zu",
                   OpcodeName(t.opcode), static_cast<unsigned long long>(extent), static_cast<long long>(offset),
                   core.ub_size);
        return false;
    }
    if (offset % kBlock != 0) {
        RaiseFault(core, FaultKind::kMisaligned, t.site, "%s: UB offset %lld is not a multiple of %u",
                   OpcodeName(t.opcode), static_cast<long long>(offset), kBlock);
        return false;
    }
    *address = static_cast<uint64_t>(offset);
    return true;
}

void FillOperand(RecordOperand* op, const Transfer& t, const TransferSide& side, uint64_t address)
{
    machine::SetOperand(op, address, static_cast<uint32_t>(side.len), side.gm ? kSpaceGm : kSpaceUb, side.access);
    if (side.step == side.len) {
        op->len = static_cast<uint32_t>(side.len * t.bursts);
    } else if (t.bursts > 1 && side.step != 0) {
        op->count0 = t.bursts;
        op->stride0 = static_cast<int64_t>(side.step);
    }
}

/// Makes a transfer shorter that runs past the end of a tensor: a device knows nothing of tensors, and what lies in it arrives.
bool EndsWithTensor(Transfer& t, uint64_t* to, uint64_t* from)
{
    TransferSide& gm = t.dst.gm ? t.dst : t.src;
    TransferSide& on_chip = t.dst.gm ? t.src : t.dst;
    const uint64_t room = machine::GmRoom(gm.base);
    if (room == 0 || on_chip.gm) {
        return false;
    }
    if (room < t.burst_bytes) {
        t.bursts = 1;
        t.burst_bytes = gm.len = room;
        on_chip.len = std::min(on_chip.len, AlignUp(room));
    } else if (gm.step != 0) {
        const uint32_t asked = t.bursts;
        t.bursts = static_cast<uint32_t>(std::min<uint64_t>(asked, 1 + (room - t.burst_bytes) / gm.step));
        const uint64_t behind = t.bursts * gm.step;
        t.cut_bytes = t.bursts < asked && behind < room ? room - behind : 0;
    }
    (t.dst.gm ? *to : *from) = machine::TranslateGm(gm.base, Extent(gm, t.bursts));
    return true;
}

/// Checks and records. False when the transfer must not happen, which includes all of a launch that is only timed.
bool Admit(Core& core, Transfer& t, bool atomic)
{
    uint64_t to = 0;
    uint64_t from = 0;
    // The field for it has twelve bits; the device library documents 1 to 4095.
    constexpr uint32_t kMostBursts = 4095;
    if (t.bursts > kMostBursts) {
        RaiseFault(core, FaultKind::kBadArgument, t.site, "%s: %u bursts, the limit is %u", OpcodeName(t.opcode), t.bursts,
                   kMostBursts);
        return false;
    }
    const bool empty = t.bursts == 0 || t.burst_bytes == 0;
    if (!empty) {
        // What is on chip first: without it there is nothing to move.
        const bool on_chip = t.dst.gm ? SideAddress(core, t, t.src, &from) : SideAddress(core, t, t.dst, &to);
        if (!on_chip) {
            return false;
        }
        const bool whole = t.dst.gm ? SideAddress(core, t, t.dst, &to) : SideAddress(core, t, t.src, &from);
        if (!whole && !EndsWithTensor(t, &to, &from)) {
            return false;
        }
    }
    if (atomic) {
        t.dst.access = kReadWrite;
    }
    RecordHead* head = machine::Append(core, t.opcode, UnitOf(t.opcode), empty ? 0 : 2, t.site);
    head->dtype = atomic ? core.atomic_dtype : t.dtype;
    head->repeat = static_cast<uint16_t>(t.bursts);
    head->flags = static_cast<uint8_t>((atomic ? AtomicFlags(core) : 0) |
                                       ((t.dst.gm || t.src.gm) && core.l2_bypass ? kFlagL2Bypass : 0));
    head->aux1 = static_cast<uint32_t>(t.burst_bytes * t.bursts);
    head->aux2 = static_cast<uint32_t>(t.burst_bytes);
    if (!empty) {
        FillOperand(machine::OperandsOf(head), t, t.dst, to);
        FillOperand(machine::OperandsOf(head) + 1, t, t.src, from);
    }
    return !empty && TouchesData();
}

template <typename T>
T Combine(machine::AtomicOp op, T old, T value)
{
    switch (op) {
        case machine::AtomicOp::kMax:
            return value > old ? value : old;
        case machine::AtomicOp::kMin:
            return value < old ? value : old;
        default:
            return static_cast<T>(old + value);
    }
}

template <typename T>
void Accumulate(machine::AtomicOp op, uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        Store(to + at, Combine<T>(op, Load<T>(to + at), Load<T>(from + at)));
    }
}

}  // namespace

void AtomicWrite(const Core& core, uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    switch (core.atomic_dtype) {
        case kF16:
            return Accumulate<half>(core.atomic_op, to, from, bytes);
        case kBf16:
            return Accumulate<bfloat16_t>(core.atomic_op, to, from, bytes);
        case kI32:
            return Accumulate<int32_t>(core.atomic_op, to, from, bytes);
        case kI16:
            return Accumulate<int16_t>(core.atomic_op, to, from, bytes);
        case kI8:
            return Accumulate<int8_t>(core.atomic_op, to, from, bytes);
        default:
            return Accumulate<float>(core.atomic_op, to, from, bytes);
    }
}

namespace {

void Move(const Core& core, const Transfer& t, bool atomic)
{
    auto* to = static_cast<uint8_t*>(const_cast<void*>(t.dst.base));
    const auto* from = static_cast<const uint8_t*>(t.src.base);
    for (uint32_t burst = 0; burst < t.Moved(); ++burst) {
        if (atomic) {
            AtomicWrite(core, to, from, t.BytesOf(burst));
        } else {
            std::memmove(to, from, t.BytesOf(burst));
        }
        to += t.dst.step;
        from += t.src.step;
    }
}

/// The block forms: everything counts 32-byte blocks, strides are gaps.
void MoveBlocks(uint16_t opcode, uint64_t site, void* dst, bool dst_gm, const void* src, bool src_gm,
                uint32_t bursts, uint32_t len, uint32_t src_gap, uint32_t dst_gap)
{
    Core& core = Current();
    const uint64_t bytes = uint64_t{len} * kBlock;
    Transfer t = {opcode, kNoDtype, site, bursts, bytes,
                  {dst, bytes, bytes + uint64_t{dst_gap} * kBlock, dst_gm, kWrite},
                  {src, bytes, bytes + uint64_t{src_gap} * kBlock, src_gm, kRead}};
    const bool atomic = dst_gm && core.atomic_op != machine::AtomicOp::kNone;
    if (Admit(core, t, atomic)) {
        Move(core, t, atomic);
    }
}

void LoadPadded(uint16_t opcode, uint64_t site, uint32_t size, uint8_t dtype, void* dst, const void* src,
                uint32_t bursts, uint32_t len, uint32_t left, uint32_t right, uint32_t src_gap, uint32_t dst_gap)
{
    Core& core = Current();
    NoteValue(core, uint64_t{left} << 32 | right);
    const uint64_t row = AlignUp(uint64_t{len} + uint64_t{left + right} * size);
    Transfer t = {opcode, dtype, site, bursts, len,
                  {dst, row, row + uint64_t{dst_gap} * kBlock, false, kWrite},
                  {src, len, uint64_t{len} + src_gap, true, kRead}};
    if (left * size > kBlock || right * size > kBlock) {
        RaiseFault(core, FaultKind::kBadArgument, site, "%s: paddings of %u and %u elements exceed 32 bytes",
                   OpcodeName(opcode), left, right);
        return;
    }
    if (!Admit(core, t, false)) {
        return;
    }
    auto* to = static_cast<uint8_t*>(dst);
    const auto* from = static_cast<const uint8_t*>(src);
    const bool padded = left + right > 0;
    for (uint32_t burst = 0; burst < t.Moved(); ++burst) {
        // Without paddings the rest of the last block repeats the burst's first element, as documented of DataCopyPad.
        uint8_t filler[8] = {};
        std::memcpy(filler, padded ? reinterpret_cast<const uint8_t*>(&core.pad_value) : from, std::min<uint64_t>(size, t.BytesOf(burst)));
        for (uint64_t at = 0; at < left * size; ++at) {
            to[at] = filler[at % size];
        }
        std::memcpy(to + left * size, from, t.BytesOf(burst));
        for (uint64_t at = left * size + len; at < row; ++at) {
            to[at] = filler[(at - left * size - len) % size];
        }
        to += t.dst.step;
        from += t.src.step;
    }
}

void StorePacked(uint16_t opcode, uint64_t site, uint8_t dtype, void* dst, const void* src, uint32_t bursts,
                 uint32_t len, uint32_t src_gap, uint32_t dst_gap)
{
    Core& core = Current();
    Transfer t = {opcode, dtype, site, bursts, len,
                  {dst, len, uint64_t{len} + dst_gap, true, kWrite},
                  {src, len, AlignUp(len) + uint64_t{src_gap} * kBlock, false, kRead}};
    const bool atomic = core.atomic_op != machine::AtomicOp::kNone;
    if (Admit(core, t, atomic)) {
        Move(core, t, atomic);
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

void copy_gm_to_ubuf(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                     uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_gm_to_ubuf, ASCENDSIM_SITE(), dst, false, src, true, nBurst,
               lenBurst, srcStride, dstStride);
}

void copy_ubuf_to_gm(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                     uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_ubuf_to_gm, ASCENDSIM_SITE(), dst, true, src, false, nBurst,
               lenBurst, srcStride, dstStride);
}

void copy_ubuf_to_ubuf(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                       uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_ubuf_to_ubuf, ASCENDSIM_SITE(), dst, false, src, false, nBurst,
               lenBurst, srcStride, dstStride);
}

#define BODY(W, bytes, type)                                                                                        \
    void copy_gm_to_ubuf_align_##W(void* dst, const void* src, uint8_t, uint16_t nBurst, uint32_t lenBurst,         \
                                   uint8_t left, uint8_t right, uint32_t srcGap, uint32_t dstGap)                   \
    {                                                                                                               \
        LoadPadded(ascendsim::kOp_copy_gm_to_ubuf_align_##W, ASCENDSIM_SITE(), bytes, ascendsim::type, dst, src,    \
                   nBurst, lenBurst, left, right, srcGap, dstGap);                                                  \
    }                                                                                                               \
    void copy_ubuf_to_gm_align_##W(void* dst, const void* src, uint8_t, uint16_t nBurst, uint32_t lenBurst,         \
                                   uint8_t, uint8_t, uint32_t srcGap, uint32_t dstGap)                              \
    {                                                                                                               \
        StorePacked(ascendsim::kOp_copy_ubuf_to_gm_align_##W, ASCENDSIM_SITE(), ascendsim::type, dst, src, nBurst,  \
                    lenBurst, srcGap, dstGap);                                                                      \
    }
BODY(b8, 1, kU8)
BODY(b16, 2, kU16)
BODY(b32, 4, kU32)
#undef BODY

void set_mov_pad_val(uint64_t value)
{
    NoteValue(Current(), value);
    Current().pad_value = value;
}
