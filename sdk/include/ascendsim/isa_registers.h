// Special registers, waits between cores' memories, cache control and scalar conversions of architecture 2201.
#ifndef ASCENDSIM_ISA_REGISTERS_H
#define ASCENDSIM_ISA_REGISTERS_H

#include "ascendsim/core.h"
#include "ascendsim/isa_types.h"

// ---- registers of the cube core --------------------------------------------------------------------------
/// Fixpipe addresses: bits 0..7 the PReLU factors (64-byte units of the fixpipe buffer), bits 8..15 the quantisation factors
/// (128-byte units), bit 63 the unit flag.
void set_fpc(uint64_t config);
int64_t get_fpc();
/// One factor for all columns: bits 0..31 the scale (binary32), 37..45 an offset, 46 the sign of the result.
void set_quant_pre(uint64_t config);
/// Bits 0..15 matrices, 16..31 stride of the source (units of 16 x 16 fractals), 32..47 of the destination (elements).
void set_nd_para(uint64_t config);
/// Bits 0..15 width, 16..31 height of the feature map, then 8 bits each left, right, top and bottom padding.
void set_fmatrix(uint64_t config);
void set_fmatrix_b(uint64_t config);
/// Value that 3D loads read outside the feature map.
void set_padding(uint64_t config);
inline void set_padding(half config) { set_padding(uint64_t{config.Bits()}); }
inline void set_padding(int16_t config) { set_padding(static_cast<uint64_t>(static_cast<uint16_t>(config))); }
inline void set_padding(uint16_t config) { set_padding(uint64_t{config}); }
inline void set_padding(uint8_t config) { set_padding(uint64_t{config}); }
inline void set_padding(int8_t config) { set_padding(static_cast<uint64_t>(static_cast<uint8_t>(config))); }
inline void set_padding(uint32_t config) { set_padding(uint64_t{config}); }
inline void set_padding(int32_t config) { set_padding(static_cast<uint64_t>(static_cast<uint32_t>(config))); }
inline void set_padding(float config) { set_padding(uint64_t{ascendsim::FloatBits(config)}); }
/// Repetition of 3D loads: bits 0..15 stride, 16..23 times, 24..31 mode.
void set_l3d_rpt(uint64_t config);
/// Size in bytes of the ring that 3D loads read around; 0 for none.
void set_l1_3d_size(uint64_t config);
void set_lrelu_alpha(half config);
void set_lrelu_alpha(float config);
/// Index matrix address that load_cbuf_to_cb_sp reads along with its source.
void SetIndexMatrix(void* index);

// ---- atomic store, dequantisation --------------------------------------------------------------------------
void set_st_atomic_cfg(atomic_type_t type, atomic_op_t op);
/// Factors of vconv_deqs162b8 (bits 0..31 scale, 37..45 offset, 46 signed) or the address of a table of sixteen such words
/// in units of 32 bytes (vconv_vdeqs162b8).
void set_deqscale(uint64_t config);

// ---- values kept for get_* and for later architectures -------------------------------------------------------
void set_condition_flag(uint64_t value);
int64_t get_condition_flag();
void set_lpcnt(uint64_t value);
int64_t get_lpcnt();
int64_t get_pc();
int64_t get_icache_prl_st();
int64_t get_data_main_base();
int64_t get_l2_in_main();
int64_t get_l2_vaddr_base();
int64_t get_para_base();
int64_t get_stack_phy_base();
int64_t get_thread_dim();
int64_t get_thread_id();
uint64_t fake_overflow_status_1();
void set_pcie_rd_ctrl(uint64_t value);
void set_pad_val_outtol1(uint64_t value);
void set_pad_val_outtoub(uint64_t value);
void set_data_exp_0(uint64_t value);
void set_data_exp_1(uint64_t value);
void set_data_exp_2(uint64_t value);
void set_data_exp_3(uint64_t value);
#define ASCENDSIM_AIPP(n) void set_aipp_spr_##n(uint64_t value);
ASCENDSIM_AIPP(0) ASCENDSIM_AIPP(1) ASCENDSIM_AIPP(2) ASCENDSIM_AIPP(3) ASCENDSIM_AIPP(4) ASCENDSIM_AIPP(5)
ASCENDSIM_AIPP(6) ASCENDSIM_AIPP(7) ASCENDSIM_AIPP(8) ASCENDSIM_AIPP(9) ASCENDSIM_AIPP(10) ASCENDSIM_AIPP(11)
ASCENDSIM_AIPP(12) ASCENDSIM_AIPP(13) ASCENDSIM_AIPP(14) ASCENDSIM_AIPP(15) ASCENDSIM_AIPP(16) ASCENDSIM_AIPP(17)
ASCENDSIM_AIPP(18) ASCENDSIM_AIPP(19) ASCENDSIM_AIPP(20) ASCENDSIM_AIPP(21) ASCENDSIM_AIPP(22) ASCENDSIM_AIPP(23)
ASCENDSIM_AIPP(24)
#undef ASCENDSIM_AIPP
/// Immediate operands of sixteen bits each, lowest first.
constexpr uint64_t get_imm(uint64_t low, uint64_t second = 0, uint64_t third = 0, uint64_t high = 0)
{
    return low + (second << 16) + (third << 32) + (high << 48);
}

// ---- synchronisation and caches ----------------------------------------------------------------------------------
// Flags bound to one half of an on-chip memory. Architecture 2201 has none: they raise the `unsupported` fault.
void hset_flag(pipe_t src, pipe_t dst, event_t id, mem_t memory, bool v);
void hwait_flag(pipe_t src, pipe_t dst, event_t id, mem_t memory, bool v);
inline void hset_flag(pipe_t src, pipe_t dst, uint64_t id, mem_t memory, bool v)
{
    hset_flag(src, dst, static_cast<event_t>(id), memory, v);
}
inline void hwait_flag(pipe_t src, pipe_t dst, uint64_t id, mem_t memory, bool v)
{
    hwait_flag(src, dst, static_cast<event_t>(id), memory, v);
}
void dcci(void* dst, uint64_t entire);
void dcci(void* dst, uint64_t entire, uint64_t type);
/// Instruction cache preload; no data is touched.
void preload(const void* address);
void preload(const void* address, int64_t length);
[[noreturn]] void trap(uint64_t code);

// ---- scalar conversions ----------------------------------------------------------------------------------------------
/// Round to odd, so that rounding again to a narrower type is as rounding once.
half conv_f322f16o(float value);
/// Rounding: r to nearest even, f down, c up, a to nearest with ties away from zero. Saturates.
int64_t conv_f322s32r(float value);
int64_t conv_f322s32f(float value);
int64_t conv_f322s32c(float value);
int64_t conv_f322s32a(float value);

#endif
