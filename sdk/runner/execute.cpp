#include "execute.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "ascendsim/core.h"
#include "failure.h"
#include "in_place.h"
#include "initial_values.h"
#include "operator_view.h"

namespace runner {
using ascendsim::RegionRole;

namespace {
// Workspaces from here on are poisoned by mapping one page sequence again and again instead of writing every byte:
// operators ask for megabytes of library space that most of them never touch.
constexpr size_t kLazyBytes = size_t(1) << 20;

uint8_t* Allocate(size_t size, RegionRole role, uint32_t index)
{
    void* const base = ascendsim::AllocateRegion(size, role, index);
    if (base == nullptr) {
        throw Failure(kExitBadJob, "out of memory for a tensor of " + std::to_string(size) + " bytes");
    }
    return static_cast<uint8_t*>(base);
}

// A region that is mapped: the content of a file, or poison where `file` is empty. Where some blocks run, most of it is never touched.
uint8_t* Map(size_t size, RegionRole role, uint32_t index, const std::string& file)
{
    const int fd = file.empty() ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    void* const base = file.empty() || fd >= 0 ? ascendsim::MapRegion(size, role, index, fd) : nullptr;
    const int error = errno;
    if (fd >= 0) {
        (void)::close(fd);
    }
    if (base == nullptr) {
        throw Failure(!file.empty() && fd < 0 ? kExitMachine : kExitBadJob, "cannot map " + std::to_string(size) + " bytes of " +
                                       (file.empty() ? "poison" : file) + ": " + std::strerror(error));
    }
    return static_cast<uint8_t*>(base);
}

// What the job's ranges say of one output, one after the other.
std::vector<uint8_t> WrittenPart(const Job& job, size_t output, const uint8_t* base, uint64_t size)
{
    std::vector<uint8_t> part;
    for (const JobRange& range : job.ranges) {
        if (range.output != output) {
            continue;
        }
        if (range.from > size || range.bytes > size - range.from) {
            throw Failure(kExitBadJob, "a range ends behind output " + std::to_string(output) + " of " +
                                           std::to_string(size) + " bytes");
        }
        part.insert(part.end(), base + range.from, base + range.from + range.bytes);
    }
    return part;
}

// What a kernel gets for a dynamic parameter: a list in global memory. Word 0 is the byte distance to the table of
// addresses; before it stands, per tensor, a word with rank (low half) and index (high half) and then its dimensions.
uint8_t* TensorList(const Parameter& parameter, const std::vector<JobTensor>& tensors,
                    const std::vector<uint8_t*>& addresses, uint32_t index)
{
    std::vector<uint64_t> words(1);
    for (size_t i = 0; i < parameter.instances.size(); ++i) {
        const std::vector<int64_t>& dims = tensors[parameter.instances[i]].dims;
        words.push_back((static_cast<uint64_t>(i) << 32) | dims.size());
        words.insert(words.end(), dims.begin(), dims.end());
    }
    words[0] = words.size() * sizeof(uint64_t);
    for (const size_t instance : parameter.instances) {
        words.push_back(reinterpret_cast<uint64_t>(addresses[instance]));
    }
    const size_t bytes = words.size() * sizeof(uint64_t);
    uint8_t* const list = Allocate(bytes, RegionRole::kOther, index);
    (void)std::memcpy(list, words.data(), bytes);
    return list;
}

struct Kernel {
    void (*entry)(void**, unsigned) = nullptr;
    std::string name;
};

Kernel LoadKernel(const std::string& path)
{
    SetStage("loading the kernel library");
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* const reason = ::dlerror();
        throw Failure(kExitBadLibrary, "cannot load kernel library: " + std::string(reason == nullptr ? path : reason));
    }
    Kernel kernel;
    kernel.entry = reinterpret_cast<void (*)(void**, unsigned)>(::dlsym(library, "ascend_tune_entry"));
    if (kernel.entry == nullptr) {
        throw Failure(kExitBadLibrary, "kernel library " + path + " has no function ascend_tune_entry");
    }
    const char* const name = static_cast<const char*>(::dlsym(library, "ascend_tune_kernel_name"));
    kernel.name = name == nullptr ? "kernel" : name;
    return kernel;
}

// The data type that stands for the call in the trace: that of its first tensor.
std::string TraceDataType(const Call& call)
{
    const auto& tensors = call.job_inputs.empty() ? call.job_outputs : call.job_inputs;
    return tensors.empty() ? "" : DataTypeName(tensors[0].data_type);
}

struct Arguments {
    void (*vector)(void**, unsigned);
    void (*cube)(void**, unsigned);
    std::vector<void*> values;
};

void RunBlock(void* raw)
{
    const Arguments& arguments = *static_cast<const Arguments*>(raw);
    // Each core gets a list of its own, as it gets its own parameters.
    std::vector<void*> values = arguments.values;
    const auto entry = ascendsim::OnCubeCore() ? arguments.cube : arguments.vector;
    entry(values.data(), static_cast<unsigned>(values.size()));
}

// Loads a library unless it is not needed, and keeps its data apart for each core.
Kernel LoadFor(const std::string& path)
{
    if (path.empty()) {
        return Kernel();
    }
    const Kernel kernel = LoadKernel(path);
    ascendsim::AddKernelModule(reinterpret_cast<const void*>(kernel.entry));
    return kernel;
}
} // namespace

