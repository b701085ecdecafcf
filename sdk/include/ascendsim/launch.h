// Kernel launches of programs that have their own main: what `k<<<blocks, ubuf, stream>>>(args)` becomes.
#ifndef ASCENDSIM_LAUNCH_H
#define ASCENDSIM_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

// What cores the program's kernels run on, "name=mix_1_2;other=aic;", from their `__mix__` and `__cube__` words; kernels that
// are not named run on vector cores.
#ifdef ASCENDSIM_KERNEL_KINDS
// Headers that know the core's kind when they are compiled have to say so (CompiledFor).
#define ASCENDSIM_ONE_KIND_PER_PROGRAM 1
#else
#define ASCENDSIM_KERNEL_KINDS ""
#endif

namespace ascendsim {

/// Runs `fn(arg)` once for every core of every block of a launch and writes its trace. Used by Launch. A kernel for a kind of
/// cores that the program's code was not compiled for is refused with a fault on every core.
void RunBlocks(const char* kernel, const char* kinds, uint32_t blocks, void (*fn)(void*), void* arg);

/// One launch: `Launch("k", blocks, ubuf, stream).Run(fn, args...)`.
class Launch {
public:
    template <typename Ubuf, typename Stream>
    Launch(const char* kernel, uint64_t blocks, Ubuf, Stream) : kernel_(kernel), blocks_(static_cast<uint32_t>(blocks))
    {}

    /// Evaluates the arguments once, copies them by value, and runs every block to completion.
    template <typename Fn, typename... Args>
    void Run(Fn fn, Args&&... args)
    {
        using Bound = std::pair<Fn, std::tuple<std::decay_t<Args>...>>;
        Bound bound(fn, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
        RunBlocks(
            kernel_, ASCENDSIM_KERNEL_KINDS, blocks_,
            [](void* raw) {
                // Each block gets its own copies, as each core gets its own parameters.
                Bound mine = *static_cast<Bound*>(raw);
                std::apply(mine.first, mine.second);
            },
            &bound);
    }

private:
    const char* kernel_;
    uint32_t blocks_;
};

}  // namespace ascendsim

#endif
