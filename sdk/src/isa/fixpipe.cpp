// The fixpipe: empties L0C into global memory or L1, converting, activating and rearranging on the way.
#include <algorithm>
#include <cmath>

#include "isa/operands.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {


/// A scale has a sign, eight bits of exponent and ten of mantissa.
float ScaleOf(uint64_t word) { return FloatFromBits(static_cast<uint32_t>(word) & 0xFFFFE000u); }

int32_t OffsetOf(uint64_t word)
{
    const auto bits = static_cast<int32_t>(word >> 37 & 0x1FFu);
    return bits >= 256 ? bits - 512 : bits;
}

bool SignedResult(uint64_t word) { return (word >> 46 & 1u) != 0; }

/// Bit of the control register that keeps infinities and what is no number. Without it they become the largest finite value and zero.
constexpr uint32_t kKeepsSpecialBit = 48;

float Limited(float value, float limit, bool keeps)
{
    if (keeps) {
        return value;
    }
    return value != value ? 0.0f : std::min(std::max(value, -limit), limit);
}

bool IsVectorMode(QuantMode_t mode) { return mode == VREQ8 || mode == VDEQF16 || mode == VQF322B8_PRE; }
bool IsScaled(QuantMode_t mode)
{
    return IsVectorMode(mode) || mode == REQ8 || mode == DEQF16 || mode == QF322B8_PRE;
}

struct Plan {
    const cube::Fixpipe* p;
    uint8_t dst_element;
    uint8_t src_element;
    uint64_t scalar;          // factor word of the scalar modes
    const uint8_t* factors;   // table of the vector modes
    float alpha;              // for leaky ReLU
    bool keeps;               // infinities and what is no number
};

int32_t EightBits(float value, uint64_t word)
{
    const auto rounded = static_cast<int32_t>(std::nearbyint(std::min(std::max(value, -256.0f), 255.0f)));
    const int32_t shifted = rounded + OffsetOf(word);
    return SignedResult(word) ? std::min(std::max(shifted, -128), 127) : std::min(std::max(shifted, 0), 255);
}

/// One accumulator as the element that is written, in its low bits.
uint32_t Convert(const Plan& plan, const uint8_t* from, uint32_t column)
{
    const uint8_t relu = plan.p->relu;
    const QuantMode_t mode = plan.p->quant;
    if (mode == NoQuant) {
        if (plan.src_element == kF32) {
            float value = Load<float>(from);
            if (relu != NoRELU && value < 0) {
                value = relu == LeakyRELU ? value * plan.alpha : 0.0f;
            }
            return FloatBits(value);
        }
        const auto value = Load<int32_t>(from);
        return static_cast<uint32_t>(relu != NoRELU && value < 0 ? 0 : value);
    }
    if (mode == F322F16 || mode == F322BF16) {
        float value = Load<float>(from);
        if (relu != NoRELU && value < 0) {
            value = relu == LeakyRELU ? value * plan.alpha : 0.0f;
        }
        return mode == F322F16 ? half(Limited(value, 65504.0f, plan.keeps)).Bits()
                               : bfloat16_t(Limited(value, FloatFromBits(0x7F7F0000u), plan.keeps)).Bits();
    }
    const uint64_t word = plan.factors != nullptr ? Load<uint64_t>(plan.factors + 8 * size_t{column}) : plan.scalar;
    float value = 0;
    if (plan.src_element == kF32) {
        value = Load<float>(from);
    } else {
        auto whole = Load<int32_t>(from);
        if ((word >> 36 & 1u) != 0) {  // shifted into sixteen bits first
            whole = std::min(std::max(whole >> ((word >> 32 & 15u) + 1), -32768), 32767);
        }
        value = static_cast<float>(whole);
    }
    value *= relu != NoRELU && value < 0 ? 0.0f : ScaleOf(word);
    if (mode == DEQF16 || mode == VDEQF16) {
        return half(Limited(value, 65504.0f, plan.keeps)).Bits();
    }
    return static_cast<uint32_t>(EightBits(value != value ? 0.0f : value, word));
}

/// Up to sixteen accumulators of a row as elements of `size` bytes; factors are those of the columns from `column` on.
void ConvertRow(const Plan& plan, const uint8_t* from, uint32_t column, uint32_t lanes, uint32_t size, uint8_t* to)
{
    if (plan.p->quant == NoQuant && plan.p->relu == NoRELU) {
        std::memcpy(to, from, lanes * 4);
        return;
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        const uint32_t value = Convert(plan, from + 4 * lane, std::min(column + lane, plan.p->n - 1u));
        std::memcpy(to + lane * size, &value, size);
    }
}

