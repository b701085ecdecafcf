//! Results: the events that commands end with, and what these are made of.

use std::collections::BTreeMap;

use aicore::{HazardKind, Limiter, Origin, PathPart, PipeTimes, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use space::Configuration;

use crate::KnownHazard;
use crate::taken_back::TakenBack;

/// A hazard with the line of the kernel that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HazardReport {
    /// Kind.
    pub kind: HazardKind,
    /// File, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
    /// What happened and what would order it.
    pub message: String,
    /// Whether it rejects a candidate.
    pub severity: Severity,
}

/// What a kernel unit test says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum TestVerdict {
    /// It looked at the results and found them right.
    Right,
    /// It found something wrong.
    Wrong {
        /// What.
        what: String,
    },
    /// The kernel ran, and nothing looked at its results.
    RanOnly,
    /// The test could not be run as it is: its data or comparison needs something that is not here, or it skipped itself.
    NotRunnable {
        /// Why.
        why: String,
    },
}

/// One kernel unit test that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelTest {
    /// Name of the test.
    pub name: String,
    /// What it says.
    pub verdict: TestVerdict,
    /// Hazards of its launches.
    pub hazards: Vec<HazardReport>,
}

/// Result of `test`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelTestSummary {
    /// Operator.
    pub operator: String,
    /// Tests that looked at results and found them right, without a hazard.
    pub right: u32,
    /// Tests that found something wrong.
    pub wrong: u32,
    /// Tests that found nothing wrong, but whose launches show a hazard.
    pub hazardous: u32,
    /// Tests that ran the kernel and looked at nothing.
    pub ran_only: u32,
    /// Tests that need what is not here.
    pub not_runnable: u32,
}

impl KernelTestSummary {
    /// Counts a test.
    pub fn add(&mut self, verdict: &TestVerdict, hazardous: bool) {
        let count = match verdict {
            _ if hazardous => &mut self.hazardous,
            TestVerdict::Right => &mut self.right,
            TestVerdict::Wrong { .. } => &mut self.wrong,
            TestVerdict::RanOnly => &mut self.ran_only,
            TestVerdict::NotRunnable { .. } => &mut self.not_runnable,
        };
        *count += 1;
    }

    /// All tests.
    pub fn total(&self) -> u32 {
        self.right + self.wrong + self.hazardous + self.ran_only + self.not_runnable
    }
}

/// Time that a pipe lost to one reason, with the line that waited longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StallReport {
    /// Pipe that waited: `s`, `v`, `mte2`, `mte3`.
    pub pipe: String,
    /// What it waited for.
    pub reason: String,
    /// Microseconds, mean over cores that ran.
    pub time_us: f64,
    /// File, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
}

/// A contributor to the critical path of the longest core, by source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathReport {
    /// Pipe: `s`, `v`, `mte2`, `mte3`, `mte1`, `m`, `fix`.
    pub pipe: String,
    /// What the time is spent on.
    pub part: PathPart,
    /// Instruction, empty if there is none.
    pub opcode: String,
    /// Microseconds of the path. All contributors together are the longest core's time.
    pub time_us: f64,
    /// Share of the path, from 0 to 1.
    pub share: f64,
    /// How often the path passes it.
    pub count: u64,
    /// How the path mostly leaves the pipe from here, such as `flag mte2->v`; empty at its end.
    pub via: String,
    /// File, empty if unknown.
    pub file: String,
    /// Line, 0 if unknown.
    pub line: u32,
}

