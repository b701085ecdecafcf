#include "job.h"

#include <algorithm>
#include <functional>

#include "failure.h"
#include "graph/utils/type_utils.h"
#include "nlohmann/json.hpp"

namespace runner {
namespace {
using nlohmann::json;

constexpr uint64_t kMaxBytes = uint64_t(1) << 46;
constexpr uint64_t kMaxCores = 65535;

struct TypeRow {
    const char* name;
    ge::DataType type;
};
const TypeRow kTypes[] = {
    {"float16", ge::DT_FLOAT16}, {"float32", ge::DT_FLOAT}, {"bfloat16", ge::DT_BF16},   {"int8", ge::DT_INT8},
    {"uint8", ge::DT_UINT8},     {"int16", ge::DT_INT16},   {"uint16", ge::DT_UINT16},   {"int32", ge::DT_INT32},
    {"uint32", ge::DT_UINT32},   {"int64", ge::DT_INT64},   {"uint64", ge::DT_UINT64},   {"bool", ge::DT_BOOL},
    {"float64", ge::DT_DOUBLE},  {"complex64", ge::DT_COMPLEX64},
};

uint64_t Number(const std::string& where, const json& value, uint64_t low, uint64_t high)
{
    if (!value.is_number_unsigned() || value.get<uint64_t>() < low || value.get<uint64_t>() > high) {
        Bad(where, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) + ", not " +
                       value.dump());
    }
    return value.get<uint64_t>();
}

bool Truth(const std::string& where, const json& value)
{
    if (!value.is_boolean()) {
        Bad(where, "must be true or false, not " + value.dump());
    }
    return value.get<bool>();
}

const json& List(const std::string& where, const json& value)
{
    if (!value.is_array()) {
        Bad(where, "must be a list, not " + value.dump());
    }
    return value;
}

std::string Text(const std::string& where, const json& value)
{
    if (value.is_string()) {
        return value.get<std::string>();
    }
    std::string bytes;
    for (const json& byte : List(where, value)) {
        bytes += static_cast<char>(Number(where, byte, 0, 255));
    }
    return bytes;
}

// Hands each member of an object to what reads it. Names that nobody knows are mistakes.
using Readers = std::map<std::string, std::function<void(const std::string& where, const json& value)>>;
void ReadObject(const std::string& where, const json& value, const Readers& readers)
{
    if (!value.is_object()) {
        Bad(where, "must be an object, not " + value.dump());
    }
    for (const auto& [name, member] : value.items()) {
        const auto reader = readers.find(name);
        const std::string place = where.empty() ? name : where + "." + name;
        if (reader == readers.end()) {
            Bad(place, "unknown name");
        }
        reader->second(place, member);
    }
}

template <typename Take>
void ReadEach(const std::string& where, const json& value, const Take& take)
{
    size_t index = 0;
    for (const json& element : List(where, value)) {
        take(where + "[" + std::to_string(index++) + "]", element);
    }
}

ge::DataType ParseType(const std::string& where, const std::string& text)
{
    for (const TypeRow& row : kTypes) {
        if (text == row.name) {
            return row.type;
        }
    }
    const ge::DataType type = ge::TypeUtils::SerialStringToDataType(text);
    if (type == ge::DT_UNDEFINED || type == ge::DT_MAX) {
        std::string known;
        for (const TypeRow& row : kTypes) {
            known += std::string(known.empty() ? "" : " ") + row.name;
        }
        Bad(where, "unknown data type '" + text + "'; known: " + known);
    }
    return type;
}

ge::Format ParseFormat(const std::string& where, const std::string& text)
{
    static const char prefix[] = "FORMAT_";
    const bool long_name = text.compare(0, sizeof(prefix) - 1, prefix) == 0;
    const ge::Format format = ge::TypeUtils::SerialStringToFormat(long_name ? text.substr(sizeof(prefix) - 1) : text);
    if (format == ge::FORMAT_RESERVED) {
        Bad(where, "unknown format '" + text + "'; use ND, NCHW, ...");
    }
    return format;
}

std::vector<int64_t> ParseDims(const std::string& where, const json& value)
{
    std::vector<int64_t> dims;
    for (const json& dim : List(where, value)) {
        dims.push_back(static_cast<int64_t>(Number(where, dim, 0, INT64_MAX)));
    }
    if (dims.size() > gert::Shape::kMaxDimNum) {
        Bad(where, "at most " + std::to_string(gert::Shape::kMaxDimNum) + " dimensions are possible");
    }
    return dims;
}

// A tensor without a shape has the one that the operator infers, which inputs can't; one without a file isn't given.
JobTensor ParseTensor(const std::string& where, const json& value, bool output)
{
    JobTensor tensor;
    tensor.where = where;
    tensor.infer = true;
    tensor.absent = true;
    ReadObject(where, value, {
        {"name", [&](const auto& at, const json& name) { tensor.name = Text(at, name); }},
        {"dtype", [&](const auto& at, const json& type) { tensor.data_type = ParseType(at, Text(at, type)); }},
        {"format", [&](const auto& at, const json& format) { tensor.format = ParseFormat(at, Text(at, format)); }},
        {"shape", [&](const auto& at, const json& shape) {
            tensor.dims = ParseDims(at, shape);
            tensor.infer = false;
        }},
        {"file", [&](const auto& at, const json& file) {
            tensor.file = Text(at, file);
            tensor.absent = false;
        }},
        {"initial", [&](const auto& at, const json& initial) {
            if (!output || !initial.is_number()) {
                Bad(at, "must be a number, and belongs to an output");
            }
            tensor.initial = initial.get<double>();
        }},
    });
    if (tensor.infer && !output) {
        Bad(where, "an input needs a shape");
    }
    if (!tensor.infer && !tensor.absent && tensor.Bytes() < 0) {
        Bad(where, "'" + tensor.name + "' is too large or its data type has no size");
    }
    return tensor;
}

Mode ParseMode(const std::string& where, const std::string& mode)
{
    if (mode != "describe" && mode != "tile" && mode != "run") {
        Bad(where, "must be describe, tile or run, not '" + mode + "'");
    }
    return mode == "describe" ? Mode::kDescribe : mode == "tile" ? Mode::kTile : Mode::kRun;
}

void ParseMachine(const std::string& where, const json& value, fe::MachineNumbers& machine)
{
    const auto number = [](auto& target, uint64_t low, uint64_t high) {
        return [&target, low, high](const auto& at, const json& found) {
            target = static_cast<std::decay_t<decltype(target)>>(Number(at, found, low, high));
        };
    };
    ReadObject(where, value, {
        {"soc", [&](const auto& at, const json& soc) { machine.soc = Text(at, soc); }},
        {"cores_aiv", number(machine.cores_aiv, 1, kMaxCores)},
        {"cores_aic", number(machine.cores_aic, 0, kMaxCores)},
        // The job says what a kernel may use, the description what there is.
        {"ub_bytes", [&](const auto& at, const json& bytes) {
            machine.ub_bytes = Number(at, bytes, 32, uint64_t(64) << 20) + machine.ub_reserved_bytes;
        }},
        {"l1_bytes", number(machine.l1_bytes, 0, kMaxBytes)},
        {"l0a_bytes", number(machine.l0a_bytes, 0, kMaxBytes)},
        {"l0b_bytes", number(machine.l0b_bytes, 0, kMaxBytes)},
        {"l0c_bytes", number(machine.l0c_bytes, 0, kMaxBytes)},
        {"l2_bytes", number(machine.l2_bytes, 0, kMaxBytes)},
        {"hbm_bytes", number(machine.hbm_bytes, 0, kMaxBytes)},
    });
}

// A library, or what cores it is for, by tiling key.
void ParseKernel(const std::string& where, const json& value, Job& job)
{
    std::string key = "*";
    std::string vector;
    std::string cube;
    ascendsim::KernelType type = ascendsim::KernelType::kAiv;
    bool has_type = false;
    ReadObject(where, value, {
        {"key", [&](const auto& at, const json& number) { key = std::to_string(Number(at, number, 0, UINT64_MAX)); }},
        {"vector", [&](const auto& at, const json& path) { vector = Text(at, path); }},
        {"cube", [&](const auto& at, const json& path) { cube = Text(at, path); }},
        {"type", [&](const auto& at, const json& name) {
            has_type = true;
            if (!ascendsim::ParseKernelType(Text(at, name), &type)) {
                Bad(at, "must be aiv, aic, mix_1_0, mix_1_1 or mix_1_2, not " + name.dump());
            }
        }},
    });
    if (!vector.empty()) {
        job.kernels[key] = vector;
    }
    if (!cube.empty()) {
        job.cube_kernels[key] = cube;
    }
    if (has_type) {
        job.kernel_types[key] = type;
    }
}

JobAttr ParseAttr(const std::string& where, const json& value)
{
    JobAttr attr;
    attr.where = where;
    ReadObject(where, value, {
        {"name", [&](const auto& at, const json& name) { attr.name = Text(at, name); }},
        {"type", [&](const auto& at, const json& type) { attr.type = Text(at, type); }},
        {"value", [&](const auto& at, const json& text) { attr.value = Text(at, text); }},
    });
    return attr;
}

// The blocks to run, and what to write of the outputs.
void ParseSample(const std::string& where, const json& value, Job& job)
{
    ReadObject(where, value, {
        {"blocks", [&](const auto& at, const json& blocks) {
            for (const json& block : List(at, blocks)) {
                job.blocks.push_back(static_cast<uint32_t>(Number(at, block, 0, kMaxCores)));
            }
            const auto unordered = [](uint32_t left, uint32_t right) { return left >= right; };
            if (job.blocks.empty() ||
                std::adjacent_find(job.blocks.begin(), job.blocks.end(), unordered) != job.blocks.end()) {
                Bad(at, "needs block numbers in increasing order");
            }
        }},
        {"ranges", [&](const auto& at, const json& ranges) {
            ReadEach(at, ranges, [&](const auto& place, const json& range) {
                JobRange found;
                ReadObject(place, range, {
                    {"output", [&](const auto& inner, const json& output) { found.output = Number(inner, output, 0, kMaxCores); }},
                    {"from", [&](const auto& inner, const json& from) { found.from = Number(inner, from, 0, kMaxBytes); }},
                    {"bytes", [&](const auto& inner, const json& bytes) { found.bytes = Number(inner, bytes, 1, kMaxBytes); }},
                });
                if (found.bytes == 0) {
                    Bad(place, "has no bytes");
                }
                job.ranges.push_back(found);
            });
        }},
    });
}
} // namespace