/// True for a mode that the element types fit.
bool ModeFits(QuantMode_t mode, uint8_t dst, uint8_t src)
{
    switch (mode) {
        case NoQuant:
            return (src == kF32 && dst == kF32) || (src == kI32 && dst == kI32);
        case F322F16:
            return src == kF32 && dst == kF16;
        case F322BF16:
            return src == kF32 && dst == kBf16;
        case DEQF16:
        case VDEQF16:
            return src == kI32 && dst == kF16;
        case REQ8:
        case VREQ8:
            return src == kI32 && (dst == kI8 || dst == kU8);
        case QF322B8_PRE:
        case VQF322B8_PRE:
            return src == kF32 && (dst == kI8 || dst == kU8);
        default:
            return false;
    }
}

/// Where rows of the result go.
struct Layout {
    uint32_t matrices;        // ND matrices, 1 otherwise
    uint64_t src_matrix_step;
    uint64_t dst_matrix_step;
    uint32_t groups;          // groups of columns that are consecutive in the destination
    uint32_t lanes;           // columns of a group
    uint64_t group_step;      // bytes
    uint64_t row_step;        // bytes
};

Layout LayoutOf(const Core& core, const cube::Fixpipe& p, uint32_t size)
{
    Layout layout = {1, 0, 0, 0, 0, 0, 0};
    if (p.nz2nd) {
        const uint64_t nd = core.cube.nd_para;
        layout.matrices = static_cast<uint32_t>(nd & 0xFFFFu);
        layout.src_matrix_step = (nd >> 16 & 0xFFFFu) * kSide * kSide * 4;
        layout.dst_matrix_step = (nd >> 32 & 0xFFFFu) * size;
        layout.groups = 1;
        layout.lanes = p.n;
        layout.group_step = 0;
        layout.row_step = uint64_t{p.dst_stride} * size;
        return layout;
    }
    // Blocks of eight columns when split, of 32 where elements have one byte, of 16 otherwise.
    layout.lanes = p.split ? 8 : size == 1 ? 32 : kSide;
    layout.groups = CeilDiv(p.n, layout.lanes);
    layout.group_step = uint64_t{p.dst_stride} * kBlock;
    layout.row_step = uint64_t{layout.lanes} * size;
    return layout;
}

}  // namespace
}  // namespace isa

