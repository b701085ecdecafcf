//! What happens while a command runs.

use aicore::{Limiter, Origin};
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use space::Configuration;

use crate::ablation::{AblationReport, Trial};
use crate::fidelity::{Calibration, Report};
use crate::repair::Repair;
use crate::replay::{ReplayReport, SettingsReport, SpaceResult};
use crate::survey;
use crate::taken_back::TakenBack;
use crate::{
    Bank, Build, Check, CheckSummary, Comparison, Devices, Doctor, Init, InitsDone, KernelTest, KernelTestSummary,
    LockDiff, LockMigrated, LockShown, LockUpdate, LockVerified, ModelError, OperatorsDone, ProfileEvent, Restored,
    Rewind, RunComparison, Summary, Written,
};

/// Version of the event format, carried by the first event.
pub const FORMAT: u32 = 1;

/// The stage of the loop that made a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Search over tunables.
    Host,
    /// Rewriting of kernel sources.
    Kernel,
}

impl Stage {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Host => "host",
            Stage::Kernel => "kernel",
        }
    }
}

/// What became of a candidate. Every kind but `valid` is a rejection that keeps its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Right on all cases; its latencies count.
    Valid,
    /// A constraint of the space or the tiling function refuses it.
    Infeasible,
    /// An edit could not be applied to the sources.
    PatchFailed,
    /// It does not compile or link.
    BuildFailed,
    /// It crashed or ended with an error.
    RunFailed,
    /// It went over a limit of the worker: time, memory, file size.
    LimitExceeded,
    /// Outputs differ from the reference by more than the tolerance.
    WrongOutput,
    /// Outputs agree, but the run shows a hazard.
    Hazard,
}

impl Status {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Status::Valid => "valid",
            Status::Infeasible => "infeasible",
            Status::PatchFailed => "patch failed",
            Status::BuildFailed => "build failed",
            Status::RunFailed => "run failed",
            Status::LimitExceeded => "limit exceeded",
            Status::WrongOutput => "wrong output",
            Status::Hazard => "hazard",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// First event of every command.
    Start(Start),
    /// The simulator's SDK was found or built.
    Sdk(Sdk),
    /// What is measured on.
    Devices(Devices),
    /// How far the model was off from what was measured.
    ModelError(ModelError),
    /// A step of a command that takes long enough to be told.
    Progress(Progress),
    /// The unmodified operator was verified and timed.
    Baseline(Baseline),
    /// Something was mended in the operator before it is tuned.
    Repair(Box<Repair>),
    /// A candidate was evaluated.
    Evaluation(Evaluation),
    /// A candidate is the best so far.
    Improvement(Improvement),
    /// The loop goes to the other stage.
    StageSwitch(StageSwitch),
    /// A step of the best candidate was taken back.
    TakenBack(TakenBack),
    /// Something the user should know that stops nothing.
    Warning(Warning),
    /// The command failed; the exit status says in which way.
    Error(Failure),
    /// One kernel launch explained.
    Profile(Box<ProfileEvent>),
    /// Result of `check`.
    Check(Check),
    /// Result of `check` of many operators, and of `check --drift`.
    Checks(CheckSummary),
    /// Result of `run`, `profile` and `build` of several operators, after the results of each.
    OperatorsDone(OperatorsDone),
    /// Result of `compare`.
    Comparison(Comparison),
    /// Result of `report --compare`.
    RunComparison(Box<RunComparison>),
    /// Result of `lock` and of `lock accept`.
    Lock(LockUpdate),
    /// Result of `lock show`.
    LockShown(Box<LockShown>),
    /// Result of `lock diff`.
    LockDiff(LockDiff),
    /// Result of `lock verify`.
    LockVerified(LockVerified),
    /// Result of `lock migrate`.
    LockMigrated(LockMigrated),
    /// Result of `undo` and of `apply`.
    Restored(Restored),
    /// Result of `build`.
    Build(Build),
    /// Result of `init`.
    Init(Init),
    /// Result of `init` of several operators, after the results of each.
    Inits(InitsDone),
    /// Files that were written beside.
    Written(Written),
    /// Result of `doctor`.
    Doctor(Doctor),
    /// Result of `rewind`.
    Rewind(Rewind),
    /// One kernel unit test.
    KernelTest(Box<KernelTest>),
    /// Result of `test`.
    KernelTestSummary(KernelTestSummary),
    /// Result of `bank`.
    Bank(Bank),
    /// One operator of `survey`, as soon as it was tried.
    Surveyed(Box<survey::Surveyed>),
    /// Result of `survey`.
    Survey(survey::Summary),
    /// Result of `calibrate`.
    Calibration(Box<Calibration>),
    /// Result of `fidelity`.
    Fidelity(Box<Report>),
    /// One space of `replay`, as soon as it is done.
    ReplayedSpace(Box<SpaceResult>),
    /// Result of `replay`.
    Replay(Box<ReplayReport>),
    /// Result of `replay --search-settings`.
    ReplaySettings(Box<SettingsReport>),
    /// One run of `ablation`, as soon as it is done.
    AblationTrial(Box<Trial>),
    /// Result of `ablation`.
    Ablation(Box<AblationReport>),
    /// One case of `doors`.
    Doors(Box<Doors>),
    /// Result of `run`, its last event.
    Summary(Box<Summary>),
}

/// The JSON schema of one line, made from the types that write it.
pub fn schema() -> Schema {
    let mut schema = schema_for!(Event);
    schema.insert("title".to_owned(), format!("event of cargo ascend-tune, format {FORMAT}").into());
    schema
}