int64_t JobTensor::Bytes() const
{
    int64_t elements = 1;
    for (const int64_t dim : dims) {
        if (__builtin_mul_overflow(elements, dim, &elements)) {
            return -1;
        }
    }
    return ge::GetSizeInBytes(elements, data_type);
}

std::string FindResultPath(const std::string& text)
{
    const json job = json::parse(text, nullptr, false);
    try {
        return job.is_object() && job.contains("result") ? Text("result", job["result"]) : std::string();
    } catch (const Failure&) {
        return {};
    }
}

Job ParseJob(const std::string& text)
{
    const json value = json::parse(text, nullptr, false);
    if (value.is_discarded()) {
        throw Failure(kExitBadJob, "the job is no JSON");
    }
    Job job;
    bool has_mode = false;
    ReadObject("", value, {
        {"mode", [&](const auto& at, const json& mode) {
            job.mode = ParseMode(at, Text(at, mode));
            has_mode = true;
        }},
        {"host", [&](const auto& at, const json& path) { job.host = Text(at, path); }},
        {"operator", [&](const auto& at, const json& name) { job.op = Text(at, name); }},
        {"machine", [&](const auto& at, const json& machine) { ParseMachine(at, machine, job.machine); }},
        {"kernels", [&](const auto& at, const json& kernels) {
            ReadEach(at, kernels, [&](const auto& place, const json& kernel) { ParseKernel(place, kernel, job); });
        }},
        {"inputs", [&](const auto& at, const json& inputs) {
            ReadEach(at, inputs, [&](const auto& place, const json& tensor) {
                job.inputs.push_back(ParseTensor(place, tensor, false));
            });
        }},
        {"outputs", [&](const auto& at, const json& outputs) {
            ReadEach(at, outputs, [&](const auto& place, const json& tensor) {
                job.outputs.push_back(ParseTensor(place, tensor, true));
            });
        }},
        {"attributes", [&](const auto& at, const json& attrs) {
            ReadEach(at, attrs, [&](const auto& place, const json& attr) { job.attrs.push_back(ParseAttr(place, attr)); });
        }},
        {"trace", [&](const auto& at, const json& path) { job.trace = Text(at, path); }},
        {"result", [&](const auto& at, const json& path) { job.result = Text(at, path); }},
        {"poison", [&](const auto& at, const json& byte) { job.poison = static_cast<int>(Number(at, byte, 0, 255)); }},
        {"blocks_reversed", [&](const auto& at, const json& is) { job.blocks_reversed = Truth(at, is); }},
        {"fresh_tensors", [&](const auto& at, const json& is) { job.fresh_tensors = Truth(at, is); }},
        {"timing_only", [&](const auto& at, const json& is) { job.timing_only = Truth(at, is); }},
        {"sample", [&](const auto& at, const json& sample) { ParseSample(at, sample, job); }},
    });
    if (!has_mode) {
        throw Failure(kExitBadJob, "the job has no 'mode'");
    }
    if (job.host.empty()) {
        throw Failure(kExitBadJob, "the job has no 'host'");
    }
    if (job.result.empty()) {
        throw Failure(kExitBadJob, "the job has no 'result'");
    }
    return job;
}

std::string DataTypeName(ge::DataType type)
{
    for (const TypeRow& row : kTypes) {
        if (type == row.type) {
            return row.name;
        }
    }
    return ge::TypeUtils::DataTypeToSerialString(type);
}
} // namespace runner
