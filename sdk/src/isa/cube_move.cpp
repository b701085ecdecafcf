// Movements of the cube core: blocks and fractals between global memory, L1, L0A, L0B, the bias table and the fixpipe buffer.
#include <algorithm>

#include "isa/operands.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

TraceSpace SpaceOf(cube::Place place)
{
    return place == cube::Place::kL1 ? kSpaceL1 : place == cube::Place::kL0a ? kSpaceL0a : kSpaceL0b;
}

/// Bursts of `len` bytes whose starts are `step` bytes apart on each side.
struct Bursts {
    uint16_t opcode;
    uint32_t count;
    uint64_t to_len;
    uint64_t to_step;
    uint64_t from_len;
    uint64_t from_step;
};

bool IssueBursts(Core& core, const Bursts& b, uint64_t site, TraceSpace to_space, void* to,
                 TraceSpace from_space, const void* from)
{
    if (b.count == 0 || b.to_len == 0) {
        AdmitNothing(core, b.opcode, site);
        return false;
    }
    const Range ranges[] = {
        {to_space, kWrite, to, b.to_len, 0, b.count, static_cast<int64_t>(b.to_step)},
        {from_space, kRead, from, b.from_len, 1, b.count, static_cast<int64_t>(b.from_step)}};
    Numbers numbers;
    numbers.aux1 = static_cast<uint32_t>(b.from_len * b.count);
    numbers.aux2 = static_cast<uint32_t>(b.from_len);
    numbers.repeat = static_cast<uint16_t>(b.count);
    numbers.flags = from_space == kSpaceGm && core.l2_bypass ? kFlagL2Bypass : 0;
    return AdmitRanges(core, b.opcode, kNoDtype, site, ranges, 2, numbers);
}

/// Blocks of 32 bytes with gaps in blocks on both sides.
void MoveBlocks(uint16_t opcode, uint64_t site, TraceSpace to_space, void* dst, TraceSpace from_space,
                const void* src, uint32_t count, uint32_t blocks, uint32_t src_gap, uint32_t dst_gap)
{
    Core& core = Current();
    const uint64_t bytes = uint64_t{blocks} * kBlock;
    uint8_t* to = to_space == kSpaceGm ? static_cast<uint8_t*>(dst) : OnChipAddress(core, to_space, dst);
    const uint8_t* from =
        from_space == kSpaceGm ? static_cast<const uint8_t*>(src) : OnChipAddress(core, from_space, src);
    const Bursts bursts = {opcode, count, bytes, bytes + uint64_t{dst_gap} * kBlock,
                           bytes, bytes + uint64_t{src_gap} * kBlock};
    if (!IssueBursts(core, bursts, site, to_space, to, from_space, from)) {
        return;
    }
    const bool atomic = to_space == kSpaceGm && core.atomic_op != machine::AtomicOp::kNone;
    for (uint32_t burst = 0; burst < count; ++burst) {
        if (atomic) {
            AtomicWrite(core, to, from, bytes);
        } else {
            std::memmove(to, from, bytes);
        }
        to += bursts.to_step;
        from += bursts.from_step;
    }
}

uint16_t LoadOpcode(uint8_t element, cube::Place to, bool from_gm)
{
    if (from_gm) {
        return to == cube::Place::kL1 ? kOp_load_gm_to_cbuf : to == cube::Place::kL0a ? kOp_load_gm_to_ca : kOp_load_gm_to_cb;
    }
    if (element == kElementS4) {
        return to == cube::Place::kL0a ? kOp_load_cbuf_to_ca_s4 : kOp_load_cbuf_to_cb_s4;
    }
    return to == cube::Place::kL0a ? kOp_load_cbuf_to_ca : kOp_load_cbuf_to_cb;
}

template <typename T>
void TransposeSquare(const uint8_t* from, uint8_t* to, uint32_t side)
{
    const auto* a = reinterpret_cast<const T*>(from);
    auto* b = reinterpret_cast<T*>(to);
    for (uint32_t row = 0; row < side; ++row) {
        for (uint32_t column = 0; column < side; ++column) {
            b[column * side + row] = a[row * side + column];
        }
    }
}

