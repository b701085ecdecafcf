// ascend_sim_runner JOBFILE...
//
// Loads an operator's host library and describes it (mode describe), runs its tiling function (tile), or runs tiling
// and kernel (run). The result is a JSON file, also on failure.
// Exit codes: 0 a result was written; 2 the job is wrong; 3 a library cannot be loaded.
// Of several jobs each is done by a child of its own; 0 then says that all were tried.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "execute.h"
#include "failure.h"
#include "files.h"
#include "host/log_ring.h"
#include "initial_values.h"
#include "job.h"
#include "json.h"
#include "operator_view.h"
#include "tile.h"

namespace runner {
namespace {
const char* g_stage = "starting";

// The run that is only timed, while there is one: its inputs have addresses and no content.
class Watch {
public:
    Watch(const Job& job, const Call& call) : job_(job), call_(call)
    {
        current = job.timing_only ? this : nullptr;
    }
    ~Watch()
    {
        current = nullptr;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Ends the process with a result when it has faulted at an input: shape inference or tiling function read it.
    void Fault(const void* address) const;

    static const Watch* current;

private:
    const Job& job_;
    const Call& call_;
};
const Watch* Watch::current = nullptr;

// Says what was going on and dies of the same signal, so that the parent sees the crash as it is.
void OnCrash(int signal_number, siginfo_t* info, void*)
{
    if (signal_number == SIGSEGV && Watch::current != nullptr) {
        Watch::current->Fault(info->si_addr);
    }
    const char* const parts[] = {"ascend_sim_runner: crashed while ", g_stage, "\n"};
    for (const char* const part : parts) {
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) {
            break;
        }
    }
    (void)std::signal(signal_number, SIG_DFL);
    (void)std::raise(signal_number);
}

void WriteLog(Json& json)
{
    json.Key("log").BeginArray();
    for (const std::string& given : ascendsim::host::RecentLogLines()) {
        json.String(given);
    }
    json.EndArray();
}

std::string ErrorResult(const char* status, const std::string& message)
{
    Json json;
    json.BeginObject().Key("status").String(status).Key("message").String(message);
    WriteLog(json);
    json.EndObject();
    return json.Text();
}

void Watch::Fault(const void* address) const
{
    for (size_t i = 0; i < call_.input_data.size(); ++i) {
        if (call_.input_data[i].Holds(address)) {
            const std::string message = "input '" + call_.job_inputs[i].name + "' is read while " + g_stage;
            const std::string result = ErrorResult("needs_data", message);
            WriteFileAtomically(job_.result, result.data(), result.size());
            ::_exit(kExitOk);
        }
    }
}

std::string Hexadecimal(const std::vector<uint8_t>& bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const uint8_t byte : bytes) {
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

void WriteTiling(Json& json, const Tiling& tiling)
{
    json.Key("tiling_key").Unsigned(tiling.decision.tiling_key);
    json.Key("block_dim").Unsigned(tiling.decision.block_dim);
    json.Key("workspace").BeginArray();
    for (const size_t bytes : tiling.decision.workspace_bytes) {
        json.Unsigned(bytes);
    }
    json.EndArray().Key("tiling_size").Unsigned(tiling.data.size()).Key("tiling_hex").String(Hexadecimal(tiling.data));
    json.Key("schedule_mode").Unsigned(tiling.decision.schedule_mode);
}

void WriteOutputs(Json& json, const Call& call)
{
    json.Key("outputs").BeginArray();
    for (const JobTensor& given : call.job_outputs) {
        json.BeginObject().Key("name").String(given.name).Key("dims").BeginArray();
        for (const int64_t dim : given.dims) {
            json.Int(dim);
        }
        json.EndArray().Key("bytes").Unsigned(static_cast<uint64_t>(std::max<int64_t>(given.Bytes(), 0)));
        if (const std::optional<double> initial = InitialValue(call.view.outputs, given)) {
            JobTensor element = given;
            element.dims = {1};
            std::vector<uint8_t> value(static_cast<size_t>(element.Bytes()));
            FillInitialValue(*initial, element, value.data());
            json.Key("initial").String(Hexadecimal(value));
        }
        json.EndObject();
    }
    json.EndArray();
}

// The kernel's parameters before workspace and tiling data: how many of the call's tensors each takes; a list of them is passed
// by its address.
void WriteParameters(Json& json, const char* name, const std::vector<Parameter>& parameters)
{
    json.Key(name).BeginArray();
    for (const Parameter& parameter : parameters) {
        json.BeginObject().Key("name").String(parameter.name).Key("dynamic").Bool(parameter.dynamic);
        json.Key("tensors").Unsigned(parameter.instances.size()).EndObject();
    }
    json.EndArray();
}

std::string TileOrRun(const Job& job)
{
    Call call = BuildCall(job, SelectOperator(job));
    const Watch watch(job, call);
    const std::string unknown = InferOutputShapes(call);
    if (!unknown.empty()) {
        return ErrorResult("error", unknown);
    }
    const Tiling tiling = RunTiling(job, call);
    std::string status = tiling.error.empty() ? "ok" : "tiling_failed";
    std::string message = tiling.error;
    Execution execution;
    bool ran = false;
    if (job.mode == Mode::kRun && tiling.error.empty()) {
        const KernelChoice kernel = KernelFor(job, tiling.decision.tiling_key);
        if (!kernel.missing.empty()) {
            status = "kernel_missing";
            message = kernel.missing;
        } else {
            execution = RunKernel(job, call, tiling, kernel);
            ran = true;
        }
    }
    if (ran && !execution.launch.data_read.empty()) {
        status = "needs_data";
        message = execution.launch.data_read;
    }
    Json json;
    json.BeginObject().Key("status").String(status).Key("message").String(message);
    WriteLog(json);
    WriteTiling(json, tiling);
    WriteOutputs(json, call);
    WriteParameters(json, "input_parameters", call.inputs);
    WriteParameters(json, "output_parameters", call.outputs);
    json.Key("writes_shapes").Bool(WritesShapes(call.view));
    json.Key("knobs_read").BeginArray();
    for (const std::string& name : ascendsim::KnobsRead()) {
        json.String(name);
    }
    json.EndArray();
    if (ran) {
        json.Key("completed").Bool(execution.launch.completed).Key("faults").Unsigned(execution.launch.faults);
        json.Key("first_fault").String(execution.launch.first_fault);
        json.Key("guards_intact").Bool(execution.guards_intact);
    }
    if (status == "needs_data") {
        json.Key("site").Unsigned(execution.launch.data_read_site);
        json.Key("modules").String(ascendsim::LoadedModules());
    }
    json.EndObject();
    return json.Text();
}

int Complain(const std::string& result_path, ExitCode code, const std::string& message)
{
    (void)std::fprintf(stderr, "ascend_sim_runner: %s\n", message.c_str());
    if (!result_path.empty()) {
        const std::string result = ErrorResult("error", message);
        try {
            WriteFileAtomically(result_path, result.data(), result.size());
        } catch (const Failure& second) {
            (void)std::fprintf(stderr, "ascend_sim_runner: %s\n", second.what());
        }
    }
    return code;
}

int RunJob(const char* path)
{
    std::string result_path;
    try {
        const std::string text = ReadText(path);
        result_path = FindResultPath(text);
        const Job job = ParseJob(text);
        // Nobody else has to know what is asked. The operator's code is loaded next.
        (void)std::remove(path);
        LoadHostLibrary(job.host);
        const std::string result = job.mode == Mode::kDescribe ? DescribeLibrary(job) : TileOrRun(job);
        WriteFileAtomically(job.result, result.data(), result.size());
        return kExitOk;
    } catch (const Failure& failure) {
        return Complain(result_path, failure.Code(), failure.what());
    } catch (const std::exception& error) {
        // Thrown by the operator's own code: a verdict on it, not on the job.
        const std::string message = std::string("exception while ") + g_stage + ": " + error.what();
        (void)Complain(result_path, kExitOk, message);
        return result_path.empty() ? kExitBadJob : kExitOk;
    }
}

// Does each job in a child of its own, which begins where a process for it alone would: no operator's code is loaded here. What a child
// could not do is seen by its missing result.
int RunJobs(int count, char** paths)
{
    for (int i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child < 0) {
            (void)std::fprintf(stderr, "ascend_sim_runner: cannot start a process: %s\n", std::strerror(errno));
            return kExitMachine;
        }
        if (child == 0) {
            const int code = RunJob(paths[i]);
            (void)std::fflush(nullptr);
            ::_exit(code);
        }
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    return kExitOk;
}
} // namespace

void SetStage(const char* stage)
{
    g_stage = stage;
}
} // namespace runner

int main(int argc, char** argv)
{
    if (argc < 2) {
        (void)std::fprintf(stderr, "usage: ascend_sim_runner JOBFILE...\n");
        return runner::kExitBadJob;
    }
    for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        struct sigaction action = {};
        action.sa_sigaction = runner::OnCrash;
        action.sa_flags = SA_SIGINFO;
        (void)sigaction(signal_number, &action, nullptr);
    }
    const int code = argc == 2 ? runner::RunJob(argv[1]) : runner::RunJobs(argc - 1, argv + 1);
    (void)std::fflush(nullptr);
    // Destructors of loaded libraries have nothing to do for us and may crash after the result is safe.
    ::_exit(code);
}
