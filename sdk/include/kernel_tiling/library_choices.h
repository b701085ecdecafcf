// Choices that library functions take on both sides: a kernel gives them to the function, the host to its tiling.
#ifndef KERNEL_TILING_LIBRARY_CHOICES_H
#define KERNEL_TILING_LIBRARY_CHOICES_H

#include <cstdint>

namespace AscendC {

/// Axes from the outside in: A stays, R is reduced.
enum class ReducePattern : uint32_t {
    AR = 0,
    RA = 1,
    R,
    ARA,
    ARAR,
    ARARA,
    ARARAR,
    ARARARA,
    ARARARAR,
    ARARARARA,
    RAR,
    RARA,
    RARAR,
    RARARA,
    RARARAR,
    RARARARA,
};

/// NORMAL takes any row length, NSMALL rows of 32; here both are the same.
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class TopKAlgo { RADIX_SELECT, MERGE_SORT };
enum class TopKOrder { UNSET, LARGEST, SMALLEST };
struct TopKConfig {
    TopKAlgo algo = TopKAlgo::MERGE_SORT;
    TopKOrder order = TopKOrder::UNSET;
    bool sorted = true;
};

}  // namespace AscendC

#endif
