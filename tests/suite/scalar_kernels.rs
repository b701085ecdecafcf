//! Kernels that take elements of global memory one by one on one core, as somebody writes them who only wants the right answer.

use crate::support::{Project, edited, require_tools};

const MANIFEST: &str = r#"
[operator]
name = "GeluNaive"
layout = "msopgen"
kernel = "gelu_naive"
sources = ["op_host/gelu_naive.cpp", "op_kernel/gelu_naive.cpp"]

[[case]]
name = "65536"
inputs = [{ name = "x", dtype = "float32", shape = [65536], range = [-3, 3] }]
outputs = [{ name = "y", dtype = "float32", shape = [65536] }]

[[case]]
name = "odd"
verify-only = true
inputs = [{ name = "x", dtype = "float32", shape = [2331], range = [-3, 3] }]
outputs = [{ name = "y", dtype = "float32", shape = [2331] }]

[verify]
seeds = 1
probes = 3
"#;

const KERNEL: &str = r#"#include "kernel_operator.h"

class Cubic {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length)
    {
        this->length = length;
        xGm.SetGlobalBuffer((__gm__ float *)x, length);
        yGm.SetGlobalBuffer((__gm__ float *)y, length);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < length; i++) {
            float v = xGm.GetValue(i);
            yGm.SetValue(i, v * v * v + v);
        }
    }

private:
    AscendC::GlobalTensor<float> xGm, yGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void gelu_naive(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Cubic op;
    op.Init(x, y, data.totalLength);
    op.Process();
}
"#;

#[test]
fn scalars_of_one_core_become_tiles_and_vectors_of_all() {
    require_tools!();
    let project = Project::fixture("gelu_naive");
    let host = "op_host/gelu_naive.cpp";
    let launch = "context->SetBlockDim((totalLength + blockLength - 1) / blockLength);";
    project.write(host, &edited(&project.read(host), launch, "context->SetBlockDim(1);"));
    project.write("op_kernel/gelu_naive.cpp", KERNEL);
    project.write("ascend.toml", MANIFEST);
    let ended = project.run(&["run", "--budget", "8", "--seed", "1", "--stage", "kernel"]).expect(0);
    let summary = ended.events.last().expect("a summary");
    assert!(summary["speedup"].as_f64().is_some_and(|speedup| speedup > 20.0), "{summary}");
    let kernel = project.read("op_kernel/gelu_naive.cpp");
    for part in
        ["first = share * AscendC::GetBlockIdx();", "LocalTensor<float> xTile = xIn.DeQue<float>();", "AscendC::Mul("]
    {
        assert!(kernel.contains(part), "{part}\n{kernel}");
    }
    assert!(project.read(host).contains("GetCoreNumAiv()"));
}
