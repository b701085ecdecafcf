#include "job.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "failure.h"
#include "graph/utils/type_utils.h"

namespace runner {
namespace {
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

[[noreturn]] void Bad(size_t line, const std::string& message)
{
    throw Failure(kExitBadJob, "job line " + std::to_string(line) + ": " + message);
}

int HexDigit(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// What stands at a backslash in quotes: a byte by its code, or the next letter itself. Moves behind it.
char Escaped(const std::string& line, size_t& i)
{
    ++i;
    if (line[i] == 'x' && i + 2 < line.size()) {
        const int high = HexDigit(line[i + 1]);
        const int low = HexDigit(line[i + 2]);
        if (high >= 0 && low >= 0) {
            i += 3;
            return static_cast<char>(high * 16 + low);
        }
    }
    return line[i++];
}

// Splits a line into words. False at an open quote.
bool Split(const std::string& line, std::vector<std::string>& words)
{
    size_t i = 0;
    while (i < line.size()) {
        if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
            ++i;
            continue;
        }
        std::string word;
        if (line[i] == '"') {
            ++i;
            while (i < line.size() && line[i] != '"') {
                const bool escaped = line[i] == '\\' && i + 1 < line.size();
                word += escaped ? Escaped(line, i) : line[i++];
            }
            if (i == line.size()) {
                return false;
            }
            ++i;
        } else {
            while (i < line.size() && line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
                word += line[i++];
            }
        }
        words.push_back(word);
    }
    return true;
}

uint64_t Number(size_t line, const std::string& key, const std::string& text, uint64_t low, uint64_t high)
{
    errno = 0;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || errno != 0 || value < low || value > high) {
        Bad(line, key + " must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                      ", not '" + text + "'");
    }
    return value;
}

ge::DataType ParseType(size_t line, const std::string& text)
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
        Bad(line, "unknown data type '" + text + "'; known: " + known);
    }
    return type;
}

ge::Format ParseFormat(size_t line, const std::string& text)
{
    static const char prefix[] = "FORMAT_";
    const bool long_name = text.compare(0, sizeof(prefix) - 1, prefix) == 0;
    const ge::Format format = ge::TypeUtils::SerialStringToFormat(long_name ? text.substr(sizeof(prefix) - 1) : text);
    if (format == ge::FORMAT_RESERVED) {
        Bad(line, "unknown format '" + text + "'; use ND, NCHW, ...");
    }
    return format;
}

std::vector<int64_t> ParseDims(size_t line, const std::string& text)
{
    std::vector<int64_t> dims;
    if (text == "scalar") {
        return dims;
    }
    size_t from = 0;
    while (from <= text.size()) {
        const size_t to = text.find('x', from);
        const std::string part = text.substr(from, to == std::string::npos ? std::string::npos : to - from);
        dims.push_back(static_cast<int64_t>(Number(line, "dimension", part, 0, INT64_MAX)));
        if (to == std::string::npos) {
            break;
        }
        from = to + 1;
    }
    if (dims.size() > gert::Shape::kMaxDimNum) {
        Bad(line, "at most " + std::to_string(gert::Shape::kMaxDimNum) + " dimensions are possible");
    }
    return dims;
}

TensorLine ParseTensor(size_t line, const std::vector<std::string>& words)
{
    if (words.size() != 6) {
        Bad(line, "'" + words[0] + "' needs NAME DTYPE FORMAT DIMS FILE");
    }
    TensorLine tensor;
    tensor.line = line;
    tensor.name = words[1];
    tensor.data_type = ParseType(line, words[2]);
    tensor.format = ParseFormat(line, words[3]);
    const bool output = words[0] == "output";
    if (words[4] == "infer") {
        if (!output) {
            Bad(line, "only outputs may have the shape 'infer'");
        }
        tensor.infer = true;
    } else {
        tensor.dims = ParseDims(line, words[4]);
    }
    if (words[5] == "-") {
        tensor.absent = true;
    } else {
        tensor.file = words[5];
    }
    if (!tensor.infer && !tensor.absent && tensor.Bytes() < 0) {
        Bad(line, "'" + tensor.name + "' is too large or its data type has no size");
    }
    return tensor;
}

