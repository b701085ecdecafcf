// What a TPipe of CPU-debug headers does first is to fill every on-chip memory with random words. A device does not: those
// would be a quarter of a million scalar stores a block, and would pass for data that the kernel has written. The words come
// from a `std::default_random_engine` that lives just as long as the loop; the one here holds the record of accesses for
// that time, and gives the poison that fresh memories are full of anyway.
#ifndef ASCENDSIM_TOOLKIT_SCRATCH_FILL_H
#define ASCENDSIM_TOOLKIT_SCRATCH_FILL_H

#include <cstdint>
#include <random>

/// Accesses of the running core go unseen until the end of the fill. Returns a word of poison.
extern "C" uint32_t ascend_sim_begin_fill();
extern "C" void ascend_sim_end_fill();

// The headers name the engine with its namespace.
namespace std {
struct ascend_sim_scratch_words {
    ascend_sim_scratch_words() : word(ascend_sim_begin_fill()) {}
    ~ascend_sim_scratch_words() { ascend_sim_end_fill(); }
    ascend_sim_scratch_words(const ascend_sim_scratch_words&) = delete;
    ascend_sim_scratch_words& operator=(const ascend_sim_scratch_words&) = delete;
    uint32_t operator()() const { return word; }
    const uint32_t word;
};
}  // namespace std

// Until toolkit_kernel.h takes it back behind the headers.
#define default_random_engine ascend_sim_scratch_words

#endif
