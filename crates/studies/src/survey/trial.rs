//! One operator through all steps. Runs in a process of its own, which may be killed at any moment: what is known so far
//! is said as soon as it is known.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::case::{self, Accepted};
use super::cause;
use super::judge::{judge, judge_where_cleared};
use super::own_tests::{self, OwnTests, TestJudgement};
use super::second_try::Runs;
use super::stop::{Stop, fault, hazards_of, located};
use aicore::{HazardKind, Machine, Severity};
use backend::{Execution, ProcessLimits, ProgramJob, SimBackend};
use build::sdk::{Sdk, SdkOptions};
use build::{Artifact, BuildError, BuildOptions, Builder};
use discovery::cases::{DescribedOp, DescribedOps, Finder, Python};
use discovery::oracle::{
    KernelTestError, TestRunner, TilingExample, TilingTest, run_kernel_tests, run_tiling_tests, tiling_test_files,
};
use events::survey::{
    Cause, CauseKind, KernelTestCounts, Shape, State, StepOutcome, SurveyStep, Testimony, TilingTestCounts,
};
use project::{KernelTests, OperatorProject, auto_sync_off, load_machine};
use source::SourceTree;

/// What to try, and how far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The operator's directory.
    pub directory: PathBuf,
    /// What it looks like.
    pub shape: Shape,
    /// Private directory for builds and runs.
    pub work_directory: PathBuf,
    /// Last step to try.
    pub last_step: SurveyStep,
    /// Machine description by name or path.
    pub machine: String,
    /// Wall-clock limit of one run in seconds.
    pub run_timeout_s: f64,
    /// Memory limit of one run in bytes.
    pub run_memory_bytes: u64,
    /// Python that references are run with.
    pub python: PathBuf,
    /// Toolkit whose headers kernels are built against; the SDK's own without.
    #[serde(default)]
    pub toolkit: Option<PathBuf>,
    /// Which of the operator's own unit tests are run too.
    #[serde(default)]
    pub tests: Option<OwnTests>,
}

/// Something that is known now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "progress", rename_all = "kebab-case")]
pub enum Progress {
    /// A step begins.
    Begins {
        /// Step.
        step: SurveyStep,
    },
    /// The operator type.
    Operator {
        /// Type.
        op_type: String,
    },
    /// The case.
    Case {
        /// Its name.
        case: String,
    },
    /// What a reference says of the outputs.
    Witness(Testimony),
    /// The operator's own tiling unit tests, as far as they were run.
    TilingTests(TilingTestCounts),
    /// The operator's own kernel unit tests, as far as they were run.
    KernelTests(KernelTestCounts),
    /// A step ended.
    Ended(StepOutcome),
}

/// Takes an operator through the steps and reports each.
pub async fn try_operator(task: &Task, report: &mut dyn FnMut(Progress)) {
    let mut trial = Trial { task, report, own_tiling: None };
    if let Err(stopped) = trial.all().await {
        trial.stopped(stopped);
    }
}

fn test_runner(backend: &SimBackend) -> TestRunner {
    TestRunner {
        worker_exe: backend.worker_exe.clone(),
        scratch: backend.scratch.clone(),
        limits: backend.limits.clone(),
    }
}

type Stopped = (SurveyStep, Stop, Instant);

struct Trial<'call> {
    task: &'call Task,
    report: &'call mut dyn FnMut(Progress),
    /// The operator's own tiling tests, once they were run: they give cases, and a step of their own.
    own_tiling: Option<Result<Vec<TilingTest>, BuildError>>,
}

