//! What a survey says about one operator.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::own_tests::{KernelTestCounts, TilingTestCounts};

/// The way of an operator through the tool, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Sources, entry and layout are recognised.
    Discover,
    /// CMake flow and host library: definition, shape inference, tiling.
    Host,
    /// The tiling function accepts a case.
    Tiling,
    /// The kernel library of the case's tiling key.
    Kernel,
    /// Every block runs to its end.
    Run,
    /// Outputs against the operator's own reference.
    Verify,
    /// No error of the hazard judge.
    Hazards,
    /// The operator's own tiling unit tests; beside the way.
    #[value(skip)]
    TilingTests,
    /// The operator's own kernel unit tests; beside the way.
    #[value(skip)]
    KernelTests,
}

impl Step {
    /// All steps of the way in order. Own tests are beside it: they stop nothing and an operator need not have any.
    pub const ALL: [Step; 7] =
        [Step::Discover, Step::Host, Step::Tiling, Step::Kernel, Step::Run, Step::Verify, Step::Hazards];

    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Step::Discover => "discover",
            Step::Host => "host",
            Step::Tiling => "tiling",
            Step::Kernel => "kernel",
            Step::Run => "run",
            Step::Verify => "verify",
            Step::Hazards => "hazards",
            Step::TilingTests => "tiling-tests",
            Step::KernelTests => "kernel-tests",
        }
    }

    /// Whether it is one of [`Step::ALL`].
    pub fn is_on_the_way(self) -> bool {
        self < Step::TilingTests
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// How a step ended. A step that could not be judged is not a step that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It did what it should.
    Passed,
    /// It did not.
    Failed,
    /// There was nothing to judge it by.
    Unknown,
}

/// Kind of the first thing that was in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// An include that is nowhere.
    MissingHeader,
    /// An identifier that is not declared.
    MissingName,
    /// A symbol that the linker does not find.
    UndefinedSymbol,
    /// Another complaint of the compiler.
    CompileError,
    /// CMake refuses the project.
    Cmake,
    /// No operator, entry or definition is recognised.
    NotRecognised,
    /// The tiling function refuses every case that was tried.
    TilingRefused,
    /// The worker died of a signal.
    Crash,
    /// A time limit.
    TimeOut,
    /// A memory limit.
    OutOfMemory,
    /// The machine stopped a block: an unsupported instruction, an access out of bounds, a deadlock, ...
    Fault,
    /// A program ended with an exit status other than 0.
    ExitStatus,
    /// Outputs differ from the reference.
    WrongResult,
    /// A test of the operator's own finds something else than it expects.
    TestDisagrees,
    /// Bytes of an output stay unwritten.
    UnwrittenOutput,
    /// A second run with other garbage in unwritten memory gives other outputs.
    UnstableResult,
    /// The hazard judge found an error.
    Hazard,
    /// There is no reference to compare with.
    NoReference,
    /// Something on this machine, or a bug of this tool.
    Machine,
}

impl CauseKind {
    /// The words used in every output.
    pub fn words(self) -> &'static str {
        match self {
            CauseKind::MissingHeader => "missing header",
            CauseKind::MissingName => "unknown name",
            CauseKind::UndefinedSymbol => "undefined symbol",
            CauseKind::CompileError => "compile error",
            CauseKind::Cmake => "cmake",
            CauseKind::NotRecognised => "not recognised",
            CauseKind::TilingRefused => "tiling refused",
            CauseKind::Crash => "crash",
            CauseKind::TimeOut => "time limit",
            CauseKind::OutOfMemory => "memory limit",
            CauseKind::Fault => "fault",
            CauseKind::ExitStatus => "exit status",
            CauseKind::WrongResult => "wrong result",
            CauseKind::TestDisagrees => "test disagrees",
            CauseKind::UnwrittenOutput => "unwritten output",
            CauseKind::UnstableResult => "unstable result",
            CauseKind::Hazard => "hazard",
            CauseKind::NoReference => "no reference",
            CauseKind::Machine => "this machine",
        }
    }
}

/// The first thing that was in the way: what operators are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cause {
    /// Kind.
    pub kind: CauseKind,
    /// Name, header, symbol or the message without its particulars.
    pub name: String,
}

impl Cause {
    /// A cause.
    pub fn new(kind: CauseKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.words())?;
        if !self.name.is_empty() {
            write!(formatter, ": {}", self.name)?;
        }
        Ok(())
    }
}

/// One step of one operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// Step.
    pub step: Step,
    /// How it ended.
    pub state: State,
    /// Wall time in seconds.
    pub wall_s: f64,
    /// What was in the way, unless it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The whole message, or what was done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Which cores an operator needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Vector cores only.
    Vector,
    /// Cube cores too, or only.
    Mix,
}

impl Class {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Class::Vector => "vector",
            Class::Mix => "mix",
        }
    }
}

/// What an operator's directory looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `op_host/` and `op_kernel/`, on its own or in a repository.
    Framework,
    /// A program that launches its kernels with `<<<>>>`.
    DirectLaunch,
}

/// Everything a survey says about one operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the repository that it was found in.
    pub repository: String,
    /// Its directory in the repository.
    pub operator: String,
    /// What its directory looks like.
    pub shape: Shape,
    /// Which cores it needs.
    pub class: Class,
    /// Operator type, once the host library said it.
    #[serde(default)]
    pub op_type: String,
    /// The case that was run.
    #[serde(default)]
    pub case: String,
    /// Steps that were tried, in order; at most one of those before `verify` failed. Own
    /// tests come last, whatever failed.
    pub steps: Vec<StepOutcome>,
    /// The operator's own tiling unit tests, where they were run and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiling_tests: Option<TilingTestCounts>,
    /// The operator's own kernel unit tests, where they were run and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_tests: Option<KernelTestCounts>,
    /// Wall time in seconds.
    pub wall_s: f64,
}

impl Outcome {
    /// The outcome of a step, if it was tried.
    pub fn step(&self, step: Step) -> Option<&StepOutcome> {
        self.steps.iter().find(|outcome| outcome.step == step)
    }

    /// State of a step, if it was tried.
    pub fn state(&self, step: Step) -> Option<State> {
        self.step(step).map(|outcome| outcome.state)
    }

    /// Whether a step was tried and passed.
    pub fn passed(&self, step: Step) -> bool {
        self.state(step) == Some(State::Passed)
    }

    /// Whether the outputs are not known to be wrong, but have bytes that nobody wrote or that depend on such bytes.
    pub fn stopped_by_unwritten_bytes(&self) -> bool {
        let cause = self.step(Step::Verify).and_then(|outcome| outcome.cause.as_ref());
        cause.is_some_and(|cause| matches!(cause.kind, CauseKind::UnwrittenOutput | CauseKind::UnstableResult))
    }

    /// Whether a reference says that the outputs are wrong. Not every verification that fails gets as far.
    pub fn contradicts_reference(&self) -> bool {
        let cause = self.step(Step::Verify).and_then(|outcome| outcome.cause.as_ref());
        cause.is_some_and(|cause| cause.kind == CauseKind::WrongResult)
    }

    /// The first step of the way that failed.
    pub fn failure(&self) -> Option<&StepOutcome> {
        self.steps.iter().find(|outcome| outcome.step.is_on_the_way() && outcome.state == State::Failed)
    }

    /// The last step of the way that passed.
    pub fn reached(&self) -> Option<Step> {
        let passed = self.steps.iter().filter(|outcome| outcome.step.is_on_the_way() && outcome.state == State::Passed);
        passed.map(|outcome| outcome.step).max()
    }
}
