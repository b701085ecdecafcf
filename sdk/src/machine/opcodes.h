// The table of instructions: position is the opcode number, name is how the trace spells it.
//
// Everything that is the same for all users of an instruction is said here once: its unit, its form (operands, counts and
// rules, see isa/forms.h), the element types and what it does. Recording and checking read it, and docs/isa.md is printed from it.
#ifndef ASCENDSIM_OPCODES_H
#define ASCENDSIM_OPCODES_H

#include <cstdint>

// X(name, unit, form, element types, meaning); `a>b` is a source and a result type.
// clang-format off
// Marks in the trace.
#define ASCENDSIM_TABLE_MARKS_IN_THE_TRACE(X) \
    X(scalar, S, Mark, "", "scalar work between two instructions: accesses and operations") \
    X(set_flag, Given, Flag, "", "signals an event from one unit to another") \
    X(wait_flag, Given, Flag, "", "waits for an event") \
    X(pipe_barrier, Given, Flag, "", "a unit (or all of them) finishes what it has") \
    X(set_mask, V, Register, "", "lane mask or mask mode") \
    X(set_ctrl, V, Register, "", "control register") \
    X(sync_all, None, Mark, "", "all cores of the launch wait for each other") \
    X(set_cross_flag, Given, Flag, "", "raises a flag for other cores") \
    X(wait_cross_flag, None, Flag, "", "waits for a flag of other cores") \
    X(fault, None, Mark, "", "what the kernel did wrong") \
    X(note, None, Mark, "", "a text") \
    X(buffer, None, Mark, "", "a buffer of a queue is made, handed out or given back") \
    X(end_of_block, None, Mark, "", "the core is done") \
    X(dcci, S, Register, "", "writes a cache line back and forgets it") \
    X(dsb, S, Register, "", "waits for outstanding memory accesses")
// Between global memory and the Unified Buffer.
#define ASCENDSIM_TABLE_BETWEEN_GLOBAL_MEMORY_AND_THE_UNIFIED_BUFFER(X) \
    X(copy_gm_to_ubuf, Mte2, GmToUb, "any", "bursts of blocks in") \
    X(copy_ubuf_to_gm, Mte3, UbToGm, "any", "bursts of blocks out; adds or takes the extreme in memory where the atomic registers say so") \
    X(copy_ubuf_to_ubuf, V, UbToUb, "any", "bursts of blocks within the buffer") \
    X(copy_gm_to_ubuf_align_b8, Mte2, GmToUbAligned, "u8", "bursts of bytes in, padded to whole blocks") \
    X(copy_gm_to_ubuf_align_b16, Mte2, GmToUbAligned, "u16", "bursts of bytes in, padded to whole blocks") \
    X(copy_gm_to_ubuf_align_b32, Mte2, GmToUbAligned, "u32", "bursts of bytes in, padded to whole blocks") \
    X(copy_ubuf_to_gm_align_b8, Mte3, UbToGmAligned, "u8", "bursts of bytes out, atomically where the registers say so") \
    X(copy_ubuf_to_gm_align_b16, Mte3, UbToGmAligned, "u16", "bursts of bytes out, atomically where the registers say so") \
    X(copy_ubuf_to_gm_align_b32, Mte3, UbToGmAligned, "u32", "bursts of bytes out, atomically where the registers say so")