/// Lane `index` of a packed array of elements of 4, 8 or 32 bits.
uint32_t Lane(const uint8_t* base, uint32_t bits, uint32_t index)
{
    switch (bits) {
        case 4:
            return static_cast<uint32_t>(base[index / 2] >> (index % 2 * 4)) & 15u;
        case 8:
            return base[index];
        default:
            return Load<uint32_t>(base + 4 * size_t{index});
    }
}

void SetLane(uint8_t* base, uint32_t bits, uint32_t index, uint32_t value)
{
    switch (bits) {
        case 4: {
            const uint32_t shift = index % 2 * 4;
            base[index / 2] = static_cast<uint8_t>((base[index / 2] & ~(15u << shift)) | (value & 15u) << shift);
            return;
        }
        case 8:
            base[index] = static_cast<uint8_t>(value);
            return;
        default:
            return Store(base + 4 * size_t{index}, value);
    }
}

}  // namespace
}  // namespace isa

namespace cube {

using namespace isa;

void NdToNzCopy(uint8_t element, void* dst, const void* src, const NdToNz& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint32_t size = ElementBits(element) / 8;
    const uint16_t opcode = size == 1   ? kOp_copy_gm_to_cbuf_multi_nd2nz_b8
                            : size == 2 ? kOp_copy_gm_to_cbuf_multi_nd2nz_b16
                                        : kOp_copy_gm_to_cbuf_multi_nd2nz_b32s;
    if (p.matrices == 0 || p.rows == 0 || p.columns == 0) {
        return AdmitNothing(core, opcode, site);
    }
    const uint32_t lanes = kBlock / size;
    const uint32_t groups = CeilDiv(p.columns, lanes);
    uint8_t* to = OnChipAddress(core, kSpaceL1, dst);
    const auto* from = static_cast<const uint8_t*>(src);
    const uint64_t row_bytes = uint64_t{p.columns} * size;
    const uint64_t matrix_step = uint64_t{p.dst_matrix_stride} * size;
    Numbers numbers;
    numbers.aux0 = p.rows;
    numbers.aux1 = static_cast<uint32_t>(row_bytes * p.rows * p.matrices);
    numbers.aux2 = static_cast<uint32_t>(row_bytes);
    numbers.repeat = p.matrices;
    numbers.flags = core.l2_bypass ? kFlagL2Bypass : 0;
    // One record entry holds two levels: a matrix's block columns of blocks are listed, further matrices as a third.
    const uint64_t block_rows = uint64_t{p.n_stride} * kBlock;
    const uint64_t column_step = uint64_t{p.c0_stride} * kBlock;
    const uint64_t column_len = (p.rows - 1u) * block_rows + kBlock;
    const bool dense = p.n_stride == 1;
    const uint64_t matrix_len = (groups - 1u) * column_step + column_len;
    const Range ranges[] = {
        p.matrices == 1 ? (dense ? Range{kSpaceL1, kWrite, to, column_len, 0, groups, static_cast<int64_t>(column_step)}
                                 : Range{kSpaceL1, kWrite, to, kBlock, 0, p.rows, static_cast<int64_t>(block_rows), groups,
                                         static_cast<int64_t>(column_step)})
                        : Range{kSpaceL1, kWrite, to, matrix_len, 0, p.matrices, static_cast<int64_t>(matrix_step)},
        {kSpaceGm, kRead, from, row_bytes, 1, p.rows, static_cast<int64_t>(uint64_t{p.row_stride} * size), p.matrices,
         static_cast<int64_t>(uint64_t{p.matrix_stride} * size)}};
    if (!AdmitRanges(core, opcode, element, site, ranges, 2, numbers)) {
        return;
    }
    for (uint32_t matrix = 0; matrix < p.matrices; ++matrix) {
        for (uint32_t row = 0; row < p.rows; ++row) {
            const uint8_t* line = from + (uint64_t{matrix} * p.matrix_stride + uint64_t{row} * p.row_stride) * size;
            uint8_t* out = to + matrix * matrix_step + row * block_rows;
            for (uint32_t group = 0; group < groups; ++group) {
                const uint64_t at = uint64_t{group} * kBlock;
                const uint64_t bytes = std::min<uint64_t>(kBlock, row_bytes - at);
                std::memcpy(out, line + at, bytes);
                std::memset(out + bytes, 0, kBlock - bytes);
                out += column_step;
            }
        }
    }
}

void LoadFractals(uint8_t element, Place place, bool from_gm, void* dst, const void* src, const Load2d& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint16_t opcode = LoadOpcode(element, place, from_gm);
    if (p.repeat == 0) {
        return AdmitNothing(core, opcode, site);
    }
    if (p.transpose && ElementBits(element) != 16) {
        return BadArgument(core, opcode, site, "only 16-bit elements are transposed; bits of an element", ElementBits(element));
    }
    const TraceSpace space = SpaceOf(place);
    uint8_t* to = OnChipAddress(core, space, dst);
    const uint8_t* from = (from_gm ? static_cast<const uint8_t*>(src) : OnChipAddress(core, kSpaceL1, src)) +
                          uint64_t{p.base} * kFractal;
    const int64_t from_step = int64_t{p.src_stride} * kFractal * (p.direction == dec ? -1 : 1);
    const int64_t to_step = (int64_t{p.dst_gap} + 1) * kFractal;
    const Range ranges[] = {
        {space, kWrite, to, kFractal, 0, p.repeat, to_step},
        {from_gm ? kSpaceGm : kSpaceL1, kRead, from, kFractal, 1, p.repeat, from_step}};
    Numbers numbers;
    numbers.aux0 = p.repeat;
    numbers.aux1 = uint32_t{p.repeat} * kFractal;
    numbers.aux2 = kFractal;
    numbers.repeat = p.repeat;
    if (!AdmitRanges(core, opcode, element, site, ranges, 2, numbers)) {
        return;
    }
    for (uint32_t i = 0; i < p.repeat; ++i) {
        if (p.transpose) {
            TransposeSquare<uint16_t>(from, to, 16);
        } else {
            std::memcpy(to, from, kFractal);
        }
        from += from_step;
        to += to_step;
    }
}

void LoadFractalsTransposed(uint8_t element, Place place, void* dst, const void* src, const LoadTransposed& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint32_t bits = ElementBits(element);
    const uint16_t opcode = place == Place::kL0a ? kOp_load_cbuf_to_ca_transpose
                            : bits == 4          ? kOp_load_cbuf_to_cb_transpose_s4
                                                 : kOp_load_cbuf_to_cb_transpose;
    if (p.repeat == 0) {
        return AdmitNothing(core, opcode, site);
    }
    // A square of as many elements on a side as a block of the narrower direction holds, at least 16.
    const uint32_t lanes = kBlock * 8 / bits;
    const uint32_t side = std::max(16u, lanes);
    const uint32_t square = side * side * bits / 8;
    const uint32_t fractals = square / kFractal;
    const TraceSpace space = SpaceOf(place);
    uint8_t* to = OnChipAddress(core, space, dst);
    const uint8_t* from = OnChipAddress(core, kSpaceL1, src) + uint64_t{p.base} * square;
    const int64_t from_step = int64_t{p.src_stride} * square * (p.descending ? -1 : 1);
    const int64_t to_step = (int64_t{p.dst_gap} + 1) * kFractal;
    const int64_t fractal_step = (int64_t{p.fractal_gap} + 1) * kFractal;
    const Range ranges[] = {{space, kWrite, to, kFractal, 0, fractals, fractal_step, p.repeat, to_step},
                            {kSpaceL1, kRead, from, square, 1, p.repeat, from_step}};
    Numbers numbers;
    numbers.aux0 = p.repeat * fractals;
    numbers.aux1 = p.repeat * square;
    numbers.aux2 = square;
    numbers.repeat = p.repeat;
    if (!AdmitRanges(core, opcode, element, site, ranges, 2, numbers)) {
        return;
    }
    // In a square whose block is narrower than its side, fractals lie side by side, otherwise one below the other.
    const auto element_at = [&](uint32_t row, uint32_t column) {
        return lanes < side ? (column / lanes) * (kFractal * 8 / bits) + row * lanes + column % lanes : row * side + column;
    };
    for (uint32_t i = 0; i < p.repeat; ++i) {
        if (bits == 16) {
            TransposeSquare<uint16_t>(from, to, 16);
        } else {
            for (uint32_t row = 0; row < side; ++row) {
                for (uint32_t column = 0; column < side; ++column) {
                    const uint32_t at = element_at(row, column);
                    uint8_t* fractal = to + int64_t{at / (kFractal * 8 / bits)} * fractal_step;
                    SetLane(fractal, bits, at % (kFractal * 8 / bits), Lane(from, bits, element_at(column, row)));
                }
            }
        }
        from += from_step;
        to += to_step;
    }
}

void Fill(Place place, uint8_t size, void* dst, int64_t config, uint32_t value)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint16_t opcode = place == Place::kL1    ? kOp_create_cbuf_matrix
                            : place == Place::kL0a ? kOp_create_ca_matrix
                                                   : kOp_create_cb_matrix;
    const auto word = static_cast<uint64_t>(config);
    const auto repeat = static_cast<uint32_t>(Bits(word, 0, 15));
    const auto blocks = static_cast<uint32_t>(Bits(word, 16, 15));
    const auto gap = static_cast<uint32_t>(Bits(word, 32, 15));
    if (repeat == 0 || blocks == 0) {
        return AdmitNothing(core, opcode, site);
    }
    const uint32_t unit = place == Place::kL1 ? kBlock : kFractal;
    const uint64_t len = uint64_t{blocks} * unit;
    const uint64_t step = len + uint64_t{gap} * unit;
    const TraceSpace space = SpaceOf(place);
    uint8_t* to = OnChipAddress(core, space, dst);
    const Range range = {space, kWrite, to, len, 0, repeat, static_cast<int64_t>(step)};
    Numbers numbers;
    numbers.aux1 = static_cast<uint32_t>(len * repeat);
    numbers.aux2 = static_cast<uint32_t>(len);
    numbers.repeat = static_cast<uint16_t>(repeat);
    if (!AdmitRanges(core, opcode, size == 2 ? kU16 : kU32, site, &range, 1, numbers)) {
        return;
    }
    for (uint32_t i = 0; i < repeat; ++i, to += step) {
        for (uint64_t at = 0; at < len; at += size) {
            std::memcpy(to + at, &value, size);
        }
    }
}

