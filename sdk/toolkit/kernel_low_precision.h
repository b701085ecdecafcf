// 8-bit and 4-bit floating-point types as bit patterns: architecture 2201 has no instruction that computes with them.
#ifndef ASCENDSIM_TOOLKIT_KERNEL_LOW_PRECISION_H
#define ASCENDSIM_TOOLKIT_KERNEL_LOW_PRECISION_H

#include <cstdint>

#define ASCENDSIM_BITS(name)                                                       \
    struct name {                                                                  \
        uint8_t val;                                                               \
        constexpr bool operator==(const name& other) const { return val == other.val; } \
        constexpr bool operator!=(const name& other) const { return val != other.val; } \
    };
ASCENDSIM_BITS(fp8_e4m3fn_t)
ASCENDSIM_BITS(fp8_e5m2_t)
ASCENDSIM_BITS(fp8_e8m0_t)
ASCENDSIM_BITS(hifloat8_t)
ASCENDSIM_BITS(fp4x2_e2m1_t)
ASCENDSIM_BITS(fp4x2_e1m2_t)
#undef ASCENDSIM_BITS

#endif
