// Which tensor an operator changes in place: an output with the name of an input is that input.
#ifndef ASCEND_SDK_RUNNER_IN_PLACE_H
#define ASCEND_SDK_RUNNER_IN_PLACE_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "job.h"

namespace runner {
// No output shares the bytes of this input.
constexpr size_t kNoTwin = static_cast<size_t>(-1);

// For each input the output that is the same memory. Those of a dynamic parameter stand under one name: the
// first tensor of the one list is the first of the other, and so on. Tensors of different sizes cannot be one.
inline std::vector<size_t> InPlaceTwins(const std::vector<JobTensor>& inputs, const std::vector<JobTensor>& outputs)
{
    std::map<std::string, size_t> seen;
    std::map<std::pair<std::string, size_t>, size_t> known; // name and place in its list, to the output
    for (size_t k = 0; k < outputs.size(); ++k) {
        known.emplace(std::make_pair(outputs[k].name, seen[outputs[k].name]++), k);
    }
    seen.clear();
    std::vector<size_t> twins;
    for (const JobTensor& input : inputs) {
        const auto twin = known.find({input.name, seen[input.name]++});
        const bool shared = twin != known.end() && outputs[twin->second].Bytes() == input.Bytes();
        twins.push_back(shared ? twin->second : kNoTwin);
    }
    return twins;
}
} // namespace runner

#endif