// Two sources.
#define ASCENDSIM_TABLE_TWO_SOURCES(X) \
    X(vadd, V, Binary, "f16 f32 s16 s32", "sum; s16 saturates, s32 wraps") \
    X(vsub, V, Binary, "f16 f32 s16 s32", "difference; s16 saturates, s32 wraps") \
    X(vmul, V, Binary, "f16 f32 s16 s32", "product; s16 saturates, s32 wraps") \
    X(vdiv, V, Binary, "f16 f32", "quotient") \
    X(vmax, V, Binary, "f16 f32 s16 s32", "greater one") \
    X(vmin, V, Binary, "f16 f32 s16 s32", "smaller one") \
    X(vand, V, Binary, "s16 u16", "bits of both") \
    X(vor, V, Binary, "s16 u16", "bits of either") \
    X(vmadd, V, BinaryAccumulate, "f16 f32", "src0 * dst + src1") \
    X(vmaddrelu, V, BinaryAccumulate, "f16 f32", "src0 * dst + src1, negative results become zero") \
    X(vmla, V, BinaryAccumulate, "f16 f32 f16>f32", "src0 * src1 + dst") \
    X(vaddrelu, V, Binary, "f16 f32 s16", "sum, negative results become zero") \
    X(vsubrelu, V, Binary, "f16 f32 s16", "difference, negative results become zero") \
    X(vmulconv_f162s8, V, Binary, "f16>s8", "product as an integer") \
    X(vmulconv_f162u8, V, Binary, "f16>u8", "product as an integer") \
    X(vaddreluconv_f162s8, V, Binary, "f16>s8", "sum, ReLU, as an integer") \
    X(vaddreluconv_f322f16, V, Binary, "f32>f16", "sum, ReLU, narrowed") \
    X(vaddreluconv_s162s8, V, Binary, "s16>s8", "sum, ReLU, saturated") \
    X(vsubreluconv_f162s8, V, Binary, "f16>s8", "difference, ReLU, as an integer") \
    X(vsubreluconv_f322f16, V, Binary, "f32>f16", "difference, ReLU, narrowed") \
    X(vsubreluconv_s162s8, V, Binary, "s16>s8", "difference, ReLU, saturated") \
    X(vaddreluconv_vdeqs162b8, V, HalfBlocks2, "s16>s8 s16>u8", "sum, ReLU, then as vconv_vdeqs162b8l or h")
// Comparison and selection.
#define ASCENDSIM_TABLE_COMPARISON_AND_SELECTION(X) \
    X(vcmp_eq, V, CompareMask, "f16 f32", "lanes into CMPMASK: equal") \
    X(vcmp_ne, V, CompareMask, "f16 f32", "lanes into CMPMASK: not equal") \
    X(vcmp_lt, V, CompareMask, "f16 f32", "lanes into CMPMASK: src0 less than src1") \
    X(vcmp_le, V, CompareMask, "f16 f32", "lanes into CMPMASK: src0 at most src1") \
    X(vcmp_gt, V, CompareMask, "f16 f32", "lanes into CMPMASK: src0 greater than src1") \
    X(vcmp_ge, V, CompareMask, "f16 f32", "lanes into CMPMASK: src0 at least src1") \
    X(vcmpv_eq, V, Compare, "f16 f32 s32", "one bit a lane, packed: equal") \
    X(vcmpv_ne, V, Compare, "f16 f32", "one bit a lane, packed: not equal") \
    X(vcmpv_lt, V, Compare, "f16 f32", "one bit a lane, packed: src0 less than src1") \
    X(vcmpv_le, V, Compare, "f16 f32", "one bit a lane, packed: src0 at most src1") \
    X(vcmpv_gt, V, Compare, "f16 f32", "one bit a lane, packed: src0 greater than src1") \
    X(vcmpv_ge, V, Compare, "f16 f32", "one bit a lane, packed: src0 at least src1") \
    X(vcmpvs_eq, V, CompareScalar, "f16 f32 s32", "one bit a lane, packed, against a scalar: equal") \
    X(vcmpvs_ne, V, CompareScalar, "f16 f32", "one bit a lane, packed, against a scalar: not equal") \
    X(vcmpvs_lt, V, CompareScalar, "f16 f32", "one bit a lane, packed, against a scalar: src less than value") \
    X(vcmpvs_le, V, CompareScalar, "f16 f32", "one bit a lane, packed, against a scalar: src at most value") \
    X(vcmpvs_gt, V, CompareScalar, "f16 f32", "one bit a lane, packed, against a scalar: src greater than value") \
    X(vcmpvs_ge, V, CompareScalar, "f16 f32", "one bit a lane, packed, against a scalar: src at least value") \
    X(set_cmpmask, V, MaskLoad, "b8", "loads CMPMASK: 16 bytes") \
    X(get_cmpmask, V, MaskStore, "b8", "stores CMPMASK: 16 bytes") \
    X(vsel, V, Select, "f16 f32", "src0 where the bit is set, otherwise src1 or a scalar")
