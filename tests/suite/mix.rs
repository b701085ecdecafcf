//! A kernel for both kinds of cores, by the runner: host library, one kernel library for each kind, the trace.

use std::path::Path;
use std::process::Command;

use aicore::{Machine, Options, Severity, analyse};

use crate::support::{require_tools, sdk};

const HOST: &str = r#"
#include "register/tilingdata_base.h"
#include "register/op_def_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(PairTiling)
TILING_DATA_FIELD_DEF(uint32_t, n);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Pair, PairTiling)
static ge::graphStatus Tile(gert::TilingContext* context)
{
    PairTiling tiling;
    tiling.set_n(16);
    context->SetBlockDim(2);
    context->SetTilingKey(7);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 4096;
    return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ops {
class Pair : public OpDef {
public:
    explicit Pair(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Pair);
}  // namespace ops
"#;

/// The cube core multiplies its number by ten into the workspace, its vector cores add who they are. With SET undefined
/// the flag between them is missing.
const KERNEL: &str = r#"
#include "ascendsim/core.h"
#include "ascendsim/isa.h"
static int calls = 0;  // a core's own
extern "C" const char ascend_tune_kernel_name[] = "pair";
extern "C" void ascend_tune_entry(void** args, unsigned)
{
    auto* x = static_cast<uint32_t*>(args[0]);
    auto* y = static_cast<uint32_t*>(args[1]) + get_block_idx() * 2 + get_subblockid();
    auto* handed = static_cast<uint32_t*>(args[2]) + get_block_idx() * 16;
    ++calls;
#ifdef __DAV_C220_CUBE__
    st_dev(ld_dev(x, static_cast<int16_t>(get_block_idx())) * 10, handed, 0);
#ifdef SET
    ffts_cross_core_sync(PIPE_FIX, 1 | 2 << 4 | 3 << 8);
#endif
#else
#ifdef SET
    wait_flag_dev(3);
#endif
    st_dev(ld_dev(handed, 0) + static_cast<uint32_t>(get_subblockid() + calls * 1000), y, 0);
#endif
}
"#;

fn compile(directory: &Path, source: &str, library: &str, defines: &[&str]) {
    let sdk = sdk();
    let built = Command::new(sdk.compiler.program())
        .args(["-std=c++17", "-O1", "-fPIC", "-shared"])
        .args(defines)
        .arg(format!("-I{}", sdk.include().display()))
        .arg(directory.join(source))
        .arg("-o")
        .arg(directory.join(library))
        .args([format!("-L{}", sdk.library_directory.display()), "-lascend_sim".to_owned()])
        .output()
        .expect("the compiler runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// Runs a job with the given kernels; what the runner says of it.
fn run(directory: &Path, kernels: serde_json::Value) -> serde_json::Value {
    let path = |name: &str| directory.join(name).display().to_string();
    let tensor = |name: &str, shape: u64, file: &str| serde_json::json!({ "name": name, "dtype": "int32", "format": "ND", "shape": [shape], "file": path(file) });
    let job = serde_json::json!({
        "mode": "run",
        "host": path("host.so"),
        "operator": "Pair",
        "machine": { "soc": "Ascend910B2", "cores_aiv": 48, "cores_aic": 24 },
        "inputs": [tensor("x", 16, "x.bin")],
        "outputs": [tensor("y", 4, "y.bin")],
        "kernels": kernels,
        "trace": path("trace.bin"),
        "result": path("result.json"),
    });
    fs_err::write(directory.join("job"), job.to_string()).expect("the job is written");
    let ran = Command::new(sdk().runner())
        .arg(directory.join("job"))
        .current_dir(directory)
        .env("LD_LIBRARY_PATH", &sdk().library_directory)
        .output()
        .expect("the runner starts");
    let text = fs_err::read_to_string(directory.join("result.json"))
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    serde_json::from_str(&text).expect("the result is JSON")
}

fn errors(directory: &Path) -> Vec<String> {
    let trace = fs_err::read(directory.join("trace.bin")).expect("there is a trace");
    let machine = Machine::named("ascend910b2").expect("a machine");
    let reports = analyse(&trace, &machine, &Options::default()).expect("the trace is sound");
    let units: Vec<_> = reports[0].profile.units.iter().map(|unit| (unit.unit.as_str(), unit.cores)).collect();
    assert_eq!(units, [("aiv", 4), ("aic", 2)]);
    let hazards = reports[0].hazards.iter().filter(|hazard| hazard.severity == Severity::Error);
    hazards.map(|hazard| hazard.message.clone()).collect()
}

#[test]
fn a_mixed_kernel_runs_on_groups_of_cores() {
    require_tools!();
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let directory = temporary.path();
    fs_err::write(directory.join("host.cpp"), HOST).expect("written");
    fs_err::write(directory.join("kernel.cpp"), KERNEL).expect("written");
    let input: Vec<u8> = (1..=16_i32).flat_map(i32::to_le_bytes).collect();
    fs_err::write(directory.join("x.bin"), input).expect("written");
    compile(directory, "host.cpp", "host.so", &[]);
    for (suffix, set) in [("", "-DSET"), ("_unset", "-DUNSET")] {
        compile(directory, "kernel.cpp", &format!("vector{suffix}.so"), &[set, "-D__DAV_C220_VEC__"]);
        compile(directory, "kernel.cpp", &format!("cube{suffix}.so"), &[set, "-D__DAV_C220_CUBE__"]);
    }

    let half = run(directory, serde_json::json!([{ "key": 7, "vector": "vector.so", "type": "mix_1_2" }]));
    assert_eq!(half["status"], "kernel_missing");
    let whole = run(
        directory,
        serde_json::json!([{ "vector": "vector.so" }, { "key": 7, "cube": "cube.so", "type": "mix_1_2" }]),
    );
    assert_eq!((&whole["status"], &whole["completed"]), (&"ok".into(), &true.into()), "{whole}");
    let output = fs_err::read(directory.join("y.bin")).expect("the output is there");
    let values: Vec<i32> = output.chunks_exact(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect();
    // Every core counts its own first call.
    assert_eq!(values, [1010, 1011, 1020, 1021]);
    assert_eq!(errors(directory), [""; 0]);

    run(directory, serde_json::json!([{ "vector": "vector_unset.so", "cube": "cube_unset.so", "type": "mix_1_2" }]));
    let found = errors(directory);
    assert!(found.iter().any(|message| message.contains("AIC") && message.contains("cross-core flag")), "{found:?}");
}
