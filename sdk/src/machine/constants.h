// Constant data of kernel libraries, which kernels may copy from as from global memory. Internal to the library.
//
// A kernel's `static const __gm__` table lies in the read-only data of its library, beside the tensors that it is given.
#ifndef ASCENDSIM_CONSTANTS_H
#define ASCENDSIM_CONSTANTS_H

#include <cstddef>
#include <cstdint>

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

/// Makes the constant data of the module that holds `address` readable. A module is taken once.
void AddConstants(const void* address);

/// Virtual address of [ptr, ptr + bytes) in the constant data of a kernel library, or 0 when it is not there. Tables are counted
/// behind all regions, in the order in which they are first read.
uint64_t TranslateConstant(const void* ptr, size_t bytes);

}  // namespace machine
}  // namespace ascendsim

#endif
