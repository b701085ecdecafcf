// Instruction floor: vector-core instructions of NPU architecture 2201 under the names and argument
// lists by which the toolkit's device library calls them. Every call validates its operands, computes
// on host memory and appends one record to the running core's trace.
//
// Strides of vector instructions are in blocks of 32 bytes. Only 16, 32 and 64-bit lanes exist: a
// repeat covers 256 bytes of the widest operand.
#ifndef ASCENDSIM_ISA_H
#define ASCENDSIM_ISA_H

#include "ascendsim/core.h"
#include "ascendsim/isa_cube.h"
#include "ascendsim/isa_registers.h"
#include "ascendsim/isa_types.h"
#include "ascendsim/types.h"

// ---- data movement -------------------------------------------------------------------------------
// lenBurst and the strides of the plain forms count blocks of 32 bytes; a stride is the gap between the end of
// one burst and the start of the next. In the align forms lenBurst is in bytes, GM gaps are in bytes, UB gaps in blocks,
// and the paddings count elements.
void copy_gm_to_ubuf(__ubuf__ void* dst, const __gm__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t srcStride, uint16_t dstStride);
void copy_ubuf_to_gm(__gm__ void* dst, const __ubuf__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t srcStride, uint16_t dstStride);
void copy_ubuf_to_ubuf(__ubuf__ void* dst, const __ubuf__ void* src, uint8_t sid, uint16_t nBurst,
                       uint16_t lenBurst, uint16_t srcStride, uint16_t dstStride);

#define ASCENDSIM_ISA(W)                                                                                      \
    void copy_gm_to_ubuf_align_##W(__ubuf__ void* dst, const __gm__ void* src, uint8_t sid, uint16_t nBurst,  \
                                   uint32_t lenBurst, uint8_t leftPaddingNum, uint8_t rightPaddingNum,        \
                                   uint32_t srcGap, uint32_t dstGap);                                         \
    void copy_ubuf_to_gm_align_##W(__gm__ void* dst, const __ubuf__ void* src, uint8_t sid, uint16_t nBurst,  \
                                   uint32_t lenBurst, uint8_t leftPaddingNum, uint8_t rightPaddingNum,        \
                                   uint32_t srcGap, uint32_t dstGap);
ASCENDSIM_ISA(b8)
ASCENDSIM_ISA(b16)
ASCENDSIM_ISA(b32)
#undef ASCENDSIM_ISA
/// Value that copy_gm_to_ubuf_align_* pads with (low bits of the element's width).
void set_mov_pad_val(uint64_t value);

// ---- two sources -----------------------------------------------------------------------------------
#define ASCENDSIM_ISA(name, D, S)                                                                            \
    void name(__ubuf__ D* dst, __ubuf__ S* src0, __ubuf__ S* src1, uint8_t repeat, uint8_t dstBlockStride,   \
              uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                     \
              uint8_t src0RepeatStride, uint8_t src1RepeatStride);
#define ASCENDSIM_ISA4(name)             \
    ASCENDSIM_ISA(name, half, half)      \
    ASCENDSIM_ISA(name, float, float)    \
    ASCENDSIM_ISA(name, int16_t, int16_t) \
    ASCENDSIM_ISA(name, int32_t, int32_t)
#define ASCENDSIM_ISA2(name)        \
    ASCENDSIM_ISA(name, half, half) \
    ASCENDSIM_ISA(name, float, float)