void CopyToAccumulators(uint8_t dst_element, uint8_t src_element, void* dst, const void* src, uint16_t bursts, uint16_t length,
                        uint16_t src_gap, uint16_t dst_gap)
{
    const uint64_t site = ASCENDSIM_SITE();
    if (dst_element != src_element) {
        NotSimulated(Current(), kOp_copy_matrix_cbuf_to_cc, site, "a conversion on the way to L0C");
    }
    MoveBlocks(kOp_copy_matrix_cbuf_to_cc, site, kSpaceL0c, dst, kSpaceL1, src, bursts, length, src_gap, dst_gap);
}

}  // namespace cube
}  // namespace ascendsim

using namespace ascendsim::isa;

void copy_gm_to_cbuf(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                     uint16_t dstStride, pad_t padMode)
{
    const uint64_t site = ASCENDSIM_SITE();
    if (padMode != PAD_NONE) {
        NotSimulated(Current(), ascendsim::kOp_copy_gm_to_cbuf, site, "a padding mode");
    }
    MoveBlocks(ascendsim::kOp_copy_gm_to_cbuf, site, ascendsim::kSpaceL1, dst, ascendsim::kSpaceGm, src,
               nBurst, lenBurst, srcStride, dstStride);
}

void copy_cbuf_to_gm(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                     uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_cbuf_to_gm, ASCENDSIM_SITE(), ascendsim::kSpaceGm, dst,
               ascendsim::kSpaceL1, src, nBurst, lenBurst, srcStride, dstStride);
}

