//! Operators that the fixtures have in two versions: with care, and as a capable beginner writes them. Both build, run
//! without a hazard or a warning, and compute the same from the same data.
//!
//! The odd shape of each operator is run, which has every tail there is; the timed shapes are for those who tune them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tuner::{Workspace, WorkspaceOptions};

use crate::support::{Project, TOOL, edited, require_tools, root, sdk_options};

/// The two versions of an operator.
const VERSIONS: [&str; 2] = ["careful", "beginner"];

/// Operators that are run every time: both layouts, tails, an exchange between cores, tensor lists. The compiler takes most of
/// the time, so the others wait for `ASCEND_TUNE_ALL_FIXTURES`.
const EVERY_TIME: [&str; 4] = ["foreach_add_scalar", "leaky_relu_backward", "rms_norm", "softmax_split"];

/// Fixtures that have both versions, by name.
fn operators() -> Vec<PathBuf> {
    let entries = fs_err::read_dir(root().join("fixtures")).expect("the fixtures");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable fixture").path()).collect();
    found.retain(|path| VERSIONS.iter().all(|version| path.join(version).join("ascend.toml").is_file()));
    found.sort();
    found
}

/// Name of the case that is only verified; by custom it begins with `odd`.
fn odd_case(directory: &Path) -> String {
    let manifest = fs_err::read_to_string(directory.join("ascend.toml")).expect("a manifest");
    let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let mut odd = names.filter(|name| name.starts_with("odd"));
    odd.next().unwrap_or_else(|| panic!("{}: no case of an odd shape", directory.display())).to_owned()
}

fn open(directory: &Path) -> Workspace {
    let options = WorkspaceOptions {
        directory: directory.to_owned(),
        cases: vec![odd_case(directory)],
        jobs: 1,
        worker_exe: PathBuf::from(TOOL),
        sdk: sdk_options(),
        ..WorkspaceOptions::default()
    };
    Workspace::open(options, &mut |_| ()).unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
}

/// Runs both versions on the shape that is not timed; says what is wrong.
fn compare(operator: &Path, runtime: &tokio::runtime::Runtime) -> Result<(), String> {
    let name = operator.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut outputs: Vec<Vec<Vec<u8>>> = Vec::new();
    for version in VERSIONS {
        let project = Project::copy_of(&operator.join(version));
        let workspace = open(project.path());
        let plan = workspace
            .baseline()
            .map_err(|error| format!("{name}/{version}: {error}"))?
            .plain_plan(workspace.tunables());
        let evaluator = &workspace.evaluator;
        let timed = workspace.manifest.cases.iter().filter(|case| !case.verify_only).count();
        if timed != 2 || workspace.tunables().is_empty() {
            return Err(format!("{name}/{version}: {timed} timed cases, {} tunables", workspace.tunables().len()));
        }
        let odd = evaluator.workload.trials.iter().find(|trial| workspace.manifest.cases[trial.case].verify_only);
        let trial = odd.ok_or_else(|| format!("{name}/{version}: no case of an odd shape"))?;
        let execution = runtime
            .block_on(evaluator.run_trial(&plan, trial, true))
            .map_err(|rejection| format!("{name}/{version}: {rejection}"))?;
        if let Some(hazard) = execution.launches.iter().flat_map(|launch| &launch.hazards).next() {
            let place = &hazard.place;
            return Err(format!("{name}/{version}: {}:{}: {}", place.file, place.line, hazard.message));
        }
        if let Some(other) = outputs.first() {
            evaluator
                .agrees(trial, &execution, other)
                .map_err(|rejection| format!("{name}: the versions differ: {rejection}"))?;
            if outputs.concat().concat().iter().all(|byte| *byte == 0) {
                return Err(format!("{name}: all outputs are zero"));
            }
        }
        outputs.push(execution.outputs);
    }
    Ok(())
}

#[test]
fn both_versions_of_an_operator_agree_and_are_clean() {
    require_tools!();
    let mut operators = operators();
    assert!(operators.len() >= 12, "{operators:?}");
    if std::env::var_os("ASCEND_TUNE_ALL_FIXTURES").is_none() {
        operators.retain(|operator| EVERY_TIME.iter().any(|name| operator.ends_with(name)));
    }
    let waiting = Mutex::new(operators.into_iter());
    let wrong = Mutex::new(Vec::new());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    crate::support::sdk();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no poison").next();
                    let Some(operator) = next else { break };
                    if let Err(reason) = compare(&operator, &runtime) {
                        wrong.lock().expect("no poison").push(reason);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no poison");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Where the shape of an output is known only when it is computed, the kernel has one more parameter, behind the outputs.
#[test]
fn a_kernel_that_computes_shapes_has_a_place_for_them() {
    require_tools!();
    let project = Project::fixture("add_custom");
    let change = |file: &str, from: &str, to: &str| project.write(file, &edited(&project.read(file), from, to));
    change("op_host/add_custom.cpp", "this->Output(\"z\")", "this->Output(\"z\").OutputShapeDependOnCompute()");
    change("op_kernel/add_custom.cpp", "GM_ADDR z, GM_ADDR workspace", "GM_ADDR z, GM_ADDR shapes, GM_ADDR workspace");
    let written = "    if (AscendC::GetBlockIdx() == 0) {
        AscendC::GlobalTensor<uint64_t> dims;
        dims.SetGlobalBuffer((__gm__ uint64_t *)shapes, 2);
        dims.SetValue(0, 1);
        dims.SetValue(1, tilingData.blockLength);
    }
    op.Process();";
    change("op_kernel/add_custom.cpp", "    op.Process();", written);
    let ended = project.run(&["profile"]).expect(0);
    let profiles = ended.named("profile");
    assert!(!profiles.is_empty() && profiles.iter().all(|profile| profile["correct"] == true), "{ended:?}");
}