ASCENDSIM_ISA4(vadd)
ASCENDSIM_ISA4(vsub)
ASCENDSIM_ISA4(vmul)
ASCENDSIM_ISA4(vmax)
ASCENDSIM_ISA4(vmin)
ASCENDSIM_ISA2(vdiv)
ASCENDSIM_ISA(vand, int16_t, int16_t)
ASCENDSIM_ISA(vand, uint16_t, uint16_t)
ASCENDSIM_ISA(vor, int16_t, int16_t)
ASCENDSIM_ISA(vor, uint16_t, uint16_t)
// dst = src0 * dst + src1, with and without ReLU; dst = src0 * src1 + dst.
ASCENDSIM_ISA2(vmadd)
ASCENDSIM_ISA2(vmaddrelu)
ASCENDSIM_ISA2(vmla)
ASCENDSIM_ISA(vmla, float, half)
ASCENDSIM_ISA2(vaddrelu)
ASCENDSIM_ISA(vaddrelu, int16_t, int16_t)
ASCENDSIM_ISA2(vsubrelu)
ASCENDSIM_ISA(vsubrelu, int16_t, int16_t)
ASCENDSIM_ISA(vmulconv_f162s8, int8_t, half)
ASCENDSIM_ISA(vmulconv_f162u8, uint8_t, half)
ASCENDSIM_ISA(vaddreluconv_f162s8, int8_t, half)
ASCENDSIM_ISA(vaddreluconv_f322f16, half, float)
ASCENDSIM_ISA(vaddreluconv_s162s8, int8_t, int16_t)
ASCENDSIM_ISA(vsubreluconv_f162s8, int8_t, half)
ASCENDSIM_ISA(vsubreluconv_f322f16, half, float)
ASCENDSIM_ISA(vsubreluconv_s162s8, int8_t, int16_t)
// Sum, ReLU, then as vconv_vdeqs162b8l (or h).
void vaddreluconv_vdeqs162b8(__ubuf__ int8_t* dst, __ubuf__ int16_t* src0, __ubuf__ int16_t* src1, uint8_t repeat,
                             uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,
                             uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride, bool h);
void vaddreluconv_vdeqs162b8(__ubuf__ uint8_t* dst, __ubuf__ int16_t* src0, __ubuf__ int16_t* src1, uint8_t repeat,
                             uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,
                             uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride, bool h);
// Compare to memory: one result bit per lane, packed.
#define ASCENDSIM_ISA_CMPV(rel)              \
    ASCENDSIM_ISA(vcmpv_##rel, uint8_t, half) \
    ASCENDSIM_ISA(vcmpv_##rel, uint8_t, float)
ASCENDSIM_ISA_CMPV(eq)
ASCENDSIM_ISA_CMPV(ne)
ASCENDSIM_ISA_CMPV(lt)
ASCENDSIM_ISA_CMPV(le)
ASCENDSIM_ISA_CMPV(gt)
ASCENDSIM_ISA_CMPV(ge)
ASCENDSIM_ISA(vcmpv_eq, uint8_t, int32_t)
#undef ASCENDSIM_ISA_CMPV
#undef ASCENDSIM_ISA4
#undef ASCENDSIM_ISA2
#undef ASCENDSIM_ISA

// Compare to the CMPMASK register (one repeat).
#define ASCENDSIM_ISA(rel, T)                                                                              \
    void vcmp_##rel(__ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t dstBlockStride,            \
                    uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,             \
                    uint8_t src0RepeatStride, uint8_t src1RepeatStride);                                   \
    void vcmpvs_##rel(__ubuf__ uint8_t* dst, __ubuf__ T* src, T value, uint8_t repeat,                     \
                      uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride,          \
                      uint16_t srcRepeatStride);
ASCENDSIM_ISA(eq, half)
ASCENDSIM_ISA(ne, half)
ASCENDSIM_ISA(lt, half)
ASCENDSIM_ISA(le, half)
ASCENDSIM_ISA(gt, half)
ASCENDSIM_ISA(ge, half)
ASCENDSIM_ISA(eq, float)
ASCENDSIM_ISA(ne, float)
ASCENDSIM_ISA(lt, float)
ASCENDSIM_ISA(le, float)
ASCENDSIM_ISA(gt, float)
ASCENDSIM_ISA(ge, float)
#undef ASCENDSIM_ISA
void vcmpvs_eq(__ubuf__ uint8_t* dst, __ubuf__ int32_t* src, int32_t value, uint8_t repeat, uint16_t dstBlockStride,
               uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride);
void set_cmpmask(__ubuf__ void* src);
void get_cmpmask(__ubuf__ void* dst);

// Selection bit 1 takes src0. Without a mode the bits come from CMPMASK and are reused by every repeat. Mode 2 reads
// consecutive bits from the address held in CMPMASK's low word (a UB byte offset, or a host address in its
// low 64 bits); mode 1 reads the bits at `sel` and takes the scalar in CMPMASK for the other operand.
#define ASCENDSIM_ISA(T)                                                                                       \
    void vsel(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ T* src1, uint8_t repeat, uint8_t dstBlockStride,     \
              uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride,                       \
              uint8_t src0RepeatStride, uint8_t src1RepeatStride);                                             \
    void vsel(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ void* src1OrSel, uint8_t repeat,                     \
              uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride,                        \
              uint8_t dstRepeatStride, uint8_t src0RepeatStride, uint8_t src1RepeatStride, uint8_t mode);