/// One kernel launch explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileEvent {
    /// Operator.
    pub operator: String,
    /// Case.
    pub case: String,
    /// Kernel as launched.
    pub kernel: String,
    /// Number of the launch within the case, from 0.
    pub launch: u32,
    /// Task duration in microseconds.
    pub task_us: f64,
    /// Median of so many measured launches, where it was measured; its modelled profile follows as another event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Standard deviation of one of them as a share of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Lower bound in microseconds, by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_us: Option<f64>,
    /// What gives the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limiter: Option<Limiter>,
    /// Busy time per pipe, mean over cores that ran; nothing where no profiler told a measured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipes: Option<PipeTimes>,
    /// Cores that ran.
    pub cores: u32,
    /// Duration of the longest core in microseconds; nothing where no profiler told a measured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_core_us: Option<f64>,
    /// Bytes read from global memory.
    pub gm_read_bytes: u64,
    /// Bytes written to global memory.
    pub gm_write_bytes: u64,
    /// Why pipes waited, largest first.
    pub stalls: Vec<StallReport>,
    /// Critical path of the longest core, largest contributor first; empty if a block hangs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_path: Vec<PathReport>,
    /// Hazards seen.
    pub hazards: Vec<HazardReport>,
    /// Whether the launch is hazard-free and its outputs passed the check named in `checked`.
    pub correct: Option<bool>,
    /// Why it is not right; empty where it is, and where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wrong: String,
    /// What the outputs were checked against; empty if they were not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub checked: String,
    /// Whether the launch was timed without data: then its outputs were neither computed nor compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timing_only: bool,
    /// A published latency of the same kernel and shape, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_us: Option<f64>,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
}

/// Result of `build`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Operator.
    pub operator: String,
    /// Files made.
    pub artifacts: Vec<String>,
    /// Values of the tunables that were built.
    pub configuration: Configuration,
    /// Whether the values come from the lock.
    pub locked: bool,
    /// Seconds that took.
    pub wall_s: f64,
}

/// Result of `init`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Init {
    /// Operator.
    pub operator: String,
    /// Shape of the project in words.
    pub layout: String,
    /// The manifest.
    pub manifest: String,
    /// Whether it was written; `--dry-run` only shows.
    pub written: bool,
    /// Names of the cases.
    pub cases: Vec<String>,
    /// Names of the tunables found.
    pub tunables: Vec<String>,
    /// Cases that the tiling function accepts and that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_cases: usize,
    /// Cases that it refuses, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Cases at which the operator is at fault, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Cases at which they or the operator are at fault, with the reason: calls that nobody wrote, or data that may mean something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<String>,
}

/// Files that a command has written for others to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// Their paths.
    pub files: Vec<String>,
    /// Whether they were written; `--dry-run` only shows.
    pub written: bool,
    /// What is left to do by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What a check of `doctor` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// There and usable.
    Found,
    /// Not there, and the tool works without.
    Absent,
    /// Not there or not usable, and needed.
    Missing,
}

/// One check of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// Kebab-case name.
    pub name: String,
    /// What was found.
    pub state: CheckState,
    /// Version, place or reason.
    pub detail: String,
    /// How to get it.
    pub fix: Option<String>,
}

/// Result of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Whether everything needed is there.
    pub ok: bool,
    /// The checks, in a fixed order.
    pub checks: Vec<DoctorCheck>,
}

/// One case of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryCase {
    /// Name of the case.
    pub name: String,
    /// Latency before, in microseconds.
    pub baseline_us: f64,
    /// Latency of the winner, in microseconds.
    pub best_us: f64,
    /// Before over after.
    pub speedup: f64,
    /// Lower bound of the winner in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_us: Option<f64>,
    /// What gives the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limiter: Option<Limiter>,
}

/// What one stage spent and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageSummary {
    /// Evaluations spent.
    pub evaluations: u64,
    /// Product of the improvements it found, as a factor: 1 is none.
    pub gain: f64,
}

/// Both stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stages {
    /// Search over tunables.
    pub host: StageSummary,
    /// Rewriting of kernel sources.
    pub kernel: StageSummary,
}