namespace cube {

using namespace isa;

void Drain(bool to_gm, uint8_t dst_element, uint8_t src_element, void* dst, const void* src, const Fixpipe& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint16_t opcode = to_gm ? kOp_copy_matrix_cc_to_gm : kOp_copy_matrix_cc_to_cbuf;
    if (p.n == 0 || p.m == 0) {
        return AdmitNothing(core, opcode, site);
    }
    if (!ModeFits(p.quant, dst_element, src_element)) {
        NotSimulated(core, opcode, site, "this quantisation mode with these element types");
    }
    if (p.relu >= PRELU || (p.relu == LeakyRELU && IsScaled(p.quant))) {
        NotSimulated(core, opcode, site, "this activation");
    }
    if (p.nz2nd && (!to_gm || p.split)) {
        return BadArgument(core, opcode, site, "rows are written to global memory and without channel split; NZ2ND",
                           p.split ? 2 : 1);
    }
    if (p.split && (dst_element != kF32 || !to_gm)) {
        return BadArgument(core, opcode, site, "channels are split for float in global memory only; bits of an element",
                           ElementBits(dst_element));
    }
    const uint32_t size = ElementBits(dst_element) / 8;
    const Layout layout = LayoutOf(core, p, size);
    const uint8_t* from = OnChipAddress(core, kSpaceL0c, src);
    uint8_t* to = to_gm ? static_cast<uint8_t*>(dst) : OnChipAddress(core, kSpaceL1, dst);
    Plan plan = {&p, dst_element, src_element, core.cube.quant_pre, nullptr, core.cube.lrelu_alpha,
                 (core.ctrl >> kKeepsSpecialBit & 1u) != 0};

    // Only NZ forms write whole blocks; a last group of half a block stays one of sixteen columns.
    const uint32_t columns = p.nz2nd ? p.n : p.split ? CeilDiv(p.n, 8) * 8 : CeilDiv(p.n, kSide) * kSide;
    const uint64_t src_column_step = uint64_t{p.src_stride} * kSide * 4;
    const uint32_t src_columns = CeilDiv(p.n, kSide);
    const uint32_t matrices = layout.matrices;
    if (matrices == 0) {
        return AdmitNothing(core, opcode, site);
    }
    Range ranges[kMaxRanges] = {
        p.nz2nd ? Range{to_gm ? kSpaceGm : kSpaceL1, kWrite, to, uint64_t{p.n} * size, 0, p.m,
                        static_cast<int64_t>(layout.row_step), matrices, static_cast<int64_t>(layout.dst_matrix_step)}
                : Range{to_gm ? kSpaceGm : kSpaceL1, kWrite, to,
                        std::min<uint64_t>(layout.row_step, uint64_t{columns} * size) * p.m, 0, layout.groups,
                        static_cast<int64_t>(layout.group_step)},
        {kSpaceL0c, kRead, from, uint64_t{p.m} * kSide * 4, 1, src_columns, static_cast<int64_t>(src_column_step), matrices,
         static_cast<int64_t>(layout.src_matrix_step)},
        {},
        {}};
    int count = 2;
    if (!p.nz2nd && columns % layout.lanes != 0) {
        // The last group is narrower: list it with the whole ones, which the range above would overstate.
        if (layout.groups == 1) {
            ranges[0].len = uint64_t{columns} * size * p.m;
        } else {
            ranges[0].len = layout.row_step * p.m;
            ranges[0].count0 = layout.groups - 1;
            ranges[2] = {ranges[0].space, kWrite, to + (layout.groups - 1) * layout.group_step,
                         uint64_t{columns % layout.lanes} * size * p.m, 0};
            count = 3;
        }
    }
    const bool atomic = to_gm && core.atomic_op != machine::AtomicOp::kNone;
    if (atomic) {
        ranges[0].access = kReadWrite;
        ranges[2].access = kReadWrite;
    }
    if (IsVectorMode(p.quant)) {
        // The register holds the table's place in units of 128 bytes, above the place of the activation's.
        const uint64_t units = (core.cube.fpc & ~(uint64_t{1} << 63)) >> 8;
        plan.factors = OnChipAddress(core, kSpaceFb, reinterpret_cast<const void*>(units << 7));
        ranges[count++] = {kSpaceFb, kRead, plan.factors, uint64_t{p.n} * 8, 2};
    }
    Numbers numbers;
    numbers.aux0 = CeilDiv(p.m, kSide) * src_columns * matrices;
    numbers.aux1 = columns * size * p.m * matrices;
    numbers.aux2 = p.nz2nd ? p.n * size : static_cast<uint32_t>(layout.row_step * p.m);
    numbers.repeat = p.unit_flag;
    numbers.flags = static_cast<uint8_t>((atomic ? AtomicFlags(core) : 0) | (to_gm && core.l2_bypass ? kFlagL2Bypass : 0));
    if (!AdmitRanges(core, opcode, atomic ? core.atomic_dtype : dst_element, site, ranges, count, numbers)) {
        return;
    }
    uint8_t line[kSide * 4];
    for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
        for (uint32_t row = 0; row < p.m; ++row) {
            const uint8_t* accumulators = from + matrix * layout.src_matrix_step + uint64_t{row} * kSide * 4;
            for (uint32_t column = 0; column < columns; column += kSide) {
                const uint8_t* block = accumulators + column / kSide * src_column_step;
                const uint32_t lanes = std::min(kSide, columns - column);
                ConvertRow(plan, block, column, lanes, size, line);
                for (uint32_t lane = 0; lane < lanes;) {
                    const uint32_t at = column + lane;
                    const uint32_t group = at / layout.lanes;
                    const uint32_t run = std::min(lanes - lane, layout.lanes - at % layout.lanes);
                    const uint32_t width = std::min(layout.lanes, columns - group * layout.lanes);
                    const uint64_t row_step = p.nz2nd ? layout.row_step : uint64_t{width} * size;
                    uint8_t* out = to + matrix * layout.dst_matrix_step + group * layout.group_step + row * row_step +
                                   uint64_t{at % layout.lanes} * size;
                    if (atomic) {
                        AtomicWrite(core, out, line + lane * size, uint64_t{run} * size);
                    } else {
                        std::memcpy(out, line + lane * size, uint64_t{run} * size);
                    }
                    lane += run;
                }
            }
        }
    }
}

}  // namespace cube
}  // namespace ascendsim