// One source.
#define ASCENDSIM_TABLE_ONE_SOURCE(X) \
    X(vabs, V, Unary, "f16 f32 s16", "magnitude") \
    X(vrelu, V, Unary, "f16 f32 s32", "negative lanes become zero") \
    X(vexp, V, Unary, "f16 f32", "e to the power") \
    X(vln, V, Unary, "f16 f32", "natural logarithm") \
    X(vsqrt, V, Unary, "f16 f32", "square root") \
    X(vrsqrt, V, Unary, "f16 f32", "estimate of one over the square root") \
    X(vrec, V, Unary, "f16 f32", "estimate of the reciprocal") \
    X(vnot, V, Unary, "s16 u16", "all bits turned") \
    X(vcopy, V, Unary, "s16 u16 s32 u32", "the same bits; in counter mode the mask counts the elements of each repeat")
// One source and a scalar.
#define ASCENDSIM_TABLE_ONE_SOURCE_AND_A_SCALAR(X) \
    X(vadds, V, Scalar, "f16 f32 s16 s32", "sum with the scalar") \
    X(vmuls, V, Scalar, "f16 f32 s16 s32", "product with the scalar") \
    X(vmaxs, V, Scalar, "f16 f32 s16 s32", "greater of lane and scalar") \
    X(vmins, V, Scalar, "f16 f32 s16 s32", "smaller of lane and scalar") \
    X(vlrelu, V, Scalar, "f16 f32", "negative lanes times the scalar") \
    X(vaxpy, V, ScalarAccumulate, "f16 f32 f16>f32", "src * scalar + dst") \
    X(vshl, V, Scalar, "s16 u16 s32 u32", "shifted left") \
    X(vshr, V, Scalar, "s16 u16 s32 u32", "shifted right, rounded where asked for")