void ParseLine(size_t line, const std::vector<std::string>& words, Job& job)
{
    const std::string& key = words[0];
    const auto value = [&]() -> const std::string& {
        if (words.size() != 2) {
            Bad(line, "'" + key + "' needs exactly one value");
        }
        return words[1];
    };
    const auto number = [&](uint64_t low, uint64_t high) { return Number(line, key, value(), low, high); };
    constexpr uint64_t kMaxBytes = uint64_t(1) << 46;
    constexpr uint64_t kMaxCores = 65535;
    if (key == "mode") {
        const std::string& mode = value();
        if (mode != "describe" && mode != "tile" && mode != "run") {
            Bad(line, "mode must be describe, tile or run, not '" + mode + "'");
        }
        job.mode = mode == "describe" ? Mode::kDescribe : mode == "tile" ? Mode::kTile : Mode::kRun;
    } else if (key == "host") {
        job.host = value();
    } else if (key == "kernel" || key == "kernel_cube" || key == "kernel_type") {
        if (words.size() != 3) {
            Bad(line, "'" + key + "' needs KEY and " + (key == "kernel_type" ? "TYPE" : "PATH"));
        }
        if (words[1] != "*") {
            (void)Number(line, "kernel key", words[1], 0, UINT64_MAX);
        }
        if (key != "kernel_type") {
            (key == "kernel" ? job.kernels : job.cube_kernels)[words[1]] = words[2];
        } else if (!ascendsim::ParseKernelType(words[2], &job.kernel_types[words[1]])) {
            Bad(line, "kernel type must be aiv, aic, mix_1_0, mix_1_1 or mix_1_2, not '" + words[2] + "'");
        }
    } else if (key == "op") {
        job.op = value();
    } else if (key == "soc") {
        job.machine.soc = value();
    } else if (key == "cores_aiv") {
        job.machine.cores_aiv = static_cast<uint32_t>(number(1, kMaxCores));
    } else if (key == "cores_aic") {
        job.machine.cores_aic = static_cast<uint32_t>(number(0, kMaxCores));
    } else if (key == "ub_bytes") {
        // The job says what a kernel may use, the description what there is.
        job.machine.ub_bytes = number(32, uint64_t(64) << 20) + job.machine.ub_reserved_bytes;
    } else if (key == "l1_bytes") {
        job.machine.l1_bytes = number(0, kMaxBytes);
    } else if (key == "l0a_bytes") {
        job.machine.l0a_bytes = number(0, kMaxBytes);
    } else if (key == "l0b_bytes") {
        job.machine.l0b_bytes = number(0, kMaxBytes);
    } else if (key == "l0c_bytes") {
        job.machine.l0c_bytes = number(0, kMaxBytes);
    } else if (key == "l2_bytes") {
        job.machine.l2_bytes = number(0, kMaxBytes);
    } else if (key == "hbm_bytes") {
        job.machine.hbm_bytes = number(0, kMaxBytes);
    } else if (key == "input") {
        job.inputs.push_back(ParseTensor(line, words));
    } else if (key == "output") {
        job.outputs.push_back(ParseTensor(line, words));
    } else if (key == "attr") {
        if (words.size() != 3 && words.size() != 4) {
            Bad(line, "'attr' needs NAME TYPE VALUE");
        }
        job.attrs.push_back({words[1], words[2], words.size() == 4 ? words[3] : "", line});
    } else if (key == "trace") {
        job.trace = value();
    } else if (key == "poison") {
        job.poison = static_cast<int>(number(0, 255));
    } else if (key == "blocks_reversed") {
        job.blocks_reversed = number(0, 1) != 0;
    } else if (key == "fresh_tensors") {
        job.fresh_tensors = number(0, 1) != 0;
    } else if (key == "blocks") {
        for (size_t i = 1; i < words.size(); ++i) {
            job.blocks.push_back(static_cast<uint32_t>(Number(line, key, words[i], 0, kMaxCores)));
        }
        const auto unordered = [](uint32_t left, uint32_t right) { return left >= right; };
        if (job.blocks.empty() ||
            std::adjacent_find(job.blocks.begin(), job.blocks.end(), unordered) != job.blocks.end()) {
            Bad(line, "'blocks' needs block numbers in increasing order");
        }
    } else if (key == "range") {
        if (words.size() != 4) {
            Bad(line, "'range' needs OUTPUT FROM BYTES");
        }
        const uint64_t output = Number(line, key, words[1], 0, kMaxCores);
        job.ranges.push_back({output, Number(line, key, words[2], 0, kMaxBytes), Number(line, key, words[3], 1, kMaxBytes)});
    } else if (key == "timing_only") {
        job.timing_only = number(0, 1) != 0;
    } else if (key == "result") {
        job.result = value();
    } else {
        Bad(line, "unknown key '" + key + "'");
    }
}

// Calls take(line number, text) for every line.
template <typename Take>
void ForEachLine(const std::string& text, const Take& take)
{
    size_t line = 0;
    size_t from = 0;
    while (from < text.size()) {
        size_t to = text.find('\n', from);
        to = to == std::string::npos ? text.size() : to;
        take(++line, text.substr(from, to - from));
        from = to + 1;
    }
}
} // namespace

int64_t TensorLine::Bytes() const
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
    std::string path;
    ForEachLine(text, [&](size_t, const std::string& line) {
        std::vector<std::string> words;
        if (Split(line, words) && words.size() == 2 && words[0] == "result") {
            path = words[1];
        }
    });
    return path;
}

Job ParseJob(const std::string& text)
{
    Job job;
    bool has_mode = false;
    ForEachLine(text, [&](size_t number, const std::string& line) {
        std::vector<std::string> words;
        if (!Split(line, words)) {
            Bad(number, "a quoted value does not end");
        }
        if (words.empty() || words[0][0] == '#') {
            return;
        }
        ParseLine(number, words, job);
        has_mode = has_mode || words[0] == "mode";
    });
    if (!has_mode) {
        throw Failure(kExitBadJob, "the job has no 'mode' line");
    }
    if (job.host.empty()) {
        throw Failure(kExitBadJob, "the job has no 'host' line");
    }
    if (job.result.empty()) {
        throw Failure(kExitBadJob, "the job has no 'result' line");
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