impl Trial<'_> {
    fn begin(&mut self, step: SurveyStep) -> Instant {
        (self.report)(Progress::Begins { step });
        Instant::now()
    }

    fn stopped(&mut self, (step, stop, since): Stopped) {
        (self.report)(Progress::Ended(StepOutcome {
            step,
            state: stop.state,
            wall_s: since.elapsed().as_secs_f64(),
            cause: Some(stop.cause),
            detail: stop.detail,
        }));
    }

    fn pass(&mut self, step: SurveyStep, since: Instant, detail: impl Into<String>) {
        (self.report)(Progress::Ended(StepOutcome {
            step,
            state: State::Passed,
            wall_s: since.elapsed().as_secs_f64(),
            cause: None,
            detail: detail.into(),
        }));
    }

    fn unknown(&mut self, step: SurveyStep, since: Instant, cause: Cause, detail: impl Into<String>) {
        (self.report)(Progress::Ended(StepOutcome {
            step,
            state: State::Unknown,
            wall_s: since.elapsed().as_secs_f64(),
            cause: Some(cause),
            detail: detail.into(),
        }));
    }

    async fn all(&mut self) -> Result<(), Stopped> {
        let last = self.task.last_step;
        let since = self.begin(SurveyStep::Discover);
        let discover = |stop| (SurveyStep::Discover, stop, since);
        let project = OperatorProject::find(&self.task.directory).map_err(|error| {
            discover(Stop::failed(
                Cause::new(CauseKind::NotRecognised, cause::general(&strip_path(&error.to_string()))),
                error.to_string(),
            ))
        })?;
        let tree = project.load_sources().map_err(|error| {
            discover(Stop::failed(
                Cause::new(CauseKind::NotRecognised, "a source file is not UTF-8"),
                error.to_string(),
            ))
        })?;
        let sdk = Sdk::prepare(&SdkOptions { jobs: 1, ..SdkOptions::from_environment() })
            .map_err(|error| discover(Stop::machine(error)))?;
        let machine =
            load_machine(&self.task.machine, &project.root).map_err(|error| discover(Stop::machine(error)))?;
        self.pass(SurveyStep::Discover, since, project.layout.words());
        if last == SurveyStep::Discover {
            return Ok(());
        }
        let backend = SimBackend {
            worker_exe: std::env::current_exe().unwrap_or_default(),
            runner: sdk.runner(),
            scratch: self.task.work_directory.join("runs"),
            machine: Arc::new(Machine::clone(&machine)),
            limits: ProcessLimits::new(self.task.run_timeout_s, self.task.run_memory_bytes),
            keep_trace: None,
            critical_path: false,
            auto_sync: true,
            warmth: aicore::Warmth::Cold,
            foreseen: backend::Foreseen::default(),
        };
        let options = BuildOptions {
            work_directory: Some(self.task.work_directory.clone()),
            jobs: 1,
            toolkit: self.task.toolkit.clone(),
            ..BuildOptions::default()
        };
        match self.task.shape {
            Shape::Framework => self.framework(project, tree, sdk, backend, options).await,
            Shape::DirectLaunch => self.direct(project, tree, sdk, backend, options).await,
        }
    }

    async fn framework(
        &mut self,
        project: OperatorProject,
        tree: SourceTree,
        sdk: Sdk,
        backend: SimBackend,
        options: BuildOptions,
    ) -> Result<(), Stopped> {
        let since = self.begin(SurveyStep::Host);
        let host_step = |stop| (SurveyStep::Host, stop, since);
        let builder = Builder::new(project, sdk, options).map_err(|error| host_step(Stop::build(&error)))?;
        let host = builder.host(&tree).map_err(|error| host_step(Stop::build(&error)))?;
        if let Err(stopped) = self.with_host(&tree, &builder, &host, &backend, since).await {
            self.stopped(stopped);
        }
        if matches!(self.task.tests, Some(OwnTests::All | OwnTests::Tiling)) {
            self.tiling_tests(&tree, &builder, &host, &backend).await;
        }
        if matches!(self.task.tests, Some(OwnTests::All | OwnTests::Kernel)) {
            self.kernel_tests(&builder, &backend).await;
        }
        Ok(())
    }

    /// The steps of an operator whose host library is built.
    async fn with_host(
        &mut self,
        tree: &SourceTree,
        builder: &Builder,
        host: &Artifact,
        backend: &SimBackend,
        since: Instant,
    ) -> Result<(), Stopped> {
        let last = self.task.last_step;
        let project = builder.project();
        let host_step = |stop| (SurveyStep::Host, stop, since);
        let description = backend.describe(&host.path).await.map_err(|failure| host_step(Stop::run(&failure)))?;
        let ops = DescribedOps::of(&description.ops);
        let (op, entry) = ops.about(project).ok_or_else(|| {
            let names: Vec<&str> = ops.ops.iter().map(|op| op.kind.as_str()).collect();
            host_step(Stop::failed(
                Cause::new(CauseKind::NotRecognised, "the host library registers no operator definition"),
                format!(
                    "operators registered: {}",
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                ),
            ))
        })?;
        let auto_sync = auto_sync_off(&project.root, &op.kind, &backend.machine.name).is_none();
        let backend = &SimBackend { auto_sync, ..backend.clone() };
        (self.report)(Progress::Operator { op_type: op.kind.clone() });
        self.pass(SurveyStep::Host, since, "");
        if last == SurveyStep::Host {
            return Ok(());
        }

        let since = self.begin(SurveyStep::Tiling);
        let python = Python {
            program: self.task.python.clone(),
            worker_exe: backend.worker_exe.clone(),
            scratch: backend.scratch.clone(),
        };
        self.run_own_tiling(tree, builder, host, backend).await;
        // Tests that do not build make no calls.
        let tests = self.own_tiling.iter().flatten().flatten();
        let examples: Vec<TilingExample> = tests.flat_map(|test| test.examples.iter().cloned()).collect();
        let finder = Finder {
            directory: &self.task.directory,
            data: self.task.work_directory.join("data"),
            host: &host.path,
            op: &op,
            examples: &examples,
            backend,
            python: Some(&python),
            most_data_bytes: u64::MAX,
        };
        let mut accepted = case::find(&finder, 0).await.map_err(|stop| (SurveyStep::Tiling, stop, since))?;
        (self.report)(Progress::Case { case: accepted.name.clone() });
        self.pass(SurveyStep::Tiling, since, format!("tiling key {}", accepted.tiling_key));
        if last == SurveyStep::Tiling {
            return Ok(());
        }

        let since = self.begin(SurveyStep::Kernel);
        let runs =
            Runs { tree, builder, op: &op, entry: &entry, classes: &description.tiling_classes, finder: &finder };
        builder
            .kernel(tree, &runs.variant(&accepted))
            .map_err(|error| (SurveyStep::Kernel, Stop::build(&error), since))?;
        self.pass(SurveyStep::Kernel, since, "");
        if last == SurveyStep::Kernel {
            return Ok(());
        }

        let since = self.begin(SurveyStep::Run);
        let mut backend = backend.clone();
        let execution = match runs.run(&mut accepted, &backend).await {
            Ok(execution) => {
                self.pass(SurveyStep::Run, since, cores(&execution));
                execution
            }
            Err(stop) => {
                let Some(ran) = runs.again(&backend).await else { return Err((SurveyStep::Run, stop, since)) };
                (self.report)(Progress::Case { case: ran.accepted.name.clone() });
                let detail = format!("{}, only {}; at first: {}", cores(&ran.execution), ran.how, stop.detail);
                (self.report)(Progress::Ended(StepOutcome {
                    step: SurveyStep::Run,
                    state: State::Passed,
                    wall_s: since.elapsed().as_secs_f64(),
                    cause: Some(stop.cause),
                    detail,
                }));
                (accepted, backend) = (ran.accepted, ran.backend);
                ran.execution
            }
        };
        if last == SurveyStep::Run {
            return Ok(());
        }
        self.verify_operator(&backend, &python, &op, &mut accepted, &execution).await;
        if last != SurveyStep::Verify {
            self.hazards(&execution);
        }
        Ok(())
    }

    /// Runs the operator's own tiling tests, if it has some and they were not run yet.
    async fn run_own_tiling(&mut self, tree: &SourceTree, builder: &Builder, host: &Artifact, backend: &SimBackend) {
        if self.own_tiling.is_none() && !tiling_test_files(builder.project()).is_empty() {
            self.own_tiling = Some(run_tiling_tests(builder, tree, host, &test_runner(backend)).await);
        }
    }

    /// Tiling unit tests. They may take a while, and a test that hangs has a limit of its own.
    async fn tiling_tests(&mut self, tree: &SourceTree, builder: &Builder, host: &Artifact, backend: &SimBackend) {
        if tiling_test_files(builder.project()).is_empty() {
            return;
        }
        let since = self.begin(SurveyStep::TilingTests);
        self.run_own_tiling(tree, builder, host, backend).await;
        match self.own_tiling.take() {
            None => {}
            Some(Ok(tests)) => {
                let (counts, judgement) = own_tests::judge_tiling(&tests);
                // Only the counts are part of the result; who wants to know more finds every test here.
                let path = self.task.work_directory.join(own_tests::TILING_TESTS);
                if let Err(error) = fs_err::write(&path, own_tests::lines(&tests)) {
                    tracing::warn!(%error, "the list of tiling tests is not written");
                }
                (self.report)(Progress::TilingTests(counts));
                self.judged(SurveyStep::TilingTests, since, judgement);
            }
            Some(Err(error)) => self.stopped((SurveyStep::TilingTests, Stop::build(&error), since)),
        }
    }

    /// Kernel unit tests: the first few.
    async fn kernel_tests(&mut self, builder: &Builder, backend: &SimBackend) {
        let Ok(tests) = KernelTests::find(builder.project()) else { return };
        let since = self.begin(SurveyStep::KernelTests);
        let operator = builder.project().root.file_name().map(|name| name.to_string_lossy().into_owned());
        let operator = operator.unwrap_or_default();
        let mut counts = KernelTestCounts::default();
        let report = &mut *self.report;
        let ran = run_kernel_tests(builder, backend, &tests, &operator, "", own_tests::KERNEL_TESTS, &mut |run| {
            counts.add(&run.verdict);
            // As far as it came is worth having where a time limit ends the trial.
            report(Progress::KernelTests(counts.clone()));
        })
        .await;
        match ran {
            Ok(runs) => self.judged(SurveyStep::KernelTests, since, own_tests::judge_kernel(&runs)),
            Err(error) => {
                let cause = match &error {
                    KernelTestError::Build(error) => cause::of_build(error),
                    KernelTestError::Program(failure) => cause::of_run(failure),
                    KernelTestError::Sources(_) => Cause::new(CauseKind::NotRecognised, "a source file is not UTF-8"),
                    KernelTestError::NoKernel { .. } => Cause::new(CauseKind::NotRecognised, "no kernel of its name"),
                };
                (self.report)(Progress::KernelTests(KernelTestCounts { not_built: true, ..counts }));
                self.stopped((SurveyStep::KernelTests, Stop::failed(cause, error.to_string()), since));
            }
        }
    }

    fn judged(&mut self, step: SurveyStep, since: Instant, judgement: TestJudgement) {
        (self.report)(Progress::Ended(StepOutcome {
            step,
            state: judgement.state,
            wall_s: since.elapsed().as_secs_f64(),
            cause: judgement.cause,
            detail: judgement.detail,
        }));
    }

    async fn direct(
        &mut self,
        project: OperatorProject,
        tree: SourceTree,
        sdk: Sdk,
        backend: SimBackend,
        options: BuildOptions,
    ) -> Result<(), Stopped> {
        let last = self.task.last_step;
        let since = self.begin(SurveyStep::Kernel);
        let kernel = |stop| (SurveyStep::Kernel, stop, since);
        let builder = Builder::new(project.clone(), sdk, options).map_err(|error| kernel(Stop::build(&error)))?;
        let program = builder.direct(&tree).map_err(|error| kernel(Stop::build(&error)))?;
        self.pass(SurveyStep::Kernel, since, "");
        if last <= SurveyStep::Kernel {
            return Ok(());
        }
        let since = self.begin(SurveyStep::Run);
        (self.report)(Progress::Case { case: "the program itself".to_owned() });
        let knobs = BTreeMap::new();
        let job = ProgramJob {
            program: &program.path,
            arguments: &[],
            project: &project.root,
            knobs: &knobs,
            dump: false,
            device: None,
        };
        let run = backend.run_program(&job);
        let execution = run.await.map_err(|failure| (SurveyStep::Run, Stop::run(&failure), since))?;
        self.ran(&execution, since)?;
        if last == SurveyStep::Run {
            return Ok(());
        }
        let since = self.begin(SurveyStep::Verify);
        self.unknown(
            SurveyStep::Verify,
            since,
            Cause::new(CauseKind::NoReference, "the program does not compare its results"),
            "",
        );
        if last != SurveyStep::Verify {
            self.hazards(&execution);
        }
        Ok(())
    }

    /// Whether the machine let every block run to its end.
    fn ran(&mut self, execution: &Execution, since: Instant) -> Result<(), Stopped> {
        if let Some(stop) = fault(execution) {
            return Err((SurveyStep::Run, stop, since));
        }
        self.pass(SurveyStep::Run, since, cores(execution));
        Ok(())
    }

    async fn verify_operator(
        &mut self,
        backend: &SimBackend,
        python: &Python,
        op: &DescribedOp,
        accepted: &mut Accepted,
        execution: &Execution,
    ) {
        let since = self.begin(SurveyStep::Verify);
        let mut testimonies = Vec::new();
        let directory = &self.task.directory;
        let mut judgement = judge(directory, backend, python, op, accepted, execution, &mut testimonies).await;
        if judgement.as_ref().is_err_and(|stop| stop.cause.kind == CauseKind::UnstableResult) {
            let mut others = Vec::new();
            let cleared = judge_where_cleared(directory, backend, python, op, accepted, &mut others).await;
            if let Some(verdict) = cleared {
                (judgement, testimonies) = (Ok(verdict), others);
            }
        }
        for testimony in testimonies {
            (self.report)(Progress::Witness(testimony));
        }
        match judgement {
            Ok(detail) => self.pass(SurveyStep::Verify, since, detail),
            Err(stop) => (self.report)(Progress::Ended(StepOutcome {
                step: SurveyStep::Verify,
                state: stop.state,
                wall_s: since.elapsed().as_secs_f64(),
                cause: Some(stop.cause),
                detail: stop.detail,
            })),
        }
    }

    fn hazards(&mut self, execution: &Execution) {
        let since = self.begin(SurveyStep::Hazards);
        let worst = hazards_of(execution)
            .find(|hazard| hazard.severity == Severity::Error && hazard.kind != HazardKind::UnwrittenOutput);
        match worst {
            None => self.pass(SurveyStep::Hazards, since, ""),
            Some(hazard) => (self.report)(Progress::Ended(StepOutcome {
                step: SurveyStep::Hazards,
                state: State::Failed,
                wall_s: since.elapsed().as_secs_f64(),
                cause: Some(cause::of_hazard(hazard)),
                detail: located(hazard),
            })),
        }
    }
}

fn cores(execution: &Execution) -> String {
    let cores = execution.launches.iter().map(|launch| launch.profile.cores).max().unwrap_or(0);
    format!("{cores} cores")
}

/// A message without the path at its front.
fn strip_path(message: &str) -> String {
    match message.split_once(": ") {
        Some((path, rest)) if path.starts_with('/') => rest.to_owned(),
        _ => message.to_owned(),
    }
}
