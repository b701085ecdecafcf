//! Whose fault it is: hazards that an operator has before anything was tried, and trouble of the machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aicore::HazardKind;
use backend::{ProcessLimits, SimBackend};
use tuner::{
    Budget, Candidate, Champion, FailureKind, Journal, Outcome, Plan, References, Scope, Session, Trialled, TunerError,
    Workspace, WorkspaceOptions, establish_baseline,
};
use verify::{Reason, Rejection};

use crate::support::{Project, TOOL, edited, require_tools, sdk_options};

/// One core, two full tiles of 128 floats and one of 44.
const MANIFEST: &str = r#"
[operator]
name = "GeluNaive"
layout = "msopgen"
kernel = "gelu_naive"
sources = ["op_host/gelu_naive.cpp", "op_kernel/gelu_naive.cpp"]

[[case]]
name = "300"
inputs = [{ name = "x", dtype = "float32", shape = [300], range = [-3, 3] }]
outputs = [{ name = "y", dtype = "float32", shape = [300] }]

[tunable.BUFFER_NUM]
file = "op_kernel/gelu_naive.cpp"
constant = "BUFFER_NUM"
domain = { range = [1, 2, 1] }
default = 1

[verify]
seeds = 2

[limits]
run-timeout-s = 10.0
compile-memory-mib = 3072
"#;

const KERNEL: &str = "op_kernel/gelu_naive.cpp";
/// The end of the computation, and the same with a tensor that is read after it was given back: wrong, and harmless.
const FREED_LAST: &str = "        AscendC::Div(yLocal, xLocal, poly, count);\n        AscendC::PipeBarrier<PIPE_ALL>();\n\n        \
                          outQueueY.EnQue(yLocal);\n        inQueueX.FreeTensor(xLocal);\n";
const FREED_FIRST: &str = "        inQueueX.FreeTensor(xLocal);\n        AscendC::Div(yLocal, xLocal, poly, count);\n        \
                           AscendC::PipeBarrier<PIPE_ALL>();\n\n        outQueueY.EnQue(yLocal);\n";
/// The same fault at another place.
const COPIED_FIRST: &str =
    "        AscendC::DataCopyPad(yGm[start], yLocal, copyParams);\n        outQueueY.FreeTensor(yLocal);\n";
const COPIED_LAST: &str =
    "        outQueueY.FreeTensor(yLocal);\n        AscendC::DataCopyPad(yGm[start], yLocal, copyParams);\n";
/// The whole tile on its way out, and all but its last four elements where it is not a full one.
const WHOLE_TILE: &str = "static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};\n        AscendC::DataCopyPad(yGm";
const SHORT_TILE: &str = "static_cast<uint32_t>((count < 128 ? count - 4 : count) * sizeof(float)), 0, 0, 0};\n        AscendC::DataCopyPad(yGm";
const SHORTER_TILE: &str = "static_cast<uint32_t>((count < 128 ? count - 8 : count) * sizeof(float)), 0, 0, 0};\n        AscendC::DataCopyPad(yGm";

/// GeluNaive with an edit.
fn gelu(manifest: &str, from: &str, to: &str) -> Project {
    let project = Project::fixture("gelu_naive");
    project.write("ascend.toml", manifest);
    project.write(KERNEL, &edited(&project.read(KERNEL), from, to));
    project
}