KernelChoice KernelFor(const Job& job, uint64_t tiling_key)
{
    const std::string key = std::to_string(tiling_key);
    const auto find = [&key](const auto& entries, auto fallback) {
        const auto own = entries.find(key);
        const auto found = own != entries.end() ? own : entries.find("*");
        return found != entries.end() ? found->second : fallback;
    };
    KernelChoice choice;
    choice.type = find(job.kernel_types, ascendsim::KernelType::kAiv);
    const bool vector = choice.type != ascendsim::KernelType::kAic && choice.type != ascendsim::KernelType::kMix10;
    const bool cube = choice.type != ascendsim::KernelType::kAiv;
    choice.vector = vector ? find(job.kernels, std::string()) : "";
    choice.cube = cube ? find(job.cube_kernels, std::string()) : "";
    const bool complete = (!vector || !choice.vector.empty()) && (!cube || !choice.cube.empty());
    if (!complete) {
        const char* const what = cube && vector ? "kernels for vector and cube cores" : cube ? "kernel for cube cores" : "kernel";
        choice.missing = std::string("the job has no ") + what + " for tiling key " + key;
    }
    return choice;
}

Execution RunKernel(const Job& job, const Call& call, const Tiling& tiling, const KernelChoice& choice)
{
    const Kernel kernel = LoadFor(choice.vector);
    const Kernel cube = LoadFor(choice.cube);
    SetStage("setting up global memory");
    ascendsim::SetSocName(job.machine.soc);
    ascendsim::SetCoreCount(job.machine.cores_aiv);
    ascendsim::SetCubeCoreCount(job.machine.cores_aic);
    ascendsim::SetUbSize(job.machine.ub_bytes - job.machine.ub_reserved_bytes);
    if (job.poison >= 0) {
        ascendsim::SetPoison(static_cast<uint8_t>(job.poison));
    }
    ascendsim::SetBlocksReversed(job.blocks_reversed);
    ascendsim::SetTimingOnly(job.timing_only);
    ascendsim::SetFreshTensors(job.fresh_tensors);
    const bool sampled = !job.blocks.empty();
    if (sampled && (choice.type != ascendsim::KernelType::kAiv || job.blocks.back() >= tiling.decision.block_dim)) {
        throw Failure(kExitBadJob, "'blocks' takes blocks of a kernel of vector cores, here there are " +
                                       std::to_string(tiling.decision.block_dim));
    }
    ascendsim::SetChosenBlocks(job.blocks);

    // An output that is an input changed in place is one region with it; it has values before the launch.
    const std::vector<size_t> twins = InPlaceTwins(call.job_inputs, call.job_outputs);
    std::vector<uint8_t*> inputs;
    std::vector<uint8_t*> outputs(call.job_outputs.size(), nullptr);
    for (size_t i = 0; i < call.job_inputs.size(); ++i) {
        const JobTensor& given = call.job_inputs[i];
        const bool shared = twins[i] != kNoTwin;
        const size_t size = static_cast<size_t>(given.Bytes());
        const RegionRole role = shared ? RegionRole::kUpdated : RegionRole::kInput;
        const auto index = static_cast<uint32_t>(shared ? twins[i] : i);
        uint8_t* const base = sampled ? Map(size, role, index, given.file) : Allocate(size, role, index);
        if (size > 0 && !job.timing_only && !sampled) {
            (void)std::memcpy(base, call.input_data[i].Data(), size);
        }
        inputs.push_back(base);
        if (shared) {
            outputs[twins[i]] = base;
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] != nullptr) {
            continue;
        }
        const JobTensor& given = call.job_outputs[i];
        const std::optional<double> initial = InitialValue(call.view.outputs, given);
        const RegionRole role = initial ? RegionRole::kUpdated : RegionRole::kOutput;
        const auto size = static_cast<size_t>(given.Bytes());
        const auto index = static_cast<uint32_t>(i);
        outputs[i] = sampled ? Map(size, role, index, "") : Allocate(size, role, index);
        if (initial && !job.timing_only) {
            FillInitialValue(*initial, given, outputs[i]);
        }
    }
    const auto& sizes = tiling.decision.workspace_bytes;
    const size_t workspace_bytes = sizes.empty() ? 0 : sizes[0];
    if (workspace_bytes > (size_t(1) << 40)) {
        throw Failure(kExitBadJob, "the tiling function asks for a workspace of " + std::to_string(workspace_bytes) +
                                       " bytes");
    }
    const bool lazy = workspace_bytes >= kLazyBytes && !job.timing_only;
    uint8_t* const workspace = lazy ? Map(workspace_bytes, RegionRole::kWorkspace, 0, "") :
                                      Allocate(workspace_bytes, RegionRole::kWorkspace, 0);
    // The device rounds the copy of the tiling data up; kernels may read the padding of their struct.
    const size_t tiling_bytes = (std::max(tiling.data.size(), LargestTilingBytes(call.view.type)) + 7) / 8 * 8;
    uint8_t* const tiling_base = Allocate(tiling_bytes, RegionRole::kTiling, 0);
    if (tiling_bytes > 0) {
        (void)std::memset(tiling_base, 0, tiling_bytes);
        (void)std::memcpy(tiling_base, tiling.data.data(), tiling.data.size());
    }

    Arguments arguments{kernel.entry, cube.entry, {}};
    uint32_t lists = 0;
    const auto add = [&](const std::vector<Parameter>& parameters, const std::vector<JobTensor>& tensors,
                         const std::vector<uint8_t*>& addresses) {
        for (const Parameter& parameter : parameters) {
            if (parameter.dynamic) {
                arguments.values.push_back(TensorList(parameter, tensors, addresses, lists++));
            } else {
                arguments.values.push_back(parameter.instances.empty() ? nullptr : addresses[parameter.instances[0]]);
            }
        }
    };
    add(call.inputs, call.job_inputs, inputs);
    add(call.outputs, call.job_outputs, outputs);
    if (WritesShapes(call.view)) {
        const size_t bytes = call.view.outputs.size() * kShapeNumbers * sizeof(uint64_t);
        arguments.values.push_back(Allocate(bytes, RegionRole::kWorkspace, 1));
    }
    arguments.values.push_back(workspace);
    arguments.values.push_back(tiling_base);

    if (!job.trace.empty() && !ascendsim::OpenTrace(job.trace)) {
        throw Failure(kExitMachine, "cannot write trace file " + job.trace);
    }
    ascendsim::LaunchInfo info;
    info.kernel = choice.vector.empty() ? cube.name : kernel.name;
    info.type = choice.type;
    info.block_dim = tiling.decision.block_dim;
    info.tiling_key = tiling.decision.tiling_key;
    info.schedule_mode = tiling.decision.schedule_mode;
    info.dtype = TraceDataType(call);
    const bool unset = std::all_of(tiling.data.begin(), tiling.data.end(), [](uint8_t byte) { return byte == 0; });
    SetStage(unset && !tiling.data.empty() ? "running the kernel, whose tiling data are all zero (is SaveToBuffer missing?)" :
                                             "running the kernel");
    Execution execution;
    {
        const HostSeal seal;
        execution.launch = ascendsim::RunLaunch(info, &RunBlock, &arguments);
    }
    SetStage("writing the outputs");
    execution.guards_intact = ascendsim::GuardsIntact();
    if (!job.trace.empty() && !ascendsim::CloseTrace()) {
        throw Failure(kExitMachine, "cannot write trace file " + job.trace + " (is the disk full?)");
    }
    for (size_t i = 0; i < outputs.size() && !job.timing_only; ++i) {
        const JobTensor& given = call.job_outputs[i];
        const auto size = static_cast<size_t>(given.Bytes());
        const std::vector<uint8_t> part = sampled ? WrittenPart(job, i, outputs[i], size) : std::vector<uint8_t>();
        WriteFileAtomically(given.file, sampled ? part.data() : outputs[i], sampled ? part.size() : size);
    }
    const std::vector<size_t> changed = InPlaceTwins(call.job_inputs, call.changed);
    for (size_t i = 0; i < inputs.size() && !job.timing_only; ++i) {
        if (changed[i] != kNoTwin) {
            const JobTensor& given = call.changed[changed[i]];
            WriteFileAtomically(given.file, inputs[i], static_cast<size_t>(given.Bytes()));
        }
    }
    return execution;
}
} // namespace runner
