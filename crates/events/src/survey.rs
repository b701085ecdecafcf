//! What `survey` says: about one operator, and over all of them.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TestVerdict;
pub use crate::witness::{Says, Testimony, Witness, WitnessCounts};

/// The way of an operator through the tool, in order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum SurveyStep {
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
    /// Outputs against references that are not the operator.
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

impl SurveyStep {
    /// All steps of the way in order. Own tests are beside it: they stop nothing and an operator need not have any.
    pub const ALL: [SurveyStep; 7] = [
        SurveyStep::Discover,
        SurveyStep::Host,
        SurveyStep::Tiling,
        SurveyStep::Kernel,
        SurveyStep::Run,
        SurveyStep::Verify,
        SurveyStep::Hazards,
    ];

    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            SurveyStep::Discover => "discover",
            SurveyStep::Host => "host",
            SurveyStep::Tiling => "tiling",
            SurveyStep::Kernel => "kernel",
            SurveyStep::Run => "run",
            SurveyStep::Verify => "verify",
            SurveyStep::Hazards => "hazards",
            SurveyStep::TilingTests => "tiling-tests",
            SurveyStep::KernelTests => "kernel-tests",
        }
    }

    /// Whether it is one of [`SurveyStep::ALL`].
    pub fn is_on_the_way(self) -> bool {
        self < SurveyStep::TilingTests
    }
}

impl fmt::Display for SurveyStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// How a step ended. A step that could not be judged is not a step that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// Two references contradict each other.
    WitnessesDisagree,
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
            CauseKind::WitnessesDisagree => "witnesses disagree",
            CauseKind::Machine => "this machine",
        }
    }
}

/// The first thing that was in the way: what operators are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepOutcome {
    /// Step.
    pub step: SurveyStep,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `op_host/` and `op_kernel/`, on its own or in a repository.
    Framework,
    /// A program that launches its kernels with `<<<>>>`.
    DirectLaunch,
}

/// Everything a survey says about one operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Surveyed {
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
    /// What each reference says of the outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<Testimony>,
    /// The operator's own tiling unit tests, where they were run and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiling_tests: Option<TilingTestCounts>,
    /// The operator's own kernel unit tests, where they were run and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_tests: Option<KernelTestCounts>,
    /// Wall time in seconds.
    pub wall_s: f64,
}

impl Surveyed {
    /// The outcome of a step, if it was tried.
    pub fn step(&self, step: SurveyStep) -> Option<&StepOutcome> {
        self.steps.iter().find(|outcome| outcome.step == step)
    }

    /// State of a step, if it was tried.
    pub fn state(&self, step: SurveyStep) -> Option<State> {
        self.step(step).map(|outcome| outcome.state)
    }

    /// Whether a step was tried and passed.
    pub fn passed(&self, step: SurveyStep) -> bool {
        self.state(step) == Some(State::Passed)
    }

    /// Whether the outputs are not known to be wrong, but have bytes that nobody wrote or that depend on such bytes.
    pub fn stopped_by_unwritten_bytes(&self) -> bool {
        let cause = self.step(SurveyStep::Verify).and_then(|outcome| outcome.cause.as_ref());
        cause.is_some_and(|cause| matches!(cause.kind, CauseKind::UnwrittenOutput | CauseKind::UnstableResult))
    }

    /// Whether a reference says that the outputs are wrong. Not every verification that fails gets as far.
    pub fn contradicts_reference(&self) -> bool {
        let cause = self.step(SurveyStep::Verify).and_then(|outcome| outcome.cause.as_ref());
        cause.is_some_and(|cause| cause.kind == CauseKind::WrongResult)
    }

    /// The first step of the way that failed.
    pub fn failure(&self) -> Option<&StepOutcome> {
        self.steps.iter().find(|outcome| outcome.step.is_on_the_way() && outcome.state == State::Failed)
    }

    /// The last step of the way that passed.
    pub fn reached(&self) -> Option<SurveyStep> {
        let passed = self.steps.iter().filter(|outcome| outcome.step.is_on_the_way() && outcome.state == State::Passed);
        passed.map(|outcome| outcome.step).max()
    }
}

/// Tiling unit tests of an operator, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TilingTestCounts {
    /// Tests whose expectations all hold.
    pub agree: u32,
    /// Tests with an expectation that does not hold, or that crashed.
    pub differ: u32,
    /// Tests that name another chip or architecture themselves, or skip themselves.
    pub other_machine: u32,
    /// Tests that name no chip, fail on ours and hold on another: not counted as agreement.
    pub held_elsewhere: u32,
    /// Test files that do not compile here.
    pub not_built: u32,
}

impl TilingTestCounts {
    /// Tests that could be compared.
    pub fn compared(&self) -> u32 {
        self.agree + self.differ
    }

    /// Whether every test for this machine agrees, and there is one.
    pub fn all_agree(&self) -> bool {
        self.agree > 0 && self.differ == 0 && self.not_built == 0
    }
}

/// Kernel unit tests of an operator, by their verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelTestCounts {
    /// They looked at results and found them right.
    pub right: u32,
    /// They found something wrong.
    pub wrong: u32,
    /// The kernel ran, and nothing looked at its results.
    pub ran_only: u32,
    /// They need something that is not here, or skip themselves.
    pub not_runnable: u32,
    /// Their program does not compile, or could not be run.
    pub not_built: bool,
}

