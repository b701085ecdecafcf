// Messages and assertions, as a toolkit's headers have them.
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include <cstdio>

#define KERNEL_LOG(level, ...) KERNEL_LOG_##level(__VA_ARGS__)
#define KERNEL_LOG_KERNEL_ERROR(...) std::printf(__VA_ARGS__)
#define TILE_ASSERT(condition, behavior) ((condition) ? static_cast<void>(0) : (behavior, static_cast<void>(raise(SIGABRT))))

#define ASCENDC_ASSERT(cond, behavior) \
    do {                               \
        if (!(cond)) {                 \
            behavior;                  \
            raise(SIGABRT);            \
        }                              \
    } while (0)

#endif
