#include "machine/cross_flags.h"

#include <algorithm>

namespace ascendsim {
namespace machine {

std::string NameOf(const CoreName& name, bool alone)
{
    const std::string block = "block " + std::to_string(name.group);
    if (alone) {
        return block;
    }
    return block + (name.unit == Unit::kCube ? " AIC" : " AIV" + std::to_string(name.sub_block));
}

void CrossFlags::Reset(std::vector<CoreName> cores, bool alone)
{
    cores_ = std::move(cores);
    alone_ = alone;
    states_.assign(cores_.size(), State());
    of_kind_[0].clear();
    of_kind_[1].clear();
    everybody_.clear();
    vectors_of_.clear();
    cube_of_.clear();
    for (uint32_t index = 0; index < cores_.size(); ++index) {
        const CoreName& core = cores_[index];
        vectors_of_.resize(std::max<size_t>(vectors_of_.size(), core.group + size_t{1}));
        cube_of_.resize(vectors_of_.size());
        const bool cube = core.unit == Unit::kCube;
        of_kind_[cube ? 1 : 0].push_back(index);
        (cube ? cube_of_ : vectors_of_)[core.group].push_back(index);
        everybody_.push_back(index);
    }
}

bool CrossFlags::Deliver(const std::vector<uint32_t>& members, const std::vector<uint32_t>& receivers, uint32_t id,
                         uint32_t mode, uint32_t sets)
{
    // The set is complete when its maker was the last one to make it.
    for (const uint32_t member : members) {
        if (states_[member].sets[mode][id] < sets) {
            return true;
        }
    }
    bool room = true;
    for (const uint32_t receiver : receivers) {
        uint32_t& count = states_[receiver].count[id];
        room = room && count < kMost;
        count = std::min(count + 1, kMost);
    }
    return room;
}

bool CrossFlags::Set(uint32_t from, uint32_t id, uint32_t mode)
{
    const CoreName& core = cores_[from];
    const bool cube = core.unit == Unit::kCube;
    const uint32_t sets = ++states_[from].sets[mode][id];
    const std::vector<uint32_t>& own_kind = (cube ? cube_of_ : vectors_of_)[core.group];
    switch (mode) {
        case 0:
            return Deliver(of_kind_[cube ? 1 : 0], of_kind_[cube ? 1 : 0], id, mode, sets);
        case 1:
            return Deliver(own_kind, own_kind, id, mode, sets);
        default:
            return Deliver(own_kind, (cube ? vectors_of_ : cube_of_)[core.group], id, mode, sets);
    }
}

uint32_t CrossFlags::Arrive(uint32_t core, bool everybody) { return ++states_[core].barriers[everybody ? 1 : 0]; }

bool CrossFlags::Arrived(uint32_t core, bool everybody, uint32_t ordinal) const
{
    const auto& members = everybody ? everybody_ : of_kind_[cores_[core].unit == Unit::kCube ? 1 : 0];
    return std::all_of(members.begin(), members.end(), [&](uint32_t member) {
        return states_[member].barriers[everybody ? 1 : 0] >= ordinal;
    });
}

std::string CrossFlags::Absent(uint32_t core, bool everybody, uint32_t ordinal) const
{
    const auto& members = everybody ? everybody_ : of_kind_[cores_[core].unit == Unit::kCube ? 1 : 0];
    std::string first;
    size_t count = 0;
    for (const uint32_t member : members) {
        if (states_[member].barriers[everybody ? 1 : 0] < ordinal) {
            first = count++ == 0 ? Name(member) : first;
        }
    }
    return count > 1 ? first + " and " + std::to_string(count - 1) + " others" : first;
}

std::string CrossFlags::Missing(uint32_t core, uint32_t id) const
{
    const CoreName& waiting = cores_[core];
    const bool cube = waiting.unit == Unit::kCube;
    const std::vector<uint32_t>* const senders[] = {
        &of_kind_[cube ? 1 : 0], &(cube ? cube_of_ : vectors_of_)[waiting.group],
        &(cube ? vectors_of_ : cube_of_)[waiting.group]};
    for (uint32_t mode = 0; mode < 3; ++mode) {
        uint32_t most = 0;
        for (const uint32_t member : *senders[mode]) {
            most = std::max(most, states_[member].sets[mode][id]);
        }
        for (const uint32_t member : *senders[mode]) {
            if (states_[member].sets[mode][id] < most) {
                return Name(member) + " has set it " + std::to_string(states_[member].sets[mode][id]) +
                       " times and others " + std::to_string(most) + " (mode " + std::to_string(mode) + ")";
            }
        }
        if (most > 0) {
            return "every set of it (mode " + std::to_string(mode) + ", " + std::to_string(most) +
                   " times) has been waited for";
        }
    }
    return "no core sets it for this one";
}

}  // namespace machine
}  // namespace ascendsim