impl KernelTestCounts {
    /// Counts one.
    pub fn add(&mut self, verdict: &TestVerdict) {
        match verdict {
            TestVerdict::Right => self.right += 1,
            TestVerdict::Wrong { .. } => self.wrong += 1,
            TestVerdict::RanOnly => self.ran_only += 1,
            TestVerdict::NotRunnable { .. } => self.not_runnable += 1,
        }
    }
}

/// Own tests of many operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestTotals {
    /// Operators whose tiling tests were run.
    pub tiling_operators: u32,
    /// Those of them that have a test for this machine, or one that does not build.
    pub tiling_judged: u32,
    /// Those of them with nothing but agreement.
    pub tiling_agreeing: u32,
    /// Their tests, summed.
    pub tiling: TilingTestCounts,
    /// Operators whose kernel tests were run.
    pub kernel_operators: u32,
    /// Those of them whose tests do not build.
    pub kernel_not_built: u32,
    /// Their tests, summed; `not_built` says nothing here.
    pub kernel: KernelTestCounts,
}

impl TestTotals {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.tiling_operators + self.kernel_operators == 0
    }

    /// Counts the tests of an operator.
    pub fn add(&mut self, outcome: &Surveyed) {
        if let Some(counts) = &outcome.tiling_tests {
            self.tiling_operators += 1;
            self.tiling_judged += u32::from(counts.compared() + counts.not_built > 0);
            self.tiling_agreeing += u32::from(counts.all_agree());
            self.tiling.agree += counts.agree;
            self.tiling.differ += counts.differ;
            self.tiling.other_machine += counts.other_machine;
            self.tiling.held_elsewhere += counts.held_elsewhere;
            self.tiling.not_built += counts.not_built;
        }
        if let Some(counts) = &outcome.kernel_tests {
            self.kernel_operators += 1;
            self.kernel_not_built += u32::from(counts.not_built);
            self.kernel.right += counts.right;
            self.kernel.wrong += counts.wrong;
            self.kernel.ran_only += counts.ran_only;
            self.kernel.not_runnable += counts.not_runnable;
        }
    }

    /// What every output heads the columns of [`TestTotals::cells`] with.
    pub const COLUMNS: [&'static str; 12] = [
        "tiling tests of",
        "agree fully",
        "tests agree",
        "differ",
        "other chip",
        "hold only elsewhere",
        "files not built",
        "kernel tests of",
        "right",
        "wrong",
        "ran only",
        "not runnable",
    ];

    /// The figures, in the order of [`TestTotals::COLUMNS`]: operators for `... of` and `agree fully`, else tests.
    pub fn cells(&self) -> [String; 12] {
        let kernel_operators = match self.kernel_not_built {
            0 => self.kernel_operators.to_string(),
            count => format!("{} ({count} not built)", self.kernel_operators),
        };
        let agreeing = match self.tiling_judged {
            0 => "-".to_owned(),
            all => format!("{} of {all}", self.tiling_agreeing),
        };
        [
            self.tiling_operators.to_string(),
            agreeing,
            self.tiling.agree.to_string(),
            self.tiling.differ.to_string(),
            self.tiling.other_machine.to_string(),
            self.tiling.held_elsewhere.to_string(),
            self.tiling.not_built.to_string(),
            kernel_operators,
            self.kernel.right.to_string(),
            self.kernel.wrong.to_string(),
            self.kernel.ran_only.to_string(),
            self.kernel.not_runnable.to_string(),
        ]
    }
}

/// Counts of one repository and class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Repository; empty for the sum over all.
    pub repository: String,
    /// `vector`, `mix`, or empty for both.
    pub class: String,
    /// Operators tried.
    pub operators: u32,
    /// Operators that passed each step, by its name.
    pub passed: BTreeMap<String, u32>,
    /// Outputs that a reference confirms.
    pub right: u32,
    /// Outputs that contradict a reference.
    pub wrong: u32,
    /// Outputs with bytes that stay unwritten or that depend on unwritten memory: a defect, or a case whose data the operator
    /// was not made for.
    #[serde(default)]
    pub unwritten: u32,
    /// Operators that ran and whose outputs nothing confirmed or contradicted.
    pub unknown: u32,
    /// Operators that ran and have no hazard.
    pub clean: u32,
    /// Verdicts by witness.
    #[serde(default)]
    pub witnesses: WitnessCounts,
    /// The operators' own unit tests; all zero where they were not run.
    #[serde(default)]
    pub tests: TestTotals,
}

impl Row {
    /// Operators that passed a step.
    pub fn passed(&self, step: SurveyStep) -> u32 {
        self.passed.get(step.word()).copied().unwrap_or(0)
    }
}

/// Operators that were stopped by the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Step that failed.
    pub step: SurveyStep,
    /// Why.
    pub cause: Cause,
    /// Whether the step passed at a second try: on a chip with fewer cores, or with another case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed_then: bool,
    /// The message of the first operator, with its particulars.
    pub example: String,
    /// Operators, with their repositories.
    pub operators: Vec<String>,
}

impl Group {
    /// The cause, and whether it was in the way at the first try only.
    pub fn cause_text(&self) -> String {
        let then = if self.passed_then { " (ran at the second try)" } else { "" };
        format!("{}{then}", self.cause)
    }
}

/// A survey in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Counts by repository and class; the last row of each class is the sum where there are several repositories.
    pub rows: Vec<Row>,
    /// Causes, the commonest first.
    pub groups: Vec<Group>,
    /// Operators that exist only for other chips and were not tried.
    pub other_chips: u32,
    /// Operators that a sample or `--only` left out.
    pub left_out: u32,
    /// Which headers the kernels were compiled against.
    pub headers: String,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
}
