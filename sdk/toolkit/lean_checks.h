// The checks of a toolkit's CPU-debug headers in little code. Every function of the API makes several of them, and everything
// in those headers is inlined: as they stand, the texts of their messages are most of what the compiler has to do. Comes
// before kernel_operator.h.
#ifndef ASCENDSIM_TOOLKIT_LEAN_CHECKS_H
#define ASCENDSIM_TOOLKIT_LEAN_CHECKS_H

#if __has_include("kernel_log.h")

// The headers remark on whoever includes their parts; kernel_operator.h follows.
#ifndef __ASCENDC_INCLUDE_INTERNAL_HEADERS__
#define __ASCENDC_INCLUDE_INTERNAL_HEADERS__
#define ASCENDSIM_REMARKS_OFF
#endif

#include "stub_def.h"

#include "kernel_log.h"

// Messages go into the fault, which knows its core; only those of errors have one.
#undef KERNEL_LOG_KERNEL_DEBUG
#undef KERNEL_LOG_KERNEL_INFO
#undef KERNEL_LOG_KERNEL_WARN
#undef KERNEL_LOG_KERNEL_ERROR
#define KERNEL_LOG_KERNEL_DEBUG(...) static_cast<void>(0)
#define KERNEL_LOG_KERNEL_INFO(...) static_cast<void>(0)
#define KERNEL_LOG_KERNEL_WARN(...) static_cast<void>(0)
#define KERNEL_LOG_KERNEL_ERROR(...) ascend_sim_check_message(__VA_ARGS__)

// A check that divides by what is known while running only would end the process where that is zero: a tiling that the
// kernel does not use, for one. Device code, which has no checks, does not divide. Such checks are left out.
#ifdef ASCENDC_ASSERT
namespace ascendsim {
namespace toolkit {
constexpr bool DividesByVariable(const char* text)
{
    for (; *text != '\0'; ++text) {
        if (*text != '/' && *text != '%') {
            continue;
        }
        const char* divisor = text + 1;
        while (*divisor == ' ' || *divisor == '(') {
            ++divisor;
        }
        // Constants are written in capitals.
        for (; (*divisor >= 'a' && *divisor <= 'z') || (*divisor >= 'A' && *divisor <= 'Z') || *divisor == '_'; ++divisor) {
            if (*divisor >= 'a' && *divisor <= 'z') {
                return true;
            }
        }
    }
    return false;
}
}  // namespace toolkit
}  // namespace ascendsim
#undef ASCENDC_ASSERT
#define ASCENDC_ASSERT(cond, behavior)                                  \
    do {                                                                \
        if constexpr (!ascendsim::toolkit::DividesByVariable(#cond)) {  \
            if (!(cond)) {                                              \
                behavior;                                               \
                raise(SIGABRT);                                         \
            }                                                           \
        }                                                               \
    } while (0)

// The headers' other kind of check would end the process.
#undef ASSERT
#define ASSERT(...) ASCENDC_ASSERT((__VA_ARGS__), ascend_sim_check_message("%s", #__VA_ARGS__))
#endif

// Functions that only check record no instruction, so that they need not be inlined.
#if __has_include("kernel_npu_debug.h") && __has_include("kernel_tensor.h")
#include "kernel_tensor.h"
#undef __aicore__
#define __aicore__
#include "kernel_npu_debug.h"
#undef __aicore__
#define __aicore__ __attribute__((always_inline))
#endif

#ifdef ASCENDSIM_REMARKS_OFF
#undef ASCENDSIM_REMARKS_OFF
#undef __ASCENDC_INCLUDE_INTERNAL_HEADERS__
#endif

#endif

#endif
