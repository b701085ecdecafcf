// Outputs that are inputs: which of a job's tensors are one piece of memory.
#include "../runner/in_place.h"
#include "../runner/job.cpp"
#include "host_check.h"

namespace {
using Named = std::vector<std::pair<std::string, int>>; // tensors with their numbers of elements

// The twins of the inputs of a job.
std::vector<size_t> Twins(const Named& inputs, const Named& outputs)
{
    std::string text = R"({"mode": "tile", "host": "host.so", "operator": "Step", "result": "result.json")";
    const auto add = [&text](const std::string& key, const Named& tensors) {
        std::string all;
        for (const auto& [name, elements] : tensors) {
            all += std::string(all.empty() ? "" : ", ") + R"({"name": ")" + name +
                   R"(", "dtype": "float32", "format": "ND", "file": "data.bin", "shape": [)" + std::to_string(elements) + "]}";
        }
        text += ", \"" + key + "\": [" + all + "]";
    };
    add("inputs", inputs);
    add("outputs", outputs);
    text += "}";
    const runner::Job job = runner::ParseJob(text);
    return runner::InPlaceTwins(job.inputs, job.outputs);
}
} // namespace

int main()
{
    constexpr size_t kNone = runner::kNoTwin;
    const Named inputs = {{"param", 8}, {"param", 8}, {"param", 4}, {"grad", 8}};
    // Every tensor of a list is its own: none shares the first one's bytes.
    CHECK((Twins(inputs, {{"param", 8}, {"param", 8}, {"param", 4}}) == std::vector<size_t>{0, 1, 2, kNone}));
    // A list that is shorter on the other side, and a tensor of another size.
    CHECK((Twins(inputs, {{"param", 8}, {"param", 4}}) == std::vector<size_t>{0, kNone, kNone, kNone}));
    // Places count by name, not by line.
    CHECK((Twins(inputs, {{"grad", 8}, {"y", 8}, {"param", 8}}) == std::vector<size_t>{2, kNone, kNone, 0}));
    return CHECK_RESULT();
}
