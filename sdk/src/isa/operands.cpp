#include "isa/operands.h"

namespace ascendsim {
namespace isa {

bool AdmitRanges(Core& core, uint16_t opcode, uint8_t dtype, uint64_t site, const Range* ranges, int count,
           const Numbers& numbers)
{
    uint64_t addresses[kMaxRanges];
    for (int i = 0; i < count; ++i) {
        const Range& range = ranges[i];
        const int64_t last = (int64_t{range.count0} - 1) * range.stride0 + (int64_t{range.count1} - 1) * range.stride1;
        // Descending forms start at their highest piece.
        const int64_t low = last < 0 ? last : 0;
        const auto extent = range.len + static_cast<uint64_t>(last < 0 ? -last : last);
        if (!machine::CheckSpace(core, range.space, static_cast<const uint8_t*>(range.base) + low, extent, FormOf(opcode).operand[range.operand].alignment, site,
                                 OpcodeName(opcode), &addresses[i])) {
            return false;
        }
        addresses[i] -= static_cast<uint64_t>(low);
    }
    RecordHead* head = machine::Append(core, opcode, UnitOf(opcode), static_cast<uint8_t>(count), site);
    head->dtype = dtype;
    head->aux0 = numbers.aux0;
    head->aux1 = numbers.aux1;
    head->aux2 = numbers.aux2;
    head->repeat = numbers.repeat;
    head->flags = numbers.flags;
    for (int i = 0; i < count; ++i) {
        const Range& range = ranges[i];
        RecordOperand* op = machine::OperandsOf(head) + i;
        machine::SetOperand(op, addresses[i], static_cast<uint32_t>(range.len), range.space, range.access);
        // Pieces that touch are one.
        uint64_t len = range.len;
        uint32_t count0 = range.count0;
        int64_t stride0 = range.stride0;
        uint32_t count1 = range.count1;
        int64_t stride1 = range.stride1;
        if (count0 > 1 && stride0 == static_cast<int64_t>(len)) {
            len *= count0;
            count0 = 1;
        }
        if (count0 == 1) {
            count0 = count1;
            stride0 = stride1;
            count1 = 1;
            if (count0 > 1 && stride0 == static_cast<int64_t>(len)) {
                len *= count0;
                count0 = 1;
            }
        }
        if (stride0 == 0) {
            count0 = 1;
        }
        if (stride1 == 0) {
            count1 = 1;
        }
        op->len = static_cast<uint32_t>(len);
        op->count0 = count0;
        op->stride0 = count0 > 1 ? stride0 : 0;
        op->count1 = count1;
        op->stride1 = count1 > 1 ? stride1 : 0;
    }
    return TouchesData();
}

void AdmitNothing(Core& core, uint16_t opcode, uint64_t site) { machine::Append(core, opcode, UnitOf(opcode), 0, site); }

void BadArgument(Core& core, uint16_t opcode, uint64_t site, const char* what, long long value)
{
    RaiseFault(core, FaultKind::kBadArgument, site, "%s: %s, here it is %lld", OpcodeName(opcode), what, value);
}

void NotSimulated(Core& core, uint16_t opcode, uint64_t site, const char* what)
{
    RaiseFault(core, FaultKind::kUnsupported, site, "%s: %s is not supported by the simulator", OpcodeName(opcode), what);
    machine::AbandonBlock();
}

}  // namespace isa
}  // namespace ascendsim
