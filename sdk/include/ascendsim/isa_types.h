// Enumerations that instructions take, under the toolkit's names and numbers.
#ifndef ASCENDSIM_ISA_TYPES_H
#define ASCENDSIM_ISA_TYPES_H

#include "ascendsim/types.h"

/// What the fixpipe does to an accumulator before it is written: V forms take one factor a column from the fixpipe buffer, the
/// others one factor for all from set_quant_pre.
enum QuantMode_t {
    NoQuant = 0,
    F322F16 = 1,
    AttachF16Mul = 6,
    VREQ8 = 8,
    REQ8 = 9,
    VDEQF16 = 10,
    DEQF16 = 11,
    VSHIFTS322S16 = 12,
    SHIFTS322S16 = 13,
    F322BF16 = 16,
    VQF162B8_PRE = 17,
    QF162B8_PRE = 18,
    VQF162S4_PRE = 19,
    QF162S4_PRE = 20,
    VREQ4 = 21,
    REQ4 = 22,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    VQF322S4_PRE = 25,
    QF322S4_PRE = 26,
    VDEQS16 = 27,
    DEQS16 = 28,
    VQF162S16_PRE = 29,
    QF162S16_PRE = 30
};
/// Activation of the fixpipe.
enum Relu_t { NoRELU = 0, NormalRELU = 1, LeakyRELU = 2, PRELU = 3 };
/// Direction in which 2D loads step through their source.
enum addr_cal_mode_t { inc = 0, dec = 1 };
/// Padding of copy_gm_to_cbuf; architecture 2201 uses none.
enum pad_t {
    PAD_NONE = 0, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5, PAD_MODE6, PAD_MODE7, PAD_MODE8
};
enum atomic_type_t {
    ATOMIC_NONE = 0, ATOMIC_F32 = 1, ATOMIC_F16 = 2, ATOMIC_S16 = 3, ATOMIC_S32 = 4, ATOMIC_S8 = 5, ATOMIC_BF16 = 6
};
enum atomic_op_t { ATOMIC_SUM = 0 };
enum bm_t { BM_DISABLE = 0, BM_ENABLE = 1 };
/// Memories that hset_flag and hwait_flag name.
enum mem_t { L1 = 0, L0A, L0B, L0C, UB, BT };
enum unit_flag_t { UFMode0 = 0, Reserved, UFMode2, UFMode3 };
enum CvtMode_t { NoConversion = 0, CvtMode1 = 1, CvtMode2 = 2 };

// Later architectures' register types, which headers name in declarations only.
using vector_bool = uint16_t;
struct vector_align {
    int8_t bytes[32];
};
struct vector_address {
    vector_address() = default;
    explicit constexpr vector_address(int64_t offset) : value(offset) {}
    operator int64_t&() { return value; }
    int64_t value = 0;
};

#endif
