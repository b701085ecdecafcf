// Flags between cores of a launch. Every core has a counter per flag; a set is delivered to the counters of its receivers
// once every member of the setting set has made it. Internal to the library.
#ifndef ASCENDSIM_CROSS_FLAGS_H
#define ASCENDSIM_CROSS_FLAGS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ascendsim {
namespace machine __attribute__((visibility("hidden"))) {

enum class Unit : uint8_t { kVector, kCube };

/// Who a core is among the cores of its launch.
struct CoreName {
    Unit unit;
    uint32_t group;
    uint32_t sub_block;
};

/// "block 3 AIC", "block 3 AIV1"; "block 3" where every core is a vector core.
std::string NameOf(const CoreName& name, bool alone);

class CrossFlags {
public:
    static constexpr uint32_t kIds = 16;
    static constexpr uint32_t kMost = 15;  // what a counter holds

    /// Cores by their index in the launch; `alone` says that each is a group of its own.
    void Reset(std::vector<CoreName> cores, bool alone);

    /// A set by core `from`. Modes: 0 all cores of its kind, 1 the vector cores of its group, 2 the cube core to its
    /// vector cores or all of these to the cube core. False when a receiver's counter is full.
    bool Set(uint32_t from, uint32_t id, uint32_t mode);
    /// True when the counter is above zero.
    bool IsSet(uint32_t core, uint32_t id) const { return states_[core].count[id] > 0; }
    void Take(uint32_t core, uint32_t id) { --states_[core].count[id]; }

    /// A core reaches its next SyncAll, of its own kind or of everybody. Returns that barrier's ordinal, from 1.
    uint32_t Arrive(uint32_t core, bool everybody);
    /// True when everybody concerned has reached the barrier.
    bool Arrived(uint32_t core, bool everybody, uint32_t ordinal) const;

    /// For a core that waits for ever: who has not set the flag, or "nobody sets it".
    std::string Missing(uint32_t core, uint32_t id) const;
    /// For a core that waits in SyncAll for ever: who has not come.
    std::string Absent(uint32_t core, bool everybody, uint32_t ordinal) const;
    std::string Name(uint32_t core) const { return NameOf(cores_[core], alone_); }

private:
    struct State {
        std::array<uint32_t, kIds> sets[3] = {};       // by mode
        std::array<uint32_t, kIds> count = {};         // delivered and not waited for
        uint32_t barriers[2] = {};                     // own kind, everybody
    };
    bool Deliver(const std::vector<uint32_t>& members, const std::vector<uint32_t>& receivers, uint32_t id, uint32_t mode,
                 uint32_t sets);

    std::vector<CoreName> cores_;
    std::vector<State> states_;
    std::vector<uint32_t> of_kind_[2];
    std::vector<uint32_t> everybody_;
    std::vector<std::vector<uint32_t>> vectors_of_;    // by group
    std::vector<std::vector<uint32_t>> cube_of_;
    bool alone_ = true;
};

}  // namespace machine
}  // namespace ascendsim

#endif