// Conversions.
#define ASCENDSIM_TABLE_CONVERSIONS(X) \
    X(vconv_f162f32, V, Unary, "f16>f32", "widened") \
    X(vconv_bf162f32, V, Unary, "bf16>f32", "widened") \
    X(vconv_bf162s32r, V, Unary, "bf16>s32", "as an integer, rounded to nearest, ties to even") \
    X(vconv_bf162s32a, V, Unary, "bf16>s32", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_bf162s32f, V, Unary, "bf16>s32", "as an integer, rounded down") \
    X(vconv_bf162s32c, V, Unary, "bf16>s32", "as an integer, rounded up") \
    X(vconv_bf162s32z, V, Unary, "bf16>s32", "as an integer, rounded towards zero") \
    X(vconv_f162s16r, V, Unary, "f16>s16", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f162s16a, V, Unary, "f16>s16", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f162s16f, V, Unary, "f16>s16", "as an integer, rounded down") \
    X(vconv_f162s16c, V, Unary, "f16>s16", "as an integer, rounded up") \
    X(vconv_f162s16z, V, Unary, "f16>s16", "as an integer, rounded towards zero") \
    X(vconv_f162s32r, V, Unary, "f16>s32", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f162s32a, V, Unary, "f16>s32", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f162s32f, V, Unary, "f16>s32", "as an integer, rounded down") \
    X(vconv_f162s32c, V, Unary, "f16>s32", "as an integer, rounded up") \
    X(vconv_f162s32z, V, Unary, "f16>s32", "as an integer, rounded towards zero") \
    X(vconv_f162s8, V, Unary, "f16>s8", "as an integer, to nearest even") \
    X(vconv_f162s8r, V, Unary, "f16>s8", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f162s8a, V, Unary, "f16>s8", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f162s8f, V, Unary, "f16>s8", "as an integer, rounded down") \
    X(vconv_f162s8c, V, Unary, "f16>s8", "as an integer, rounded up") \
    X(vconv_f162s8z, V, Unary, "f16>s8", "as an integer, rounded towards zero") \
    X(vconv_f162u8, V, Unary, "f16>u8", "as an integer, to nearest even") \
    X(vconv_f162u8r, V, Unary, "f16>u8", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f162u8a, V, Unary, "f16>u8", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f162u8f, V, Unary, "f16>u8", "as an integer, rounded down") \
    X(vconv_f162u8c, V, Unary, "f16>u8", "as an integer, rounded up") \
    X(vconv_f162u8z, V, Unary, "f16>u8", "as an integer, rounded towards zero") \
    X(vconv_f322bf16r, V, Unary, "f32>bf16", "narrowed, rounded to nearest, ties to even") \
    X(vconv_f322bf16a, V, Unary, "f32>bf16", "narrowed, rounded to nearest, ties away from zero") \
    X(vconv_f322bf16f, V, Unary, "f32>bf16", "narrowed, rounded down") \
    X(vconv_f322bf16c, V, Unary, "f32>bf16", "narrowed, rounded up") \
    X(vconv_f322bf16z, V, Unary, "f32>bf16", "narrowed, rounded towards zero") \
    X(vconv_f322f16, V, Unary, "f32>f16", "narrowed to nearest even") \
    X(vconv_f322f16r, V, Unary, "f32>f16", "narrowed, rounded to nearest, ties to even") \
    X(vconv_f322f16a, V, Unary, "f32>f16", "narrowed, rounded to nearest, ties away from zero") \
    X(vconv_f322f16f, V, Unary, "f32>f16", "narrowed, rounded down") \
    X(vconv_f322f16c, V, Unary, "f32>f16", "narrowed, rounded up") \
    X(vconv_f322f16z, V, Unary, "f32>f16", "narrowed, rounded towards zero") \
    X(vconv_f322f16o, V, Unary, "f32>f16", "narrowed to odd") \
    X(vconv_f322f32r, V, Unary, "f32", "to a whole number, rounded to nearest, ties to even") \
    X(vconv_f322f32a, V, Unary, "f32", "to a whole number, rounded to nearest, ties away from zero") \
    X(vconv_f322f32f, V, Unary, "f32", "to a whole number, rounded down") \
    X(vconv_f322f32c, V, Unary, "f32", "to a whole number, rounded up") \
    X(vconv_f322f32z, V, Unary, "f32", "to a whole number, rounded towards zero") \
    X(vconv_f322s16r, V, Unary, "f32>s16", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f322s16a, V, Unary, "f32>s16", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f322s16f, V, Unary, "f32>s16", "as an integer, rounded down") \
    X(vconv_f322s16c, V, Unary, "f32>s16", "as an integer, rounded up") \
    X(vconv_f322s16z, V, Unary, "f32>s16", "as an integer, rounded towards zero") \
    X(vconv_f322s32r, V, Unary, "f32>s32", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f322s32a, V, Unary, "f32>s32", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f322s32f, V, Unary, "f32>s32", "as an integer, rounded down") \
    X(vconv_f322s32c, V, Unary, "f32>s32", "as an integer, rounded up") \
    X(vconv_f322s32z, V, Unary, "f32>s32", "as an integer, rounded towards zero") \
    X(vconv_f322s64r, V, Unary, "f32>s64", "as an integer, rounded to nearest, ties to even") \
    X(vconv_f322s64a, V, Unary, "f32>s64", "as an integer, rounded to nearest, ties away from zero") \
    X(vconv_f322s64f, V, Unary, "f32>s64", "as an integer, rounded down") \
    X(vconv_f322s64c, V, Unary, "f32>s64", "as an integer, rounded up") \
    X(vconv_f322s64z, V, Unary, "f32>s64", "as an integer, rounded towards zero") \
    X(vconv_s162f16, V, Unary, "s16>f16", "as a float, to nearest even") \
    X(vconv_s162f16r, V, Unary, "s16>f16", "as a float, rounded to nearest, ties to even") \
    X(vconv_s162f16a, V, Unary, "s16>f16", "as a float, rounded to nearest, ties away from zero") \
    X(vconv_s162f16f, V, Unary, "s16>f16", "as a float, rounded down") \
    X(vconv_s162f16c, V, Unary, "s16>f16", "as a float, rounded up") \
    X(vconv_s162f16z, V, Unary, "s16>f16", "as a float, rounded towards zero") \
    X(vconv_s162f32, V, Unary, "s16>f32", "as a float") \
    X(vconv_s322f32, V, Unary, "s32>f32", "as a float, to nearest even") \
    X(vconv_s322f32r, V, Unary, "s32>f32", "as a float, rounded to nearest, ties to even") \
    X(vconv_s322f32a, V, Unary, "s32>f32", "as a float, rounded to nearest, ties away from zero") \
    X(vconv_s322f32f, V, Unary, "s32>f32", "as a float, rounded down") \
    X(vconv_s322f32c, V, Unary, "s32>f32", "as a float, rounded up") \
    X(vconv_s322f32z, V, Unary, "s32>f32", "as a float, rounded towards zero") \
    X(vconv_s322s16, V, Unary, "s32>s16", "saturated") \
    X(vconv_s322s64, V, Unary, "s32>s64", "widened") \
    X(vconv_s642f32r, V, Unary, "s64>f32", "as a float, rounded to nearest, ties to even") \
    X(vconv_s642f32a, V, Unary, "s64>f32", "as a float, rounded to nearest, ties away from zero") \
    X(vconv_s642f32f, V, Unary, "s64>f32", "as a float, rounded down") \
    X(vconv_s642f32c, V, Unary, "s64>f32", "as a float, rounded up") \
    X(vconv_s642f32z, V, Unary, "s64>f32", "as a float, rounded towards zero") \
    X(vconv_s642s32, V, Unary, "s64>s32", "saturated") \
    X(vconv_s82f16, V, Unary, "s8>f16", "as a float") \
    X(vconv_u82f16, V, Unary, "u8>f16", "as a float") \
    X(vconv_deq, V, Unary, "s32>f16", "times the scale of set_deqscale") \
    X(vconv_s42f16, V, Nibbles, "s4>f16", "as a float") \
    X(vconv_f162s4, V, Nibbles, "f16>s4", "as an integer of four bits, to nearest even") \
    X(vconv_f162s4r, V, Nibbles, "f16>s4", "as an integer of four bits, rounded to nearest, ties to even") \
    X(vconv_f162s4a, V, Nibbles, "f16>s4", "as an integer of four bits, rounded to nearest, ties away from zero") \
    X(vconv_f162s4f, V, Nibbles, "f16>s4", "as an integer of four bits, rounded down") \
    X(vconv_f162s4c, V, Nibbles, "f16>s4", "as an integer of four bits, rounded up") \
    X(vconv_f162s4z, V, Nibbles, "f16>s4", "as an integer of four bits, rounded towards zero") \
    X(vconv_deqs162b8l, V, HalfBlocks, "s16>s8 s16>u8", "times scale plus offset of set_deqscale, into the lower half of every block") \
    X(vconv_vdeqs162b8l, V, HalfBlocks, "s16>s8 s16>u8", "the same with a table of sixteen factors, lower half") \
    X(vconv_deqs162b8h, V, HalfBlocks, "s16>s8 s16>u8", "times scale plus offset of set_deqscale, into the upper half of every block") \
    X(vconv_vdeqs162b8h, V, HalfBlocks, "s16>s8 s16>u8", "the same with a table of sixteen factors, upper half")
