// One call of an operator: the job's tensors put in the order of the definition, as contexts and kernels want them.
#ifndef ASCEND_SDK_RUNNER_CALL_H
#define ASCEND_SDK_RUNNER_CALL_H

#include <string>
#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "files.h"
#include "job.h"
#include "operator_view.h"

namespace runner {
// A parameter of the definition and the tensors that the job passes for it: none for an absent optional one,
// several for a dynamic one.
struct Parameter {
    std::string name;
    bool dynamic = false;
    std::vector<size_t> instances; // indices into Call::job_inputs or Call::job_outputs
};

struct Call {
    OperatorView view;
    gert::ComputeNodeInfo node;
    std::vector<Parameter> inputs;
    std::vector<Parameter> outputs;
    std::vector<JobTensor> job_inputs; // instances in the order of the definition
    std::vector<JobTensor> job_outputs;
    std::vector<JobTensor> changed; // outputs of the job of an operator that defines none: inputs that it changes
    std::vector<MappedFile> input_data; // of job_inputs
    std::vector<gert::Tensor> input_tensors;
    std::vector<gert::Tensor> output_tensors;
};

// Throws Failure (bad job) when the job and the definition do not fit, or an input file is missing or has a wrong size
// (mode tile does without files: the values are then unknown to the tiling function; in a run that is only timed the tensors
// have addresses, and touching them is a fault).
Call BuildCall(const Job& job, OperatorView view);

// Decides the shapes of outputs that the job leaves to the operator. Empty on success, else what went wrong.
std::string InferOutputShapes(Call& call);
} // namespace runner

#endif