ASCENDSIM_ISA(half)
ASCENDSIM_ISA(float)
#undef ASCENDSIM_ISA

// ---- one source ------------------------------------------------------------------------------------
#define ASCENDSIM_ISA(name, D, S)                                                                             \
    void name(__ubuf__ D* dst, __ubuf__ S* src, uint8_t repeat, uint16_t dstBlockStride,                      \
              uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride);
#define ASCENDSIM_ISA2(name)        \
    ASCENDSIM_ISA(name, half, half) \
    ASCENDSIM_ISA(name, float, float)
ASCENDSIM_ISA2(vabs)
ASCENDSIM_ISA2(vrelu)
ASCENDSIM_ISA(vrelu, int32_t, int32_t)
ASCENDSIM_ISA2(vexp)
ASCENDSIM_ISA2(vln)
ASCENDSIM_ISA2(vsqrt)
ASCENDSIM_ISA2(vrsqrt)
ASCENDSIM_ISA2(vrec)
ASCENDSIM_ISA(vnot, int16_t, int16_t)
ASCENDSIM_ISA(vnot, uint16_t, uint16_t)
ASCENDSIM_ISA(vcopy, int16_t, int16_t)
ASCENDSIM_ISA(vcopy, uint16_t, uint16_t)
ASCENDSIM_ISA(vcopy, int32_t, int32_t)
ASCENDSIM_ISA(vcopy, uint32_t, uint32_t)