void copy_cbuf_to_ubuf(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                       uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_cbuf_to_ubuf, ASCENDSIM_SITE(), ascendsim::kSpaceUb, dst,
               ascendsim::kSpaceL1, src, nBurst, lenBurst, srcStride, dstStride);
}

void copy_ubuf_to_cbuf(void* dst, const void* src, uint8_t, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                       uint16_t dstStride)
{
    MoveBlocks(ascendsim::kOp_copy_ubuf_to_cbuf, ASCENDSIM_SITE(), ascendsim::kSpaceL1, dst,
               ascendsim::kSpaceUb, src, nBurst, lenBurst, srcStride, dstStride);
}

void copy_cbuf_to_bt(uint64_t dst, const void* src, uint16_t convControl, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t sourceGap, uint16_t dstGap)
{
    Core& core = Current();
    const uint64_t from_len = uint64_t{lenBurst} * 64;
    const uint64_t to_len = convControl != 0 ? 2 * from_len : from_len;
    uint8_t* to = OnChipAddress(core, ascendsim::kSpaceBt, reinterpret_cast<const void*>(dst));
    const uint8_t* from = OnChipAddress(core, ascendsim::kSpaceL1, src);
    const Bursts bursts = {ascendsim::kOp_copy_cbuf_to_bt, nBurst, to_len, to_len + uint64_t{dstGap} * 64,
                           from_len, from_len + uint64_t{sourceGap} * kBlock};
    if (!IssueBursts(core, bursts, ASCENDSIM_SITE(), ascendsim::kSpaceBt, to, ascendsim::kSpaceL1, from)) {
        return;
    }
    for (uint32_t burst = 0; burst < nBurst; ++burst, to += bursts.to_step, from += bursts.from_step) {
        if (convControl == 0) {
            std::memcpy(to, from, from_len);
            continue;
        }
        for (uint64_t i = 0; i < from_len / 2; ++i) {
            Store(to + 4 * i, static_cast<float>(Load<half>(from + 2 * i)));
        }
    }
}