/// How the quick trials of a large case ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampledCase {
    /// Name of the case.
    pub name: String,
    /// Blocks that stood for all in the latest sampled trial.
    pub blocks: u32,
    /// Blocks of its launch.
    pub of: u32,
    /// Trials that ran only blocks that stand for all.
    pub sampled: u64,
    /// Trials that ran every block because none could be shown to stand for others.
    pub whole: u64,
    /// Why the latest of these did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Result of `run`, its last event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Operator.
    pub operator: String,
    /// Timed cases in manifest order.
    pub cases: Vec<SummaryCase>,
    /// Weighted geometric mean of the cases' speed-ups.
    pub speedup: f64,
    /// What may be claimed: the same, or the speed-up on probes where that is less.
    #[serde(default = "as_fast")]
    pub claimed: f64,
    /// Standard error of the speed-up as a share of it, where times differ from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Evaluations spent.
    pub evaluations: u64,
    /// How many of them were rejected.
    pub rejected: u64,
    /// Seconds that the run took.
    pub wall_s: f64,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
    /// What each stage spent and brought.
    pub stages: Stages,
    /// Path of the lock file; nothing if none was written.
    pub lock: Option<String>,
    /// Path of the HTML report; nothing if none was written.
    pub report: Option<String>,
    /// Values of the tunables that won.
    pub configuration: Configuration,
    /// Catalogue ids of the motifs that won, in order of application.
    pub motifs: Vec<String>,
    /// Large cases: how many of their blocks ran with data in trials that rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<SampledCase>,
    /// Hazards that the operator had before the run; the result has no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownHazard>,
    /// Rejections by status word.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejections: BTreeMap<String, u64>,
    /// How the winner does on cases that the search never saw; nothing where there was no winner to try or no case to be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<Generalisation>,
    /// Steps of winners that were taken back, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<TakenBack>,
    /// Evaluations beside the budget: of the winner without one of its steps.
    #[serde(default)]
    pub beyond: u64,
    /// What was asked of a language model, and what it cost; nothing in a run without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
}

/// What a run has asked of a language model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUse {
    /// Who was asked: host, or the name of a recording.
    pub asked: String,
    /// Questions that were answered.
    pub answers: u64,
    /// Questions that were not.
    pub failures: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub answer_tokens: u64,
    /// Seconds of answering.
    pub seconds: f64,
    /// Money, in the currency of the manifest's prices; 0 without prices.
    pub money: f64,
    /// Evaluations of what it proposed.
    pub evaluations: u64,
    /// Why no further question was asked, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Tiling functions that it wrote, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<TilingVersion>,
}

/// A tiling function that a language model wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TilingVersion {
    /// Name of its proposal.
    pub name: String,
    /// What it does otherwise.
    pub title: String,
    /// The one that it came of; none for the function as it stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Island, from 0.
    pub island: u32,
    /// Generation, from 1.
    pub generation: u32,
    /// Time of the operator as it was over that with it, where it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// What became of it.
    pub outcome: String,
}

/// How a winner does on probes: cases that the search never saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generalisation {
    /// Seed that they were drawn by.
    pub seed: u64,
    /// The probes in their order.
    pub probes: Vec<ProbeResult>,
    /// Geometric mean of the speed-ups of those of other sizes.
    pub speedup: f64,
    /// Whether there are none: what has the tensors of a case says nothing of other sizes, and `speedup` is 1 for want of a figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Probes at which the operator as it was has hazards; the winner has no others there.
    #[serde(default)]
    pub at_fault: u64,
    /// Probes at which the operator as it was crashes, hangs or does not build: nothing can be compared there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faulty: Vec<String>,
    /// Probes that an earlier winner did not hold on, and that the search went on with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
    /// Probes that were timed with the cases from some moment on, because these flattered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub representing: Vec<String>,
}

fn as_fast() -> f64 {
    1.0
}

impl Generalisation {
    /// The probe with the least speed-up.
    pub fn worst(&self) -> Option<&ProbeResult> {
        self.probes.iter().min_by(|left, right| left.speedup.total_cmp(&right.speedup))
    }
}

/// One probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeResult {
    /// Its name: what it is for, dtype and shape of the first input.
    pub name: String,
    /// Time before over time now.
    pub speedup: f64,
    /// Whether outputs were compared, or it was only timed and judged.
    pub compared: bool,
}
