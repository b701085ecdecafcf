#include "isa/engine.h"

#include <algorithm>

namespace ascendsim {
namespace isa {

namespace {

/// First and one-past-last byte of a step of an operand with `lanes` lowest lanes, relative to its base.
struct Span {
    int64_t begin;
    int64_t end;
};

Span StepSpan(const Lanes& op, uint32_t step, uint32_t lanes)
{
    const int64_t begin = int64_t{step} * op.repeat_stride * kBlock;
    const uint32_t bytes = lanes * op.size;
    if (op.block_stride == 1 || bytes <= kBlock) {
        return {begin, begin + bytes};
    }
    const int64_t blocks = (bytes + kBlock - 1) / kBlock;
    return {begin, begin + (blocks - 1) * op.block_stride * kBlock + kBlock};
}

bool Touch(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

bool BlocksTouch(const Lanes& a, uint32_t a_step, const Lanes& b, uint32_t b_step, uint32_t lanes, int64_t shift)
{
    const uint32_t a_blocks = (lanes * a.size + kBlock - 1) / kBlock;
    const uint32_t b_blocks = (lanes * b.size + kBlock - 1) / kBlock;
    for (uint32_t i = 0; i < a_blocks; ++i) {
        const int64_t at = (int64_t{a_step} * a.repeat_stride + int64_t{i} * a.block_stride) * kBlock;
        for (uint32_t j = 0; j < b_blocks; ++j) {
            const int64_t other = shift + (int64_t{b_step} * b.repeat_stride + int64_t{j} * b.block_stride) * kBlock;
            if (at < other + kBlock && other < at + kBlock) {
                return true;
            }
        }
    }
    return false;
}

/// The documented rule: within a repeat source and destination are the same bytes or disjoint; a later repeat
/// does not read what an earlier one wrote.
bool OverlapIsLegal(const Lanes& dst, const Lanes& src, const Active& active)
{
    const int64_t shift = static_cast<int64_t>(reinterpret_cast<uintptr_t>(src.base)) -
                          static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst.base));
    const uint32_t steps = active.Steps();
    const auto lanes_at = [&](uint32_t step) { return active.low ? active.LanesAt(step) : active.per_repeat; };
    const auto src_span = [&](uint32_t step) {
        Span span = StepSpan(src, step, lanes_at(step));
        span.begin += shift;
        span.end += shift;
        return span;
    };
    const int64_t src_end = std::max(src_span(steps - 1).end, src_span(0).end);
    const int64_t dst_end = std::max(StepSpan(dst, steps - 1, lanes_at(steps - 1)).end, StepSpan(dst, 0, lanes_at(0)).end);
    if (!Touch({0, dst_end}, {shift, src_end})) {
        return true;
    }
    const bool same_shape = dst.size == src.size && dst.block_stride == src.block_stride;
    if (shift == 0 && same_shape &&
        (dst.repeat_stride == src.repeat_stride || dst.repeat_stride == 0 || src.repeat_stride == 0)) {
        return true;  // in place, or the accumulating form with a repeat stride of zero
    }
    const auto touches = [&](uint32_t d, uint32_t s) {
        return Touch(StepSpan(dst, d, lanes_at(d)), src_span(s)) &&
               ((dst.block_stride == 1 && src.block_stride == 1) || BlocksTouch(dst, d, src, s, lanes_at(s), shift));
    };
    const bool in_step = dst.repeat_stride == src.repeat_stride;  // then every repeat looks the same
    for (uint32_t d = 0; dst.size == src.size && d < (in_step ? 1 : steps); ++d) {
        const bool identical = same_shape && shift + int64_t{d} * src.repeat_stride * kBlock ==
                                                 int64_t{d} * dst.repeat_stride * kBlock;
        if (!identical && touches(d, d)) {
            return false;
        }
    }
    for (uint32_t d = 0; d + 1 < (in_step ? std::min(steps, 2u) : steps); ++d) {
        if (!Touch(StepSpan(dst, d, lanes_at(d)), {src_span(d + 1).begin, src_end})) {
            continue;
        }
        for (uint32_t s = d + 1; s < steps; ++s) {
            if (touches(d, s)) {
                return false;
            }
        }
    }
    return true;
}

/// Does one run of lanes that is contiguous where block strides allow.
void RunLanes(const Issue& issue, RunFn fn, const void* context, uint32_t step, uint32_t from, uint32_t to)
{
    uint8_t* p[kMaxLanes];
    bool contiguous = true;
    uint32_t widest = 1;
    for (int i = 0; i < issue.count; ++i) {
        contiguous = contiguous && issue.lanes[i].block_stride == 1;
        widest = std::max(widest, issue.lanes[i].size);
    }
    const uint32_t per_block = kBlock / widest;  // the widest operand changes block first
    while (from < to) {
        const uint32_t stop = contiguous ? to : std::min(to, (from / per_block + 1) * per_block);
        for (int i = 0; i < issue.count; ++i) {
            p[i] = LaneAt(issue.lanes[i], step, from);
        }
        fn(context, p, stop - from);
        from = stop;
    }
}

}  // namespace

Active ActiveLanes(const Core& core, uint32_t per_repeat, uint32_t repeat)
{
    Active active;
    active.per_repeat = per_repeat;
    if (core.count_mode) {
        const auto count = static_cast<uint32_t>(core.mask_low);
        active.counted = true;
        active.lanes = per_repeat;
        active.repeats = count / per_repeat;
        active.tail = count % per_repeat;
        return active;
    }
    active.repeats = repeat;
    uint64_t low = core.mask_low;
    uint64_t high = core.mask_high;
    if (per_repeat < 64) {
        low &= (uint64_t{1} << per_repeat) - 1;
    }
    if (per_repeat <= 64) {
        high = 0;
    }
    active.lanes = static_cast<uint32_t>(__builtin_popcountll(low) + __builtin_popcountll(high));
    active.full = active.lanes >= std::min(per_repeat, 128u);
    if (active.full) {
        active.lanes = per_repeat;
    }
    const bool low_run = (low & (low + 1)) == 0;
    const bool high_run = (high & (high + 1)) == 0;
    active.low = active.full || (low_run && high_run && (high == 0 || low == ~uint64_t{0}));
    active.mask[0] = low;
    active.mask[1] = high;
    return active;
}

// vcopy in counter mode: unlike with every other instruction the repeats count, and the mask holds the lanes of each
// (reference of Copy). `per_repeat` lanes take a cycle.
static Active LanesOfEachRepeat(const Core& core, uint32_t per_repeat, uint32_t repeat)
{
    Active active;
    active.counted = true;
    active.lanes = static_cast<uint32_t>(core.mask_low);
    active.per_repeat = (active.lanes + per_repeat - 1) / per_repeat * per_repeat;
    active.full = active.lanes == active.per_repeat;
    active.repeats = repeat;
    return active;
}

void Recorder::AddPieces(const void* base, uint32_t len, uint8_t access, uint32_t count0, int64_t stride0,
                         uint32_t count1, int64_t stride1)
{
    if (count0 > 1 && stride0 == static_cast<int64_t>(len)) {
        len *= count0;
        count0 = 1;
    }
    if (count0 == 1 && count1 > 1) {
        count0 = count1;
        stride0 = stride1;
        count1 = 1;
        if (stride0 == static_cast<int64_t>(len)) {
            len *= count0;
            count0 = 1;
        }
    }
    if (count0 > 1 && stride0 == 0) {
        count0 = 1;
    }
    if (count1 > 1 && stride1 == 0) {
        count1 = 1;
    }
    Main({Offset(base), count0 > 1 ? stride0 : 0, count1 > 1 ? stride1 : 0, len, count0, count1, access});
}

void Recorder::AddLanes(const Lanes& lanes, const Active& active)
{
    const int64_t base = Offset(lanes.base);
    const int64_t rs = int64_t{lanes.repeat_stride} * kBlock;
    const int64_t bs = int64_t{lanes.block_stride} * kBlock;
    bool first = true;
    const auto add = [&](int64_t addr, uint32_t len, uint32_t c0 = 1, int64_t s0 = 0, uint32_t c1 = 1, int64_t s1 = 0) {
        if (first) {
            AddPieces(core_.ub, len, lanes.access, c0, s0, c1, s1);
            main_[mains_ - 1].addr = addr;
            first = false;
        } else {
            const int before = mains_;
            AddPieces(core_.ub, len, lanes.access, c0, s0, c1, s1);
            main_[before].addr = addr;
            Extra(main_[before]);
            mains_ = before;
        }
    };
    const auto low_lanes = [&](int64_t addr, uint32_t count, uint32_t repeats) {
        const uint32_t bytes = count * lanes.size;
        if (lanes.block_stride == 1 || bytes <= kBlock) {
            add(addr, bytes, repeats, rs);
            return;
        }
        const uint32_t blocks = bytes / kBlock;
        add(addr, kBlock, blocks, bs, repeats, rs);
        if (bytes % kBlock != 0) {
            add(addr + blocks * bs, bytes % kBlock, repeats, rs);
        }
    };
    if (active.low) {
        // A whole number of contiguous repeats and its tail are one range.
        if (active.repeats > 0 && active.tail > 0 && lanes.block_stride == 1 &&
            rs == int64_t{active.per_repeat} * lanes.size) {
            add(base, (active.repeats * active.per_repeat + active.tail) * lanes.size);
            return;
        }
        if (active.repeats > 0) {
            low_lanes(base, active.lanes, active.repeats);
        }
        if (active.tail > 0) {
            low_lanes(base + active.repeats * rs, active.tail, 1);
        }
        return;
    }
    // Equal runs at equal distances are one entry; anything else is its hull.
    uint32_t begin = 0;
    while (!active.Bit(begin)) {
        ++begin;
    }
    uint32_t end = active.per_repeat;
    while (!active.Bit(end - 1)) {
        --end;
    }
    uint32_t run = begin;
    while (run < end && active.Bit(run)) {
        ++run;
    }
    run -= begin;
    uint32_t step = begin + run;
    while (step < end && !active.Bit(step)) {
        ++step;
    }
    step -= begin;
    bool periodic = lanes.block_stride == 1 && run > 0;
    for (uint32_t lane = begin; periodic && lane < end; ++lane) {
        periodic = active.Bit(lane) == ((lane - begin) % step < run);
    }
    if (periodic && (end - begin + step - run) % step == 0) {
        add(base + begin * lanes.size, run * lanes.size, (end - begin + step - run) / step, int64_t{step} * lanes.size,
            active.repeats, rs);
    } else if (lanes.block_stride == 1) {
        add(base + begin * lanes.size, (end - begin) * lanes.size, active.repeats, rs);
    } else {
        const uint32_t per_block = kBlock / lanes.size;
        const uint32_t from = begin / per_block;
        add(base + from * bs, kBlock, (end - 1) / per_block - from + 1, bs, active.repeats, rs);
    }
}

bool Recorder::Aligned(const void* base, uint32_t alignment)
{
    if (static_cast<uint64_t>(Offset(base)) % alignment == 0) {
        return true;
    }
    RaiseFault(core_, FaultKind::kMisaligned, site_, "%s: UB offset %lld is not a multiple of %u", OpcodeName(opcode_),
               static_cast<long long>(Offset(base)), alignment);
    return false;
}

bool Recorder::Check(const Pieces& p)
{
    const int64_t last = (p.count0 - 1) * p.stride0 + (p.count1 - 1) * p.stride1;
    const int64_t end = p.addr + last + p.len;
    if (p.addr >= 0 && end <= static_cast<int64_t>(core_.ub_size + kUbReservedBytes)) {
        return true;
    }
    // A null tensor or a GM address is no offset worth printing.
    if (p.addr < -(int64_t{1} << 20) || p.addr > (int64_t{1} << 24)) {
        RaiseFault(core_, FaultKind::kOutOfBoundsUb, site_, "%s %s an address outside the Unified Buffer",
                   OpcodeName(opcode_), p.access == kRead ? "reads" : "writes");
    } else {
        RaiseFault(core_, FaultKind::kOutOfBoundsUb, site_, "%s %s UB bytes %lld to %lld, the buffer has %zu",
                   OpcodeName(opcode_), p.access == kRead ? "reads" : "writes", static_cast<long long>(p.addr),
                   static_cast<long long>(end), core_.ub_size);
    }
    return false;
}

bool Recorder::InBounds()
{
    for (int i = 0; i < mains_; ++i) {
        if (!Check(main_[i])) {
            return false;
        }
    }
    for (int i = 0; i < extras_; ++i) {
        if (!Check(extra_[i])) {
            return false;
        }
    }
    return true;
}

bool Recorder::Write(uint8_t dtype, const Active& active)
{
    const int total = mains_ + extras_;
    RecordHead* head = machine::Append(core_, opcode_, UnitOf(opcode_), static_cast<uint8_t>(total), site_);
    head->dtype = dtype;
    head->flags = static_cast<uint8_t>((active.counted ? kFlagCount : 0) | (active.full ? 0 : kFlagPartialMask));
    head->repeat = static_cast<uint16_t>(active.Steps());
    head->aux0 = active.counted ? active.repeats * active.per_repeat + active.tail : active.lanes;
    RecordOperand* out = machine::OperandsOf(head);
    for (int i = 0; i < total; ++i) {
        const Pieces& p = i < mains_ ? main_[i] : extra_[i - mains_];
        out[i] = {static_cast<uint64_t>(p.addr), p.stride0, p.stride1, p.len, p.count0, p.count1, kSpaceUb, p.access, 0};
    }
    return TouchesData();
}

bool Admit(Core& core, const Issue& issue, Active* active)
{
    uint32_t widest = 1;
    for (int i = 0; i < issue.count; ++i) {
        widest = std::max(widest, issue.lanes[i].size);
    }
    *active = issue.opcode == kOp_vcopy && core.count_mode
        ? LanesOfEachRepeat(core, kRepeat / widest, issue.repeat)
        : ActiveLanes(core, kRepeat / widest, issue.repeat);
    const FormRule& form = FormOf(issue.opcode);
    Recorder recorder(core, issue.opcode, issue.site);
    if (active->Empty()) {
        recorder.Write(issue.dtype, *active);  // issued all the same
        return false;
    }
    for (int i = 0; i < issue.count; ++i) {
        if (!recorder.Aligned(issue.lanes[i].base, form.operand[i].alignment)) {
            return false;
        }
        recorder.AddLanes(issue.lanes[i], *active);
    }
    if (!recorder.InBounds()) {
        return false;
    }
    for (int i = 1; form.overlap == Overlap::kInPlace && i < issue.count; ++i) {
        if (!OverlapIsLegal(issue.lanes[0], issue.lanes[i], *active)) {
            RaiseFault(core, FaultKind::kOperandOverlap, issue.site,
                       "%s: source %d overlaps the destination in a way the instruction does not allow",
                       OpcodeName(issue.opcode), i - 1);
            // Carried out one repeat after the other: what many kernels that do this count on.
            break;
        }
    }
    return recorder.Write(issue.dtype, *active);
}

void Elementwise(const Issue& issue, RunFn fn, const void* context)
{
    Active active;
    if (!Admit(Current(), issue, &active)) {
        return;
    }
    bool contiguous = active.full;
    for (int i = 0; i < issue.count; ++i) {
        const Lanes& op = issue.lanes[i];
        contiguous = contiguous && op.block_stride == 1 &&
                     (active.Steps() <= 1 || op.repeat_stride * kBlock == active.per_repeat * op.size);
    }
    if (contiguous) {
        uint8_t* p[kMaxLanes];
        for (int i = 0; i < issue.count; ++i) {
            p[i] = LaneAt(issue.lanes[i], 0, 0);
        }
        fn(context, p, size_t{active.repeats} * active.lanes + active.tail);
        return;
    }
    const uint32_t steps = active.Steps();
    for (uint32_t step = 0; step < steps; ++step) {
        if (active.low) {
            RunLanes(issue, fn, context, step, 0, active.LanesAt(step));
            continue;
        }
        for (uint32_t lane = 0; lane < active.per_repeat;) {
            if (!active.Bit(lane)) {
                ++lane;
                continue;
            }
            uint32_t stop = lane + 1;
            while (stop < active.per_repeat && active.Bit(stop)) {
                ++stop;
            }
            RunLanes(issue, fn, context, step, lane, stop);
            lane = stop;
        }
    }
}

}  // namespace isa
}  // namespace ascendsim
