// Global memory of a launch, for tests.
#ifndef GLOBAL_MEMORY_H
#define GLOBAL_MEMORY_H

#include <vector>

#include "isa_support.h"

namespace isa_test {

/// Known to the simulator while it lives. What lies behind its bytes is no part of it.
struct Gm {
    explicit Gm(size_t bytes) : data(bytes + 64)
    {
        ascendsim::RegisterRegion(data.data(), bytes, ascendsim::RegionRole::kOther, 0);
    }
    ~Gm() { ascendsim::UnregisterRegion(data.data()); }
    Gm(const Gm&) = delete;
    Gm& operator=(const Gm&) = delete;
    uint8_t* Bytes() { return data.data(); }
    template <typename T>
    T* As()
    {
        return reinterpret_cast<T*>(data.data());
    }
    std::vector<uint8_t> data;
};

}  // namespace isa_test

#endif