// Conversions. Rounding suffix: r to nearest even, a to nearest away, f floor, c ceiling, z towards zero, o to odd.
#define ASCENDSIM_ISA5(name, D, S)  \
    ASCENDSIM_ISA(name##r, D, S)    \
    ASCENDSIM_ISA(name##a, D, S)    \
    ASCENDSIM_ISA(name##f, D, S)    \
    ASCENDSIM_ISA(name##c, D, S)    \
    ASCENDSIM_ISA(name##z, D, S)
ASCENDSIM_ISA(vconv_f162f32, float, half)
ASCENDSIM_ISA(vconv_bf162f32, float, bfloat16_t)
ASCENDSIM_ISA5(vconv_bf162s32, int32_t, bfloat16_t)
ASCENDSIM_ISA5(vconv_f162s16, int16_t, half)
ASCENDSIM_ISA5(vconv_f162s32, int32_t, half)
ASCENDSIM_ISA(vconv_f162s8, int8_t, half)
ASCENDSIM_ISA5(vconv_f162s8, int8_t, half)
ASCENDSIM_ISA(vconv_f162u8, uint8_t, half)
ASCENDSIM_ISA5(vconv_f162u8, uint8_t, half)
ASCENDSIM_ISA5(vconv_f322bf16, bfloat16_t, float)
ASCENDSIM_ISA(vconv_f322f16, half, float)
ASCENDSIM_ISA5(vconv_f322f16, half, float)
ASCENDSIM_ISA(vconv_f322f16o, half, float)
ASCENDSIM_ISA5(vconv_f322f32, float, float)
ASCENDSIM_ISA5(vconv_f322s16, int16_t, float)
ASCENDSIM_ISA5(vconv_f322s32, int32_t, float)
ASCENDSIM_ISA5(vconv_f322s64, int64_t, float)
ASCENDSIM_ISA(vconv_s162f16, half, int16_t)
ASCENDSIM_ISA5(vconv_s162f16, half, int16_t)
ASCENDSIM_ISA(vconv_s162f32, float, int16_t)
ASCENDSIM_ISA(vconv_s322f32, float, int32_t)
ASCENDSIM_ISA5(vconv_s322f32, float, int32_t)
ASCENDSIM_ISA(vconv_s322s16, int16_t, int32_t)
ASCENDSIM_ISA(vconv_s322s64, int64_t, int32_t)
ASCENDSIM_ISA5(vconv_s642f32, float, int64_t)
ASCENDSIM_ISA(vconv_s642s32, int32_t, int64_t)
ASCENDSIM_ISA(vconv_s82f16, half, int8_t)
ASCENDSIM_ISA(vconv_u82f16, half, uint8_t)
// int32 to half, multiplied by the scale of set_deqscale.
ASCENDSIM_ISA(vconv_deq, half, int32_t)
// Four-bit integers, two in a byte, the lower lane in the lower half.
ASCENDSIM_ISA(vconv_s42f16, half, void)
ASCENDSIM_ISA(vconv_f162s4, void, half)
ASCENDSIM_ISA5(vconv_f162s4, void, half)
// int16 to eight bits, scaled and shifted as set_deqscale says, into the lower (l) or upper (h) half of every block; the vdeq
// forms have a table of one factor for each of sixteen lanes.
#define ASCENDSIM_ISA_DEQ(name)              \
    ASCENDSIM_ISA(name, int8_t, int16_t)     \
    ASCENDSIM_ISA(name, uint8_t, int16_t)
ASCENDSIM_ISA_DEQ(vconv_deqs162b8l)
ASCENDSIM_ISA_DEQ(vconv_deqs162b8h)
ASCENDSIM_ISA_DEQ(vconv_vdeqs162b8l)
ASCENDSIM_ISA_DEQ(vconv_vdeqs162b8h)
#undef ASCENDSIM_ISA_DEQ
ASCENDSIM_ISA(vabs, int16_t, int16_t)
#undef ASCENDSIM_ISA5
#undef ASCENDSIM_ISA2
#undef ASCENDSIM_ISA
void set_deqscale(half scale);

// ---- one source and a scalar -------------------------------------------------------------------------
#define ASCENDSIM_ISA(name, D, S, V)                                                                         \
    void name(__ubuf__ D* dst, __ubuf__ S* src, V value, uint8_t repeat, uint16_t dstBlockStride,            \
              uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride);
#define ASCENDSIM_ISA4(name)                       \
    ASCENDSIM_ISA(name, half, half, half)          \
    ASCENDSIM_ISA(name, float, float, float)       \
    ASCENDSIM_ISA(name, int16_t, int16_t, int16_t) \
    ASCENDSIM_ISA(name, int32_t, int32_t, int32_t)
ASCENDSIM_ISA4(vadds)
ASCENDSIM_ISA4(vmuls)
ASCENDSIM_ISA4(vmaxs)
ASCENDSIM_ISA4(vmins)
ASCENDSIM_ISA(vlrelu, half, half, half)
ASCENDSIM_ISA(vlrelu, float, float, float)
// dst = src * value + dst
ASCENDSIM_ISA(vaxpy, half, half, half)
ASCENDSIM_ISA(vaxpy, float, float, float)
ASCENDSIM_ISA(vaxpy, float, half, half)
ASCENDSIM_ISA(vshl, int16_t, int16_t, uint32_t)
ASCENDSIM_ISA(vshl, uint16_t, uint16_t, uint32_t)
ASCENDSIM_ISA(vshl, int32_t, int32_t, uint32_t)
ASCENDSIM_ISA(vshl, uint32_t, uint32_t, uint32_t)
#undef ASCENDSIM_ISA4
#undef ASCENDSIM_ISA
#define ASCENDSIM_ISA(T, V)                                                                             \
    void vshr(__ubuf__ T* dst, __ubuf__ T* src, V distance, uint8_t repeat, uint16_t dstBlockStride,    \
              uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride, bool round);
ASCENDSIM_ISA(int16_t, int32_t)
ASCENDSIM_ISA(int32_t, int32_t)
ASCENDSIM_ISA(uint16_t, uint32_t)
ASCENDSIM_ISA(uint32_t, uint32_t)
#undef ASCENDSIM_ISA

// ---- filling and rearranging --------------------------------------------------------------------------
#define ASCENDSIM_ISA(T)                                                                                  \
    void vector_dup(__ubuf__ T* dst, T value, uint8_t repeat, uint16_t dstBlockStride,                    \
                    uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride);
ASCENDSIM_ISA(half)
ASCENDSIM_ISA(bfloat16_t)
ASCENDSIM_ISA(float)
ASCENDSIM_ISA(int16_t)
ASCENDSIM_ISA(uint16_t)
ASCENDSIM_ISA(int32_t)
ASCENDSIM_ISA(uint32_t)
#undef ASCENDSIM_ISA
// Eight elements per repeat, each spread over one block.
void vbrcb(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src, uint16_t dstBlockStride, uint16_t dstRepeatStride, uint8_t repeat);
void vbrcb(__ubuf__ uint32_t* dst, __ubuf__ uint32_t* src, uint16_t dstBlockStride, uint16_t dstRepeatStride, uint8_t repeat);
// Gathers elements (vgather) or blocks (vgatherb) at byte offsets from the UB address `base`.
void vgather(__ubuf__ uint16_t* dst, __ubuf__ uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t repeat);
void vgather(__ubuf__ uint32_t* dst, __ubuf__ uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t repeat);
void vgatherb(__ubuf__ uint16_t* dst, __ubuf__ uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride,
              uint8_t dstBlockStride, uint8_t repeat);
void vgatherb(__ubuf__ uint32_t* dst, __ubuf__ uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride,
              uint8_t dstBlockStride, uint8_t repeat);
// Packs the elements of src0 selected by a fixed pattern (1..7) or, pattern 0, by the bits at src1.
void vreducev2(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src0, __ubuf__ uint16_t* src1, uint16_t repeat,
               uint8_t src0BlockStride, uint8_t patternMode, uint16_t src0RepeatStride, uint8_t src1RepeatStride);
void vreducev2(__ubuf__ uint32_t* dst, __ubuf__ uint32_t* src0, __ubuf__ uint32_t* src1, uint16_t repeat,
               uint8_t src0BlockStride, uint8_t patternMode, uint16_t src0RepeatStride, uint8_t src1RepeatStride);
/// Elements that the last vreducev2 kept.
int64_t get_rsvd_cnt();
// 16x16 transposition of 16-bit elements.
void vtranspose(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src);
void vtranspose(__ubuf__ int16_t* dst, __ubuf__ int16_t* src);
// Transposition through address registers: a VA register pair holds sixteen block addresses.
void set_va_reg_sb(ub_addr8_t addr, uint64_t* addresses);
void vld_va_reg(ub_addr8_t dst, __ubuf__ uint64_t* src, vpart_t part);
void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride);
void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride);
void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstStride, uint16_t srcStride,
                          bool dstHighHalf, bool srcHighHalf);

// Swaps channels and pixels of an image of `imageSize` pixels and `nChannel` channels: mode 0 channel-first to channel-last.
void v4dtrans(__ubuf__ uint8_t* dst, __ubuf__ uint8_t* src, uint16_t imageSize, uint16_t nChannel, bool mode);
void v4dtrans(__ubuf__ uint16_t* dst, __ubuf__ uint16_t* src, uint16_t imageSize, uint16_t nChannel, bool mode);
void v4dtrans(__ubuf__ uint32_t* dst, __ubuf__ uint32_t* src, uint16_t imageSize, uint16_t nChannel, bool mode);

// ---- reductions -----------------------------------------------------------------------------------------
// The destination's repeat stride counts results: elements for vcadd, vcmax, vcmin (pairs where an index is
// returned too), blocks of eight results for vcg*, of a repeat's 128 bytes for vcpadd.
#define ASCENDSIM_ISA(T)                                                                                          \
    void vcadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                        \
               uint16_t srcBlockStride, uint16_t srcRepeatStride, bool mode);                                     \
    void vcmax(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                        \
               uint16_t srcBlockStride, uint16_t srcRepeatStride, Order_t order);                                 \
    void vcmin(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                        \
               uint16_t srcBlockStride, uint16_t srcRepeatStride, Order_t order);                                 \
    void vcgadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                       \
                uint16_t srcBlockStride, uint16_t srcRepeatStride);                                               \
    void vcgmax(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                       \
                uint16_t srcBlockStride, uint16_t srcRepeatStride);                                               \
    void vcgmin(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                       \
                uint16_t srcBlockStride, uint16_t srcRepeatStride);                                               \
    void vcpadd(__ubuf__ T* dst, __ubuf__ T* src, uint8_t repeat, uint16_t dstRepeatStride,                       \
                uint16_t srcBlockStride, uint16_t srcRepeatStride);
