// Masks, modes, flags, barriers, system variables and scalar bit operations.
#include "isa/engine.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

uint8_t TracePipeOf(pipe_t pipe)
{
    switch (pipe) {
        case PIPE_S:
            return kPipeS;
        case PIPE_V:
        case PIPE_V2:
            return kPipeV;
        case PIPE_M:
            return kPipeM;
        case PIPE_MTE1:
            return kPipeMte1;
        case PIPE_MTE2:
            return kPipeMte2;
        case PIPE_MTE3:
        case PIPE_MTE4:
        case PIPE_MTE5:
            return kPipeMte3;
        case PIPE_FIX:
            return kPipeFix;
        default:
            return kPipeNone;
    }
}

void RecordMask(Core& core, uint64_t site) { machine::Append(core, kOp_set_mask, kPipeV, 0, site); }

void RecordFlag(uint16_t opcode, uint64_t site, pipe_t src, pipe_t dst, event_t id)
{
    Core& core = Current();
    if (static_cast<uint32_t>(id) > 7) {
        RaiseFault(core, FaultKind::kFlagMisuse, site, "%s: event id %d, there are 8", OpcodeName(opcode),
                   static_cast<int>(id));
        return;
    }
    const uint8_t from = TracePipeOf(src);
    const uint8_t to = TracePipeOf(dst);
    RecordHead* head = machine::Append(core, opcode, opcode == kOp_set_flag ? from : to, 0, site);
    head->aux0 = static_cast<uint32_t>(id);
    head->aux1 = from;
    head->aux2 = to;
}

void SetAtomicType(uint8_t dtype)
{
    Core& core = Current();
    NoteValue(core, dtype);
    core.atomic_dtype = dtype;
    // A type alone means addition, as the store configuration's operation field starts at zero.
    if (core.atomic_op == machine::AtomicOp::kNone) {
        core.atomic_op = machine::AtomicOp::kAdd;
    }
}

void SetAtomicOp(machine::AtomicOp op)
{
    Core& core = Current();
    NoteValue(core, op);
    core.atomic_op = op;
}

constexpr uint8_t kAtomicTypes[8] = {kNoDtype, kF32, kF16, kI16, kI32, kI8, kBf16, kNoDtype};