/// First event of every command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the tool.
    pub version: String,
    /// Command: `run`, `check`, ...
    pub command: String,
    /// Operator, where one was found already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Project directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Backend: `sim`, `recorded`, `cann`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Why that one, where it was chosen and not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_because: Option<String>,
    /// Machine description by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Version of the machine description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_version: Option<String>,
    /// Where latencies of this command come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Seed of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Evaluations that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Evaluations taken over from the journal of an earlier run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
}

impl Start {
    /// The first event of a command; what is known about the operator is filled in by the caller.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.into(),
            operator: None,
            project: None,
            backend: None,
            backend_because: None,
            machine: None,
            machine_version: None,
            origin: None,
            seed: None,
            budget: None,
            resumed: None,
        }
    }
}

/// How the SDK came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SdkStatus {
    /// Compiled now.
    Built,
    /// Found in the cache.
    Cached,
}

/// The simulator's SDK was found or built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sdk {
    /// How it came to be there.
    pub status: SdkStatus,
    /// Where it is.
    pub path: String,
    /// Compiler that built it.
    pub compiler: String,
    /// Seconds that took.
    pub wall_s: f64,
}

/// What a command does now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// It in words.
    pub step: String,
}

/// A case with one latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseTime {
    /// Name of the case.
    pub name: String,
    /// Task duration in microseconds.
    pub us: f64,
}

/// A case of the unmodified operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineCase {
    /// Name of the case.
    pub name: String,
    /// Task duration in microseconds.
    pub us: f64,
    /// Lower bound in microseconds; 0, and not written, where the time is measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bound_us: f64,
    /// What gives the bound by the model.
    pub limiter: Limiter,
}

/// Serde hands the field over by reference.
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The unmodified operator was verified and timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Operator.
    pub operator: String,
    /// Timed cases.
    pub cases: Vec<BaselineCase>,
    /// Weighted geometric mean of the latencies, in microseconds: the number minimised.
    pub objective_us: f64,
}

/// A large case of a quick trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseBlocks {
    /// Name of the case.
    pub case: String,
    /// Its blocks that ran with data.
    #[serde(flatten)]
    pub ran: BlocksRun,
}

/// Blocks that ran with data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlocksRun {
    /// Those that stand for all.
    Sampled {
        /// How many they are.
        blocks: u32,
        /// Blocks of the launch.
        of: u32,
    },
    /// Every one.
    All {
        /// Why.
        reason: String,
    },
}

/// A candidate was evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Number of the evaluation, from 1.
    pub index: u64,
    /// Digest of sources, patches and configuration.
    pub candidate: String,
    /// Stage that made it.
    pub stage: Stage,
    /// Values of the tunables.
    pub configuration: Configuration,
    /// Catalogue id of the motif tried, in the kernel stage.
    pub motif: Option<String>,
    /// What became of it.
    pub status: Status,
    /// Why it was rejected.
    pub reason: Option<String>,
    /// Latencies of the cases that ran.
    pub cases: Vec<CaseTime>,
    /// Weighted geometric mean of the latencies, in microseconds; nothing for a rejected candidate.
    pub objective_us: Option<f64>,
    /// Whether the objective is an estimate from the cases that ran: they were so slow that the others were not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Large cases: which of their blocks ran with data in the trial that ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<CaseBlocks>,
    /// Standard error of the latencies as a share of them, where they come of a duel with the best candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Best speed-up so far over the baseline, this candidate included.
    pub speedup: f64,
    /// Whether it cost nothing, because it had been evaluated before.
    pub cached: bool,
}

/// A candidate is the best so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Improvement {
    /// Number of the evaluation.
    pub index: u64,
    /// Digest of the candidate.
    pub candidate: String,
    /// Stage that made it.
    pub stage: Stage,
    /// Its objective in microseconds.
    pub objective_us: f64,
    /// Speed-up over the baseline.
    pub speedup: f64,
    /// What changed against the best before, one line.
    pub change: String,
}

/// The loop goes to the other stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageSwitch {
    /// Stage that ends.
    pub from: Option<Stage>,
    /// Stage that begins.
    pub to: Stage,
    /// Why.
    pub reason: String,
}

/// Something the user should know that stops nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Kebab-case name of the kind of warning.
    pub code: String,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// One case of an operator built against two sets of headers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Doors {
    /// Case.
    pub case: String,
    /// What differs between the outputs; empty when they are the same bit by bit.
    pub outputs: Vec<String>,
    /// Error hazards of either run, with the headers that show them: outputs of such runs prove nothing, equal or not.
    pub hazards: Vec<String>,
    /// Instructions of the core that move or compute, with the embedded headers.
    pub own_steps: u64,
    /// The same with the toolkit's headers.
    pub toolkit_steps: u64,
    /// Instructions in which the two differ.
    pub differences: u64,
    /// The first of them.
    pub first: Vec<DoorsDifference>,
}

/// An instruction that two builds do not share. One side is absent where the other has one more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoorsDifference {
    /// With the embedded headers.
    pub own: Option<DoorStep>,
    /// With the toolkit's headers.
    pub toolkit: Option<DoorStep>,
}

/// An instruction of one build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoorStep {
    /// Position among the core's instructions that move or compute, from 0.
    pub number: u64,
    /// Instruction and operands.
    pub what: String,
    /// Source file, relative to the operator's root; empty if unknown.
    pub file: String,
    /// Its line; 0 if unknown.
    pub line: u32,
}

/// The command failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What went wrong, causes after colons.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Exit status of the process.
    pub exit: u8,
}