ASCENDSIM_ISA(half)
ASCENDSIM_ISA(float)
#undef ASCENDSIM_ISA
/// Bits of the sum of a vcadd with mode 1 (accumulate over all repeats into the register).
int64_t get_acc_val();
/// Value (low 32 bits) and index (high 32 bits) of the extreme that vcmax or vcmin with mode ONLY_VALUE and 0 stride found last.
int64_t get_max_min_cnt();

// ---- sorting ----------------------------------------------------------------------------------------------
// Sorts 32 elements per repeat, descending, stable, into 8-byte records of value and index.
void vbitsort(__ubuf__ half* dst, __ubuf__ half* src, __ubuf__ uint32_t* index, uint8_t repeat);
void vbitsort(__ubuf__ float* dst, __ubuf__ float* src, __ubuf__ uint32_t* index, uint8_t repeat);
// Merges up to four descending lists of 8-byte records. `lengths` holds four 16-bit list lengths; `config` holds repeat in
// bits 0..7, the valid lists in bits 8..11 and stop-when-one-is-empty in bit 12.
void vmrgsort4(__ubuf__ half* dst, __ubuf__ half* src[4], uint64_t lengths, uint64_t config);
void vmrgsort4(__ubuf__ float* dst, __ubuf__ float* src[4], uint64_t lengths, uint64_t config);
/// Consumed records per list of the last vmrgsort4, 16 bits each.
int64_t get_vms4_sr();

