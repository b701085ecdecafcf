// Writable data of kernel libraries, private to each core. Internal to the library.
//
// Kernels keep state of their core in globals (the toolkit calls them block-local). Cores are coroutines of one process, so
// a library's data segment is exchanged when another core's turn comes.
#ifndef ASCENDSIM_BLOCK_LOCAL_H
#define ASCENDSIM_BLOCK_LOCAL_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

/// What one core has in the segments while it does not run; empty before its first pause.
using LocalImage = std::vector<uint8_t>;

class BlockLocal {
public:
    /// Makes the writable data of the module that holds `address` private. A module is taken once. Relocated read-only
    /// data stays out, and so does a module with more than `limit` bytes or whose data is registered as global memory.
    void AddModule(const void* address, size_t limit);

    bool Any() const { return bytes_ != 0; }
    size_t Bytes() const { return bytes_; }

    /// The state that new cores begin with is the present one.
    void BeginLaunch();
    /// Puts back what was there before the launch.
    void EndLaunch();
    /// Lets the core with this image run; `image` is empty for a core that begins.
    void Enter(LocalImage& image);
    /// The core that ran has ended: its state is of no interest any more.
    void Forget(const LocalImage& image);

private:
    struct Segment {
        uint8_t* base;
        size_t size;
    };
    void Save(LocalImage& image) const;
    void Load(const LocalImage& image) const;

    std::vector<Segment> segments_;
    std::vector<uintptr_t> modules_;
    size_t bytes_ = 0;
    LocalImage initial_;
    LocalImage* inside_ = nullptr;  // whose state is in the segments
    bool clean_ = true;             // the segments hold the initial state
};

}  // namespace machine
}  // namespace ascendsim

#endif
