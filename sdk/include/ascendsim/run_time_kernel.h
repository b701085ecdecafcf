// Kernels that a program compiles while it runs. The tool makes a translation unit of each of their texts, which says by these objects
// what it has; aclrtcCompileProg then finds a text among them.
#ifndef ASCENDSIM_RUN_TIME_KERNEL_H
#define ASCENDSIM_RUN_TIME_KERNEL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "ascendsim/launch.h"

namespace ascendsim {

/// What a text is known by: FNV-1a over its bytes but carriage returns, and how many these are.
struct TextDigest {
    uint64_t hash;
    uint64_t bytes;
};

/// One kernel of such a text.
struct RunTimeKernelEntry {
    TextDigest text;
    const char* expression; // what AddNameExpr names it by, or its name where it has C linkage
    const char* kernel;     // name without scope and template arguments
    const char* kinds;      // as in ascendsim/launch.h
    const void* address;
    const size_t* sizes; // bytes of each parameter
    size_t parameters;
    void (*block)(void*); // runs one block of a RunTimeCall; code of the program, as its data are each core's own
};

/// A launch: `values[i]` points to parameter i.
struct RunTimeCall {
    const void* address;
    void** values;
};

void AddRunTimeKernel(const RunTimeKernelEntry& entry);

/// Registers a kernel; one static object for each.
class RunTimeKernel {
public:
    template <typename... P>
    RunTimeKernel(TextDigest text, const char* expression, const char* kernel, void (*entry)(P...))
    {
        static const size_t kSizes[] = {sizeof(std::decay_t<P>)..., 0};
        AddRunTimeKernel({text, expression, kernel, ASCENDSIM_KERNEL_KINDS, reinterpret_cast<const void*>(entry), kSizes,
                          sizeof...(P), &Block<P...>});
    }

private:
    template <typename T> static T Take(void**& values)
    {
        T value;
        std::memcpy(static_cast<void*>(&value), *values++, sizeof(T));
        return value;
    }

    template <typename... P> static void Block(void* raw)
    {
        const auto& call = *static_cast<const RunTimeCall*>(raw);
        [[maybe_unused]] void** values = call.values;
        // Braces take the values from the left to the right.
        std::tuple<std::decay_t<P>...> parameters{Take<std::decay_t<P>>(values)...};
        std::apply(reinterpret_cast<void (*)(P...)>(const_cast<void*>(call.address)), parameters);
    }
};

}  // namespace ascendsim

#endif
