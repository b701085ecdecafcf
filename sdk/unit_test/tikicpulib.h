// Launching kernels from their own unit tests: the names that such tests use, on the simulated machine.
#ifndef ASCEND_SDK_UNIT_TEST_TIKICPULIB_H
#define ASCEND_SDK_UNIT_TEST_TIKICPULIB_H

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_operator.h"
#include "report.h"

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

namespace AscendC {
/// Global memory of the simulated machine, zeroed.
void* GmAlloc(size_t bytes);
void GmFree(void* memory);
void SetKernelMode(KernelMode mode);
}  // namespace AscendC

namespace ascend_unit {

void SetTilingKey(uint64_t key);
/// Runs `run(bound)` on every core of a launch.
void LaunchKernel(const char* kernel, uint32_t blocks, void (*run)(void*), void* bound);

template <typename... Parameters, typename... Arguments>
void Launch(const char* name, uint32_t blocks, void (*kernel)(Parameters...), Arguments&&... arguments)
{
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "ICPU_RUN_KF: as many arguments as the kernel has parameters");
    using Values = std::tuple<std::decay_t<Parameters>...>;
    struct Bound {
        void (*kernel)(Parameters...);
        Values values;
    } bound{kernel, Values((std::decay_t<Parameters>)(arguments)...)};
    LaunchKernel(
        name, blocks,
        [](void* raw) {
            // Every core has its own copy, as it has its own parameters on the device.
            Bound mine = *static_cast<Bound*>(raw);
            std::apply(mine.kernel, mine.values);
        },
        &bound);
}

}  // namespace ascend_unit

#define ICPU_SET_TILING_KEY(key) ::ascend_unit::SetTilingKey(key)
#define ICPU_RUN_KF(kernel, blocks, ...) ::ascend_unit::Launch(#kernel, static_cast<uint32_t>(blocks), kernel, ##__VA_ARGS__)

#endif
