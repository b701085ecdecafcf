// Special registers of the cube core, scalar conversions, and what architecture 2201 does not have.
#include <limits>

#include "isa/engine.h"

#include "ascendsim/isa.h"

using namespace ascendsim::isa;

void set_fpc(uint64_t config) { Current().cube.fpc = config; }
int64_t get_fpc() { return static_cast<int64_t>(Current().cube.fpc); }
void set_quant_pre(uint64_t config) { Current().cube.quant_pre = config; }
void set_nd_para(uint64_t config) { Current().cube.nd_para = config; }
void set_fmatrix(uint64_t config) { Current().cube.fmatrix[0] = config; }
void set_fmatrix_b(uint64_t config) { Current().cube.fmatrix[1] = config; }
void set_padding(uint64_t config) { Current().cube.padding = config; }
void set_l3d_rpt(uint64_t config) { Current().cube.l3d_repeat = config; }
void set_l1_3d_size(uint64_t config) { Current().cube.l1_3d_size = config; }
void set_lrelu_alpha(half config) { Current().cube.lrelu_alpha = config; }
void set_lrelu_alpha(float config) { Current().cube.lrelu_alpha = config; }
void SetIndexMatrix(void* index) { Current().cube.sparse_index = index; }

void set_st_atomic_cfg(atomic_type_t type, atomic_op_t op)
{
    set_st_atomic_cfg(static_cast<uint64_t>(type) | static_cast<uint64_t>(op) << 3);
}
void set_deqscale(uint64_t config)
{
    NoteValue(Current(), config);
    Current().cube.deq_scale = config;
}

void set_condition_flag(uint64_t value) { Current().cube.condition_flag = value; }
int64_t get_condition_flag() { return static_cast<int64_t>(Current().cube.condition_flag); }
void set_lpcnt(uint64_t value) { Current().cube.loop_count = value; }
int64_t get_lpcnt() { return static_cast<int64_t>(Current().cube.loop_count); }
int64_t get_pc() { return static_cast<int64_t>(ASCENDSIM_SITE()); }
// No instruction cache, no memory map and no threads are simulated: these registers read as zero.
int64_t get_icache_prl_st() { return 0; }
int64_t get_data_main_base() { return 0; }
int64_t get_l2_in_main() { return 0; }
int64_t get_l2_vaddr_base() { return 0; }
int64_t get_stack_phy_base() { return 0; }
int64_t get_thread_dim() { return 1; }
int64_t get_thread_id() { return 0; }
uint64_t fake_overflow_status_1() { return 0; }

// Image preprocessing and exponent tables belong to other architectures; nothing in this one reads their registers.
void set_pcie_rd_ctrl(uint64_t) {}
void set_pad_val_outtol1(uint64_t) {}
void set_pad_val_outtoub(uint64_t value)
{
    NoteValue(Current(), value);
    Current().pad_value = value;
}
void set_data_exp_0(uint64_t) {}
void set_data_exp_1(uint64_t) {}
void set_data_exp_2(uint64_t) {}
void set_data_exp_3(uint64_t) {}
#define BODY(n) \
    void set_aipp_spr_##n(uint64_t) {}
BODY(0) BODY(1) BODY(2) BODY(3) BODY(4) BODY(5) BODY(6) BODY(7) BODY(8) BODY(9) BODY(10) BODY(11) BODY(12)
BODY(13) BODY(14) BODY(15) BODY(16) BODY(17) BODY(18) BODY(19) BODY(20) BODY(21) BODY(22) BODY(23) BODY(24)
#undef BODY

// Kernels that look for their arguments behind this address would read whatever lies at zero.
int64_t get_para_base()
{
    RaiseFault(Current(), FaultKind::kUnsupported, ASCENDSIM_SITE(),
               "get_para_base: the simulator hands arguments to the entry and keeps no block of them in memory");
    return 0;
}

void hset_flag(pipe_t, pipe_t, event_t, mem_t, bool)
{
    RaiseFault(Current(), FaultKind::kUnsupported, ASCENDSIM_SITE(), "hset_flag: not an instruction of architecture 2201");
    ascendsim::machine::AbandonBlock();
}
void hwait_flag(pipe_t, pipe_t, event_t, mem_t, bool)
{
    RaiseFault(Current(), FaultKind::kUnsupported, ASCENDSIM_SITE(), "hwait_flag: not an instruction of architecture 2201");
    ascendsim::machine::AbandonBlock();
}

void dcci(void* dst, uint64_t entire)
{
    ascendsim::machine::CleanCache(Current(), dst, entire != 0, ASCENDSIM_SITE());
}
void dcci(void* dst, uint64_t entire, uint64_t)
{
    ascendsim::machine::CleanCache(Current(), dst, entire != 0, ASCENDSIM_SITE());
}
void preload(const void*) { ascendsim::ScalarOps(1); }
void preload(const void*, int64_t) { ascendsim::ScalarOps(1); }
void trap(uint64_t code)
{
    RaiseFault(Current(), FaultKind::kUnsupported, ASCENDSIM_SITE(), "the kernel called trap with code %llu",
               static_cast<unsigned long long>(code));
    ascendsim::machine::AbandonBlock();
}

namespace {

int64_t Saturated(float value)
{
    if (value != value) {
        return 0;
    }
    if (value >= 2147483648.0f) {
        return std::numeric_limits<int32_t>::max();
    }
    return value < -2147483648.0f ? std::numeric_limits<int32_t>::min() : static_cast<int64_t>(value);
}

}  // namespace

half conv_f322f16o(float value)
{
    // Towards zero with the last bit set is the odd neighbour of whatever does not fit.
    const half near(value);
    const float back = near;
    if (back == value || value != value || back - back != 0.0f) {
        return back - back != 0.0f && value - value == 0.0f ? half::FromBits(static_cast<uint16_t>((near.Bits() & 0x8000u) | 0x7BFFu))
                                                             : near;
    }
    uint16_t bits = near.Bits();
    if ((value > 0 && back > value) || (value < 0 && back < value)) {
        --bits;
    }
    return half::FromBits(static_cast<uint16_t>(bits | 1u));
}
int64_t conv_f322s32r(float value) { return Saturated(__builtin_nearbyintf(value)); }
int64_t conv_f322s32f(float value) { return Saturated(__builtin_floorf(value)); }
int64_t conv_f322s32c(float value) { return Saturated(__builtin_ceilf(value)); }
int64_t conv_f322s32a(float value) { return Saturated(__builtin_roundf(value)); }