void copy_cbuf_to_fbuf(void* dst, const void* src, uint16_t burstNum, uint16_t burstLen, uint16_t srcGapSize,
                       uint16_t dstGapSize)
{
    Core& core = Current();
    const uint64_t bytes = uint64_t{burstLen} * 128;
    uint8_t* to = OnChipAddress(core, ascendsim::kSpaceFb, dst);
    const uint8_t* from = OnChipAddress(core, ascendsim::kSpaceL1, src);
    // Unlike elsewhere the strides are from start to start.
    const Bursts bursts = {ascendsim::kOp_copy_cbuf_to_fbuf, burstNum, bytes, uint64_t{dstGapSize} * 128,
                           bytes, uint64_t{srcGapSize} * kBlock};
    if (!IssueBursts(core, bursts, ASCENDSIM_SITE(), ascendsim::kSpaceFb, to, ascendsim::kSpaceL1, from)) {
        return;
    }
    for (uint32_t burst = 0; burst < burstNum; ++burst, to += bursts.to_step, from += bursts.from_step) {
        std::memcpy(to, from, bytes);
    }
}

void load_cbuf_to_cb_sp(int8_t* dst, int8_t* src, uint16_t startID, uint8_t repeatTime)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    constexpr uint32_t kIndex = kFractal / 4;
    if (repeatTime == 0) {
        return AdmitNothing(core, ascendsim::kOp_load_cbuf_to_cb_sp, site);
    }
    uint8_t* to = OnChipAddress(core, ascendsim::kSpaceL0b, dst);
    const uint8_t* from = OnChipAddress(core, ascendsim::kSpaceL1, src) + uint64_t{startID} * kFractal;
    const uint8_t* index = OnChipAddress(core, ascendsim::kSpaceL1, core.cube.sparse_index) + uint64_t{startID} * kIndex;
    const uint64_t bytes = uint64_t{repeatTime} * kFractal;
    const Range ranges[] = {
        {ascendsim::kSpaceL0b, ascendsim::kWrite, to, bytes, 0},
        {ascendsim::kSpaceL1, ascendsim::kRead, from, bytes, 1},
        {ascendsim::kSpaceL1, ascendsim::kRead, index, bytes / 4, 2}};
    Numbers numbers;
    numbers.aux0 = repeatTime;
    numbers.aux1 = static_cast<uint32_t>(bytes + bytes / 4);
    numbers.aux2 = kFractal;
    numbers.repeat = repeatTime;
    if (!AdmitRanges(core, ascendsim::kOp_load_cbuf_to_cb_sp, ascendsim::kI8, site, ranges, 3, numbers)) {
        return;
    }
    std::memcpy(to, from, bytes);
    // The index has a memory of its own beside L0B, a quarter of its size.
    core.cube.sparse.resize(core.l0b_size / 4);
    std::memcpy(core.cube.sparse.data() + (to - core.l0b) / 4, index, bytes / 4);
}