// Filling and rearranging.
#define ASCENDSIM_TABLE_FILLING_AND_REARRANGING(X) \
    X(vector_dup, V, Fill, "f16 f32 bf16 s16 u16 s32 u32", "a scalar into all lanes") \
    X(vbrcb, V, Spread, "u16 u32", "eight elements a repeat, each over a block") \
    X(vgather, V, Gather, "u16 u32", "elements at byte offsets") \
    X(vgatherb, V, Gather, "u16 u32", "blocks at byte offsets") \
    X(vreducev2, V, Pack, "u16 u32", "packs the elements that a pattern or a bit mask selects") \
    X(vtranspose, V, Transpose, "s16 u16", "16 x 16 elements turned") \
    X(vld_va_reg, V, AddressLoad, "u64", "loads half of an address register") \
    X(scatter_vnchwconv_b8, V, AddressTranspose, "u8", "turns 32 x 16 bytes between sixteen blocks on each side") \
    X(scatter_vnchwconv_b16, V, AddressTranspose, "u16", "turns 16 x 16 elements") \
    X(scatter_vnchwconv_b32, V, AddressTranspose, "u32", "turns 8 x 16 elements") \
    X(v4dtrans, V, Exchange, "u8 u16 u32", "exchanges channels and pixels")
// Reductions.
#define ASCENDSIM_TABLE_REDUCTIONS(X) \
    X(vcadd, V, Reduce, "f16 f32", "sum of a repeat") \
    X(vcmax, V, Reduce, "f16 f32", "greatest of a repeat, with its index") \
    X(vcmin, V, Reduce, "f16 f32", "smallest of a repeat, with its index") \
    X(vcgadd, V, Reduce, "f16 f32", "sum of every block") \
    X(vcgmax, V, Reduce, "f16 f32", "greatest of every block") \
    X(vcgmin, V, Reduce, "f16 f32", "smallest of every block") \
    X(vcpadd, V, Reduce, "f16 f32", "sums of neighbours")