bool CheckGm(Core& core, uint64_t site, const void* ptr, size_t bytes, const char* what)
{
    if (machine::TranslateGm(ptr, bytes) != 0) {
        return true;
    }
    machine::RaiseOutOfBoundsGm(core, site, what, ptr, bytes, kReadWrite, false);
    return false;
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

void set_mask_count()
{
    Core& core = Current();
    NoteValue(core, uint64_t{1});
    core.count_mode = true;
    RecordMask(core, ASCENDSIM_SITE());
}

void set_mask_norm()
{
    Core& core = Current();
    NoteValue(core, uint64_t{0});
    core.count_mode = false;
    RecordMask(core, ASCENDSIM_SITE());
}

void set_vector_mask(uint64_t high, uint64_t low)
{
    Core& core = Current();
    NoteValue(core, high);
    NoteValue(core, low);
    core.mask_high = high;
    core.mask_low = low;
    RecordMask(core, ASCENDSIM_SITE());
}

void set_ctrl(uint64_t config)
{
    Core& core = Current();
    NoteValue(core, config);
    core.ctrl = config;
    ascendsim::machine::Append(core, ascendsim::kOp_set_ctrl, ascendsim::kPipeV, 0, ASCENDSIM_SITE());
}

int64_t get_ctrl() { return static_cast<int64_t>(Current().ctrl); }

void set_atomic_none()
{
    Core& core = Current();
    SetAtomicOp(ascendsim::machine::AtomicOp::kNone);
    core.atomic_dtype = ascendsim::kNoDtype;
}
void set_atomic_add() { SetAtomicOp(ascendsim::machine::AtomicOp::kAdd); }
void set_atomic_max() { SetAtomicOp(ascendsim::machine::AtomicOp::kMax); }
void set_atomic_min() { SetAtomicOp(ascendsim::machine::AtomicOp::kMin); }
void set_atomic_f32() { SetAtomicType(ascendsim::kF32); }
void set_atomic_f16() { SetAtomicType(ascendsim::kF16); }
void set_atomic_bf16() { SetAtomicType(ascendsim::kBf16); }
void set_atomic_s32() { SetAtomicType(ascendsim::kI32); }
void set_atomic_s16() { SetAtomicType(ascendsim::kI16); }
void set_atomic_s8() { SetAtomicType(ascendsim::kI8); }

void set_st_atomic_cfg(uint64_t config)
{
    Core& core = Current();
    NoteValue(core, config);
    core.atomic_dtype = kAtomicTypes[config & 7u];
    core.atomic_op = core.atomic_dtype == ascendsim::kNoDtype ? ascendsim::machine::AtomicOp::kNone
                                                              : ascendsim::machine::AtomicOp::kAdd;
}

int64_t get_st_atomic_cfg()
{
    const Core& core = Current();
    for (int64_t type = 1; type < 7; ++type) {
        if (core.atomic_op != ascendsim::machine::AtomicOp::kNone && kAtomicTypes[type] == core.atomic_dtype) {
            return type;
        }
    }
    return 0;
}

void set_flag(pipe_t src, pipe_t dst, event_t id) { RecordFlag(ascendsim::kOp_set_flag, ASCENDSIM_SITE(), src, dst, id); }
void wait_flag(pipe_t src, pipe_t dst, event_t id) { RecordFlag(ascendsim::kOp_wait_flag, ASCENDSIM_SITE(), src, dst, id); }

void pipe_barrier(pipe_t pipe)
{
    ascendsim::machine::Append(Current(), ascendsim::kOp_pipe_barrier, TracePipeOf(pipe), 0, ASCENDSIM_SITE());
}

void dsb(mem_dsb_t) { ascendsim::machine::Append(Current(), ascendsim::kOp_dsb, ascendsim::kPipeS, 0, ASCENDSIM_SITE()); }

void ffts_cross_core_sync(pipe_t pipe, uint64_t config)
{
    ascendsim::machine::SetCrossFlag(Current(), TracePipeOf(pipe), static_cast<uint32_t>(config >> 8 & 15u),
                                     static_cast<uint32_t>(config >> 4 & 3u), ASCENDSIM_SITE());
}

void wait_flag_dev(int64_t flagId)
{
    if (flagId < 0 || flagId > 15) {
        RaiseFault(Current(), FaultKind::kFlagMisuse, ASCENDSIM_SITE(), "wait_flag_dev: flag id %lld, there are 16",
                   static_cast<long long>(flagId));
        return;
    }
    ascendsim::machine::WaitCrossFlag(Current(), static_cast<uint32_t>(flagId), ASCENDSIM_SITE());
}

void set_ffts_base_addr(uint64_t config) { Current().ffts_base = config; }
int64_t get_ffts_base_addr() { return static_cast<int64_t>(Current().ffts_base); }

void dcci(void* dst, cache_line_t kind)
{
    ascendsim::machine::CleanCache(Current(), dst, kind == ENTIRE_DATA_CACHE, ASCENDSIM_SITE());
}
void dcci(void* dst, cache_line_t kind, dcci_dst_t)
{
    ascendsim::machine::CleanCache(Current(), dst, kind == ENTIRE_DATA_CACHE, ASCENDSIM_SITE());
}
void dc_preload(uint64_t* address, int64_t offset) { ascendsim::PreloadLine(reinterpret_cast<const uint8_t*>(address) + offset); }

#define BODY(T)                                                                          \
    void st_dev(T value, T* dst, int16_t offset)                                         \
    {                                                                                    \
        Core& core = Current();                                                          \
        const uint64_t site = ASCENDSIM_SITE();                                          \
        if (CheckGm(core, site, dst + offset, sizeof(T), "st_dev")) {                    \
            ascendsim::machine::ScalarAccess(core, dst + offset, sizeof(T), ascendsim::kWrite | ascendsim::kUncached, site); \
            NoteValue(core, value);                                                      \
            if (ascendsim::TouchesData()) {                                              \
                dst[offset] = value;                                                     \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    T ld_dev(T* src, int16_t offset)                                                     \
    {                                                                                    \
        Core& core = Current();                                                          \
        const uint64_t site = ASCENDSIM_SITE();                                          \
        if (!CheckGm(core, site, src + offset, sizeof(T), "ld_dev")) {                   \
            return T(0);                                                                 \
        }                                                                                \
        ascendsim::machine::ScalarAccess(core, src + offset, sizeof(T), ascendsim::kRead | ascendsim::kUncached, site); \
        return src[offset];                                                              \
    }
BODY(uint8_t)
BODY(uint16_t)
BODY(uint32_t)
BODY(uint64_t)
#undef BODY

int64_t get_block_idx() { return ascendsim::BlockIdx(); }
int64_t get_block_num() { return ascendsim::BlockNum(); }
int64_t get_subblockid() { return Current().sub_block; }
int64_t get_subblockdim() { return Current().sub_blocks; }
int64_t get_coreid() { return ascendsim::BlockIdx(); }
int64_t get_arch_ver() { return 220; }
int64_t get_sys_cnt() { return static_cast<int64_t>(Current().records); }
int64_t get_status() { return 0; }
uint64_t get_overflow_status() { return 0; }

void trap()
{
    RaiseFault(Current(), FaultKind::kUnsupported, ASCENDSIM_SITE(), "the kernel called trap");
    ascendsim::machine::AbandonBlock();
}

int64_t clz(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
int64_t sff0(uint64_t value) { return ~value == 0 ? -1 : __builtin_ctzll(~value); }
int64_t sff1(uint64_t value) { return value == 0 ? -1 : __builtin_ctzll(value); }
int64_t bcnt0(uint64_t value) { return 64 - __builtin_popcountll(value); }
int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
// Of nothing but sign bits there is no count.
int64_t sflbits(int64_t value) { return value == 0 || value == -1 ? -1 : __builtin_clrsbll(value); }
uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(uint64_t{1} << (bit & 63)); }
uint64_t sbitset1(uint64_t value, int64_t bit) { return value | uint64_t{1} << (bit & 63); }