#[track_caller]
pub fn open(project: &Project) -> Workspace {
    let options = WorkspaceOptions {
        directory: project.path().to_owned(),
        jobs: 1,
        worker_exe: Path::new(TOOL).to_owned(),
        sdk: sdk_options(),
        ..WorkspaceOptions::default()
    };
    Workspace::open(options, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

/// A baseline with what is known of it, and candidates against it.
struct Baseline {
    workspace: Workspace,
    trialled: Trialled,
    references: References,
    runtime: tokio::runtime::Runtime,
}

impl Baseline {
    fn of(project: &Project) -> Result<Self, TunerError> {
        let (workspace, runtime) = (open(project), runtime());
        let baseline = workspace.baseline()?;
        let (trialled, references) = runtime.block_on(establish_baseline(&workspace, &baseline))?;
        Ok(Self { workspace, trialled, references, runtime })
    }

    fn kinds(&self) -> Vec<HazardKind> {
        self.trialled.known.by_place().iter().map(|known| known.kind).collect()
    }

    /// The operator with its kernel edited.
    fn plan(&self, from: &str, to: &str) -> Plan {
        let mut sources = self.workspace.sources.clone();
        let text = edited(sources.text(KERNEL).expect("the kernel"), from, to);
        sources.insert(KERNEL, text);
        let tunables = self.workspace.tunables();
        Candidate::baseline(sources, tunables).plain_plan(tunables)
    }

    /// Tries it.
    fn try_edit(&self, from: &str, to: &str) -> Result<Outcome, TunerError> {
        let plan = self.plan(from, to);
        let evaluator = self.workspace.evaluator.against(&self.trialled);
        let trial = evaluator.try_plan(&plan, &self.references, Scope::All, false);
        Ok(self.runtime.block_on(trial)?.evaluation.outcome)
    }

    #[track_caller]
    fn accept(&self, from: &str, to: &str) {
        let outcome = self.try_edit(from, to).unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(outcome, Outcome::Valid(_)), "{outcome:?}");
    }

    #[track_caller]
    fn reject(&self, from: &str, to: &str) -> Rejection {
        match self.try_edit(from, to).unwrap_or_else(|error| panic!("{error}")) {
            Outcome::Rejected(rejection) => rejection,
            Outcome::Valid(_) => panic!("it was accepted"),
        }
    }
}

#[track_caller]
fn refused(project: &Project) -> Rejection {
    match Baseline::of(project) {
        Err(TunerError::Baseline(rejection)) => *rejection,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn a_hazard_that_the_operator_has_is_known_and_no_candidate_may_have_another() {
    require_tools!();
    let project = gelu(MANIFEST, FREED_LAST, FREED_FIRST);
    let baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(baseline.kinds(), [HazardKind::QueueMisuse]);
    // Lines move, the place stays.
    baseline.accept("#include \"kernel_operator.h\"", "// one\n// two\n#include \"kernel_operator.h\"");
    // A repaired one has less.
    baseline.accept(FREED_FIRST, FREED_LAST);
    let rejection = baseline.reject(COPIED_FIRST, COPIED_LAST);
    assert_eq!((rejection.reason, rejection.hazard), (Reason::Hazard, Some(HazardKind::QueueMisuse)), "{rejection}");
    assert!(rejection.detail.contains("but not here"), "{rejection}");
    // The same at a copy of the statement.
    let statement = "        AscendC::Div(yLocal, xLocal, poly, count);\n";
    let rejection = baseline.reject(statement, &statement.repeat(2));
    assert_eq!(rejection.hazard, Some(HazardKind::QueueMisuse), "{rejection}");
}

#[test]
fn the_manifest_may_refuse_what_the_operator_has_or_allow_it_with_a_reason() {
    require_tools!();
    let errors = MANIFEST.replace("seeds = 2", "seeds = 2\nhazards = \"errors\"");
    assert_eq!(refused(&gelu(&errors, FREED_LAST, FREED_FIRST)).hazard, Some(HazardKind::QueueMisuse));
    let allow = "\n[[allow]]\nhazard = \"queue-misuse\"\nfunction = \"Compute\"\nreason = \"measured for years\"\n";
    let project = gelu(&format!("{errors}{allow}"), FREED_LAST, FREED_FIRST);
    let baseline = Baseline::of(&project);
    let baseline = baseline.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(baseline.trialled.known.by_place()[0].allowed.as_deref(), Some("measured for years"));
    let rejection = baseline.reject(COPIED_FIRST, COPIED_LAST);
    assert_eq!(rejection.hazard, Some(HazardKind::QueueMisuse), "not more of it: {rejection}");
    let elsewhere = allow.replace("Compute", "CopyOut");
    assert_eq!(
        refused(&gelu(&format!("{errors}{elsewhere}"), FREED_LAST, FREED_FIRST)).hazard,
        Some(HazardKind::QueueMisuse)
    );
    let strict = MANIFEST.replace("seeds = 2", "seeds = 2\nhazards = \"strict\"");
    assert_eq!(refused(&gelu(&strict, FREED_LAST, FREED_FIRST)).hazard, Some(HazardKind::QueueMisuse));
}

#[test]
fn a_tail_that_the_operator_leaves_unwritten_is_left_out_and_no_more_than_that() {
    require_tools!();
    let project = gelu(MANIFEST, WHOLE_TILE, SHORT_TILE);
    let baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(baseline.kinds(), [HazardKind::UnwrittenOutput]);
    baseline.accept("constexpr int32_t BUFFER_NUM = 1;", "constexpr int32_t BUFFER_NUM = 2;");
    baseline.accept(SHORT_TILE, WHOLE_TILE);
    let rejection = baseline.reject(SHORT_TILE, SHORTER_TILE);
    assert_eq!(rejection.reason, Reason::WrongResult, "{rejection}");
    // Who says that an output is optional need not be told.
    let errors = MANIFEST.replace("seeds = 2", "seeds = 2\nhazards = \"errors\"");
    assert_eq!(refused(&gelu(&errors, WHOLE_TILE, SHORT_TILE)).reason, Reason::UnwrittenOutput);
    let optional = errors.replace("shape = [300] }]\n\n", "shape = [300], optional = true }]\n\n");
    assert_ne!(optional, errors);
    assert!(Baseline::of(&gelu(&optional, WHOLE_TILE, SHORT_TILE)).is_ok());
}

#[test]
fn an_operator_whose_results_depend_on_garbage_is_told_so() {
    require_tools!();
    // The polynomial begins with what is in the buffer.
    let from = "        AscendC::Duplicate(ones, 1.0f, count);\n";
    let rejection = refused(&gelu(MANIFEST, from, ""));
    assert_eq!(rejection.reason, Reason::WrongResult, "{rejection}");
    assert!(rejection.detail.contains("garbage"), "{rejection}");
}

#[test]
fn a_run_shows_what_the_operator_has_and_keeps_it_in_the_lock() {
    require_tools!();
    let project = gelu(MANIFEST, FREED_LAST, FREED_FIRST);
    let run = ["run", "--budget", "4", "--seed", "1", "--jobs", "1", "--stage", "host"];
    let ended = project.run(&run).expect(0);
    let known: Vec<_> =
        ended.named("warning").into_iter().filter(|warning| warning["code"] == "known-hazard").collect();
    assert_eq!(known.len(), 1, "{:?}", ended.named("warning"));
    assert!(
        known[0]["message"].as_str().is_some_and(|text| text.contains("queue-misuse at op_kernel/gelu_naive.cpp:"))
    );
    assert_eq!(ended.named("summary")[0]["known"][0]["kind"], "queue-misuse");
    let report = project.read("target/ascend-tune/report.html");
    assert!(report.contains("Known hazards"), "the report shows them");
    let lock = project.read("ascend.lock");
    assert!(lock.contains("[[known]]") && lock.contains("kind = \"queue-misuse\""), "{lock}");
    project.run(&["check"]).expect(0);
    // A hazard that is not locked is told, and can be taken over.
    project.write(KERNEL, &edited(&project.read(KERNEL), WHOLE_TILE, SHORT_TILE));
    let ended = project.run(&["check"]).expect(1);
    assert_eq!(ended.named("check")[0]["verdict"], "wrong", "{:?}", ended.events);
}

#[test]
fn a_missing_runner_ends_the_run_and_is_in_no_journal() {
    require_tools!();
    let project = gelu(MANIFEST, FREED_LAST, FREED_FIRST);
    let mut baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    let runner = PathBuf::from("/nonexistent/runner");
    let broken = SimBackend { runner, ..baseline.workspace.simulator() };
    baseline.workspace.evaluator.backend = Arc::new(broken);
    let error = baseline.try_edit(FREED_FIRST, FREED_LAST).expect_err("nothing is known of the candidate");
    assert_eq!(error.kind(), FailureKind::Environment, "{error}");
    assert!(error.to_string().contains("/nonexistent/runner"), "{error}");
    // The same through a session: what it journals is a verdict, and this is none.
    let path = project.path().join("journal.jsonl");
    let (journal, _) = Journal::open(&path, "inputs", false).expect("a journal");
    let plan = baseline.plan(FREED_FIRST, FREED_LAST);
    let digest = plan.digest.clone();
    let mut session = Session::new(
        baseline.workspace.evaluator.against(&baseline.trialled),
        Arc::new(journal),
        Arc::new(baseline.references.clone()),
        Budget { evaluations: 4, time_limit: None },
        1,
        vec![1.0],
    );
    let champion = Champion { us: 1e9, ..Champion::default() };
    let error = baseline.runtime.block_on(session.evaluate(vec![plan], &champion)).expect_err("the run ends");
    assert_eq!(error.kind(), FailureKind::Environment, "{error}");
    assert!(!project.read("journal.jsonl").contains(&digest), "nothing is written down about it");
    // Nor can a directory be made on a disk that is full, or not there.
    let mut baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    let scratch = PathBuf::from("/proc/none");
    let broken = SimBackend { scratch, ..baseline.workspace.simulator() };
    baseline.workspace.evaluator.backend = Arc::new(broken);
    let error = baseline.try_edit(FREED_FIRST, FREED_LAST).expect_err("nothing is known of the candidate");
    assert_eq!(error.kind(), FailureKind::Environment, "{error}");
}

#[test]
fn a_source_without_end_costs_the_compiler_its_limit_and_no_more() {
    require_tools!();
    let project = gelu(MANIFEST, FREED_LAST, FREED_LAST);
    let baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    let endless = "#include \"kernel_operator.h\"\n#include \"/dev/zero\"";
    let rejection = baseline.reject("#include \"kernel_operator.h\"", endless);
    assert_eq!(rejection.reason, Reason::BuildFailed, "{rejection}");
    assert!(rejection.detail.contains("3072 MiB") && rejection.detail.contains("compile-memory-mib"), "{rejection}");
    project.write(KERNEL, &edited(&project.read(KERNEL), "#include \"kernel_operator.h\"", endless));
    let ended = project.run(&["run", "--budget", "2", "--seed", "1"]).expect(4);
    assert!(ended.named("error")[0]["message"].as_str().is_some_and(|text| text.contains("compile-memory-mib")));
}

#[test]
fn a_kernel_without_end_is_told_with_its_limit_and_its_line() {
    require_tools!();
    let project = gelu(MANIFEST, FREED_LAST, FREED_LAST);
    let mut baseline = Baseline::of(&project).unwrap_or_else(|error| panic!("{error}"));
    let simulator = baseline.workspace.simulator();
    let limits = ProcessLimits { file_bytes: 16 << 20, ..simulator.limits };
    baseline.workspace.evaluator.backend = Arc::new(SimBackend { limits, ..simulator });
    let statement = "        AscendC::Div(yLocal, xLocal, poly, count);\n";
    let endless = format!("        while (count > 0) {{\n    {statement}        }}\n");
    let rejection = baseline.reject(statement, &endless);
    assert_eq!(rejection.reason, Reason::TimedOut, "{rejection}");
    assert!(rejection.detail.contains("does not end") && rejection.detail.contains("16 MiB"), "{rejection}");
    let text = edited(&project.read(KERNEL), statement, &endless);
    let line = text.lines().nth(rejection.line as usize - 1);
    assert_eq!((rejection.file.as_str(), line.map(str::trim)), (KERNEL, Some(statement.trim())), "{rejection}");
}

/// Where the compiler orders nothing, a barrier that the model takes for idle may be the only order there is.
#[test]
fn a_kernel_without_automatic_synchronisation_keeps_the_barriers_that_it_needs() {
    require_tools!();
    let project = crate::cli::small_gelu();
    let cmake = project.read("op_kernel/CMakeLists.txt");
    project.write(
        "op_kernel/CMakeLists.txt",
        &format!("{cmake}npu_op_kernel_options(gelu_naive_kernels ALL OPTIONS --cce-auto-sync=off)\n"),
    );
    let profile = |project: &Project| {
        let ended = project.run(&["profile"]);
        let profiles = ended.named("profile").into_iter();
        let hazards = profiles.flat_map(|profile| profile["hazards"].as_array().into_iter().flatten());
        (ended.code, hazards.map(|hazard| hazard["message"].to_string()).collect::<Vec<_>>())
    };
    let kernel = project.read("op_kernel/gelu_naive.cpp");
    assert_eq!(profile(&project), (0, Vec::new()));
    let barrier = "        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::Exp";
    project.write("op_kernel/gelu_naive.cpp", &edited(&kernel, barrier, "        AscendC::Exp"));
    let (_, hazards) = profile(&project);
    assert!(hazards.iter().any(|message| message.contains("PipeBarrier<PIPE_V> would order them")), "{hazards:?}");
    project.write("op_kernel/gelu_naive.cpp", &kernel);

    let ended = project.run(&["run", "--budget", "14", "--seed", "1", "--stage", "kernel"]).expect(0);
    let warned = |event: &serde_json::Value| {
        let message = event["message"].as_str().unwrap_or_default();
        event["code"] == "auto-sync-off" && message.starts_with("op_kernel/CMakeLists.txt:4 ")
    };
    assert!(ended.named("warning").into_iter().any(warned), "{:?}", ended.named("warning"));
    // What was written back is free of races where the compiler orders nothing.
    let (code, hazards) = profile(&project);
    assert!(code == 0 && hazards.is_empty(), "{hazards:?}");
}