// Sorting.
#define ASCENDSIM_TABLE_SORTING(X) \
    X(vbitsort, V, Sort, "f16 f32", "32 elements with indices, descending") \
    X(vmrgsort4, V, Merge, "f16 f32", "merges up to four descending lists")
// Movements of the cube core.
#define ASCENDSIM_TABLE_MOVEMENTS_OF_THE_CUBE_CORE(X) \
    X(copy_gm_to_cbuf, Mte2, GmToL1, "any", "bursts of blocks in") \
    X(copy_cbuf_to_gm, Mte3, L1ToGm, "any", "bursts of blocks out") \
    X(copy_cbuf_to_ubuf, Mte1, L1ToUb, "any", "bursts of blocks (one core has both memories in some products only)") \
    X(copy_ubuf_to_cbuf, Mte3, UbToL1, "any", "the reverse") \
    X(copy_cbuf_to_bt, Mte1, L1ToBt, "f32 s32 f16>f32", "bias into the bias table") \
    X(copy_cbuf_to_fbuf, Fix, L1ToFb, "u64", "factors into the fixpipe buffer") \
    X(copy_gm_to_cbuf_multi_nd2nz_b8, Mte2, NdToNz, "s8 u8", "rows into columns of blocks, the last block filled with zeros") \
    X(copy_gm_to_cbuf_multi_nd2nz_b16, Mte2, NdToNz, "f16 bf16 s16 u16", "rows into columns of blocks, the last block filled with zeros") \
    X(copy_gm_to_cbuf_multi_nd2nz_b32s, Mte2, NdToNz, "f32 s32 u32", "rows into columns of blocks, the last block filled with zeros") \
    X(load_gm_to_cbuf, Mte2, GmFractalsL1, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "fractals in") \
    X(load_gm_to_ca, Mte2, GmFractalsL0a, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "fractals straight into L0A") \
    X(load_gm_to_cb, Mte2, GmFractalsL0b, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "fractals straight into L0B") \
    X(load_cbuf_to_ca, Mte1, FractalsL0a, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "fractals, turned where asked for (16-bit elements)") \
    X(load_cbuf_to_cb, Mte1, FractalsL0b, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "fractals, turned where asked for (16-bit elements)") \
    X(load_cbuf_to_ca_s4, Mte1, FractalsL0a, "s4", "fractals") \
    X(load_cbuf_to_cb_s4, Mte1, FractalsL0b, "s4", "fractals") \
    X(load_cbuf_to_ca_transpose, Mte1, SquaresL0a, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "squares of fractals, turned") \
    X(load_cbuf_to_cb_transpose, Mte1, SquaresL0b, "f16 bf16 f32 s8 u8 s16 u16 s32 u32", "squares of fractals, turned") \
    X(load_cbuf_to_cb_transpose_s4, Mte1, SquaresL0b, "s4", "squares of four fractals, turned") \
    X(load_cbuf_to_cb_sp, Mte1, SparseL0b, "s8", "dense weights with their index matrix") \
    X(img2colv2_cbuf_to_ca, Mte1, WindowsL0a, "f16 bf16 f32 s8 u8 s16 u16 s32 u32 s4", "windows sliding over a feature map, as rows") \
    X(img2colv2_cbuf_to_cb, Mte1, WindowsL0b, "f16 bf16 f32 s32 u32", "the same as the right matrix") \
    X(create_cbuf_matrix, Mte2, FillL1, "f16 bf16 s16 u16 f32 s32 u32", "one value into blocks") \
    X(create_ca_matrix, Mte1, FillL0a, "f16 bf16 s16 u16 f32 s32 u32", "one value into fractals") \
    X(create_cb_matrix, Mte1, FillL0b, "f16 bf16 s16 u16 f32 s32 u32", "one value into fractals") \
    X(copy_matrix_cbuf_to_cc, Mte1, L1ToL0c, "f32 s32", "blocks into accumulators")