// ---- masks, modes, registers --------------------------------------------------------------------------------
void set_mask_count();
void set_mask_norm();
/// Lane mask: bits of lanes 64.. in `high`, 0..63 in `low`. In counter mode `low` is the element count.
void set_vector_mask(uint64_t high, uint64_t low);
void set_ctrl(uint64_t config);
int64_t get_ctrl();
void set_atomic_none();
void set_atomic_add();
void set_atomic_max();
void set_atomic_min();
void set_atomic_f32();
void set_atomic_f16();
void set_atomic_bf16();
void set_atomic_s32();
void set_atomic_s16();
void set_atomic_s8();
/// Bits 0..2: type (1 f32, 2 f16, 3 s16, 4 s32, 5 s8, 6 bf16), bits 3..4: operation (0 add).
void set_st_atomic_cfg(uint64_t config);
int64_t get_st_atomic_cfg();

// ---- synchronisation -------------------------------------------------------------------------------------------
void set_flag(pipe_t src, pipe_t dst, event_t id);
void wait_flag(pipe_t src, pipe_t dst, event_t id);
// Loop variables serve as event ids too.
inline __attribute__((always_inline)) void set_flag(pipe_t src, pipe_t dst, int id) { set_flag(src, dst, static_cast<event_t>(id)); }
inline __attribute__((always_inline)) void wait_flag(pipe_t src, pipe_t dst, int id) { wait_flag(src, dst, static_cast<event_t>(id)); }
void pipe_barrier(pipe_t pipe);
void dsb(mem_dsb_t kind);
/// `config` as the toolkit packs it: 1 in bit 0, mode in bits 4..5, flag id in bits 8..11.
void ffts_cross_core_sync(pipe_t pipe, uint64_t config);
void wait_flag_dev(int64_t flagId);
void set_ffts_base_addr(uint64_t config);
int64_t get_ffts_base_addr();

// ---- caches and device memory past the caches -----------------------------------------------------------------------
void dcci(__gm__ void* dst, cache_line_t kind);
void dcci(__gm__ void* dst, cache_line_t kind, dcci_dst_t where);
void dc_preload(__gm__ uint64_t* address, int64_t offset);
#define ASCENDSIM_ISA(T)                                 \
    void st_dev(T value, __gm__ T* dst, int16_t offset); \
    T ld_dev(__gm__ T* src, int16_t offset);
ASCENDSIM_ISA(uint8_t)
ASCENDSIM_ISA(uint16_t)
ASCENDSIM_ISA(uint32_t)
ASCENDSIM_ISA(uint64_t)
#undef ASCENDSIM_ISA

// ---- system variables and scalar bit operations ------------------------------------------------------------------------
int64_t get_block_idx();
int64_t get_block_num();
int64_t get_subblockid();
int64_t get_subblockdim();
int64_t get_coreid();
int64_t get_arch_ver();
/// Counter of 50 MHz; the simulator cannot know the time, so it counts recorded instructions.
int64_t get_sys_cnt();
int64_t get_status();
uint64_t get_overflow_status();
[[noreturn]] void trap();
int64_t clz(uint64_t value);
int64_t sff0(uint64_t value);
int64_t sff1(uint64_t value);
int64_t bcnt0(uint64_t value);
int64_t bcnt1(uint64_t value);
int64_t sflbits(int64_t value);
uint64_t sbitset0(uint64_t value, int64_t bit);
uint64_t sbitset1(uint64_t value, int64_t bit);

#include "ascendsim/isa_forms.h"

#endif
