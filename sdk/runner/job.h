// A job: what to load, what to run it on, where the results go. JSON; a text that is no UTF-8, such as a path may be, is a list of
// its bytes there.
#ifndef ASCEND_SDK_RUNNER_JOB_H
#define ASCEND_SDK_RUNNER_JOB_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exe_graph/runtime/shape.h"
#include "graph/types.h"
#include "machine/machine.h"
#include "platform/platform_infos_def.h"

namespace runner {
enum class Mode { kDescribe, kTile, kRun };

struct JobTensor {
    std::string name;
    ge::DataType data_type = ge::DT_UNDEFINED;
    ge::Format format = ge::FORMAT_ND;
    std::vector<int64_t> dims;
    bool infer = false;  // output whose shape the operator decides
    bool absent = false; // optional parameter that is not given
    std::optional<double> initial; // what every element of an output is before the launch
    std::string file;    // empty: no data
    std::string where;   // in the job, for messages

    int64_t Bytes() const; // -1 when it does not fit
};

// Bytes of an output that a run of some blocks writes out, in this order.
struct JobRange {
    size_t output = 0; // position among the outputs
    uint64_t from = 0;
    uint64_t bytes = 0;
};

struct JobAttr {
    std::string name;
    std::string type;
    std::string value;
    std::string where;
};

struct Job {
    Mode mode = Mode::kDescribe;
    std::string host;
    // By tiling key (decimal) or "*": libraries for vector cores, for cube cores, and what cores the kernel runs on.
    std::map<std::string, std::string> kernels;
    std::map<std::string, std::string> cube_kernels;
    std::map<std::string, ascendsim::KernelType> kernel_types;
    std::string op;                             // empty: the only one of the library
    fe::MachineNumbers machine;
    std::vector<JobTensor> inputs;
    std::vector<JobTensor> outputs;
    std::vector<JobAttr> attrs;
    std::string trace;
    std::string result;
    int poison = -1; // -1: the machine's own
    bool blocks_reversed = false; // the last block starts first
    bool fresh_tensors = false; // what a queue hands out is filled with poison
    std::vector<uint32_t> blocks; // the blocks to run, in increasing order; empty: all
    std::vector<JobRange> ranges; // what to write of the outputs of such a run; outputs of a full run are written whole
    bool timing_only = false; // record instructions without data: inputs need no files, outputs are not written
};

// The `result` path of a job text even when the rest of it is wrong; empty when there is none.
std::string FindResultPath(const std::string& text);
// Throws Failure (bad job) with the place in it and the fix.
Job ParseJob(const std::string& text);

// Job names of data types ("float16"); other types keep their own names ("DT_INT4").
std::string DataTypeName(ge::DataType type);
} // namespace runner

#endif