// Matrix multiplication.
#define ASCENDSIM_TABLE_MATRIX_MULTIPLICATION(X) \
    X(mad, M, Mad, "f16*f16>f32 bf16*bf16>f32 f32*f32>f32 s8*s8>s32", "c = a * b + (zero, c or bias); float inputs are rounded to HF32 where CTRL bit 46 is set") \
    X(mad_s4, M, Mad, "s4*s4>s32", "the same for integers of four bits") \
    X(mad_sp, M, Mad, "s8*s8>s32", "b keeps two of every four rows and its index selects the columns of a")
// The fixpipe.
#define ASCENDSIM_TABLE_THE_FIXPIPE(X) \
    X(copy_matrix_cc_to_gm, Fix, L0cToGm, "f32 s32 f32>f16 f32>bf16 s32>f16 f32>s8 f32>u8 s32>s8 s32>u8", "accumulators out: scaled, activated, as fractals or rows, atomically where the registers say so; infinities and NaNs stay where CTRL bit 48 is set, as it is at first") \
    X(copy_matrix_cc_to_cbuf, Fix, L0cToL1, "f32 s32 f32>f16 f32>bf16 s32>f16 f32>s8 f32>u8 s32>s8 s32>u8", "accumulators back to L1 as fractals")
// clang-format on

#define ASCENDSIM_OPCODES(X) \
    ASCENDSIM_TABLE_MARKS_IN_THE_TRACE(X) \
    ASCENDSIM_TABLE_BETWEEN_GLOBAL_MEMORY_AND_THE_UNIFIED_BUFFER(X) \
    ASCENDSIM_TABLE_TWO_SOURCES(X) \
    ASCENDSIM_TABLE_COMPARISON_AND_SELECTION(X) \
    ASCENDSIM_TABLE_ONE_SOURCE(X) \
    ASCENDSIM_TABLE_ONE_SOURCE_AND_A_SCALAR(X) \
    ASCENDSIM_TABLE_CONVERSIONS(X) \
    ASCENDSIM_TABLE_FILLING_AND_REARRANGING(X) \
    ASCENDSIM_TABLE_REDUCTIONS(X) \
    ASCENDSIM_TABLE_SORTING(X) \
    ASCENDSIM_TABLE_MOVEMENTS_OF_THE_CUBE_CORE(X) \
    ASCENDSIM_TABLE_MATRIX_MULTIPLICATION(X) \
    ASCENDSIM_TABLE_THE_FIXPIPE(X)

/// The same by section: S(title, macro of its rows).
#define ASCENDSIM_SECTIONS(S) \
    S("Marks in the trace", ASCENDSIM_TABLE_MARKS_IN_THE_TRACE) \
    S("Between global memory and the Unified Buffer", ASCENDSIM_TABLE_BETWEEN_GLOBAL_MEMORY_AND_THE_UNIFIED_BUFFER) \
    S("Two sources", ASCENDSIM_TABLE_TWO_SOURCES) \
    S("Comparison and selection", ASCENDSIM_TABLE_COMPARISON_AND_SELECTION) \
    S("One source", ASCENDSIM_TABLE_ONE_SOURCE) \
    S("One source and a scalar", ASCENDSIM_TABLE_ONE_SOURCE_AND_A_SCALAR) \
    S("Conversions", ASCENDSIM_TABLE_CONVERSIONS) \
    S("Filling and rearranging", ASCENDSIM_TABLE_FILLING_AND_REARRANGING) \
    S("Reductions", ASCENDSIM_TABLE_REDUCTIONS) \
    S("Sorting", ASCENDSIM_TABLE_SORTING) \
    S("Movements of the cube core", ASCENDSIM_TABLE_MOVEMENTS_OF_THE_CUBE_CORE) \
    S("Matrix multiplication", ASCENDSIM_TABLE_MATRIX_MULTIPLICATION) \
    S("The fixpipe", ASCENDSIM_TABLE_THE_FIXPIPE)

namespace ascendsim {

enum Opcode : uint16_t {
#define ASCENDSIM_ENUM(name, unit, form, types, meaning) kOp_##name,
    ASCENDSIM_OPCODES(ASCENDSIM_ENUM)
#undef ASCENDSIM_ENUM
    kOpCount
};

/// Name of an opcode; "?" for a number out of range.
const char* OpcodeName(uint32_t opcode);

}  // namespace ascendsim

#endif
