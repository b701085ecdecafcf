//! What `lock`, `undo` and `apply` say.

use aicore::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use space::{Configuration, Value};

use crate::checks::{CheckFinding, Verdict};

/// A tunable as it is locked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockedSetting {
    /// Name.
    pub name: String,
    /// Value that is locked.
    pub value: Value,
    /// Value before it was tuned; nothing where the lock does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The CMake cache entry that it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmake: Option<String>,
}

/// A rewrite that is locked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockedStep {
    /// Id in the catalogue; several joined by `+`.
    pub motif: String,
    /// What it did, one line.
    pub title: String,
    /// Latency before over latency after; nothing where the lock does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
}

/// A case as it is locked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockedTime {
    /// Name of the case.
    pub name: String,
    /// Latency of the operator that the run began with, in microseconds.
    pub baseline_us: f64,
    /// Latency that is locked, in microseconds.
    pub tuned_us: f64,
    /// Standard deviation of a launch in thousandths of the median, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_permille: Option<u64>,
    /// Launches, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u64>,
    /// What it weighs among the cases, in thousandths, where that is not 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_permille: Option<u64>,
    /// The best latency that was seen for it, in microseconds, where another candidate than the one that is locked had that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_us: Option<f64>,
    /// Values of the tunables that this candidate had otherwise.
    #[serde(default, skip_serializing_if = "Configuration::is_empty")]
    pub alone_with: Configuration,
}

/// How the winner did on cases that the search never saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockedProbes {
    /// Geometric mean of the speed-ups.
    pub speedup: f64,
    /// The least speed-up.
    pub worst: f64,
    /// The probe that has it.
    pub worst_name: String,
    /// Their names.
    pub names: Vec<String>,
}

/// Result of `lock show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockShown {
    /// Path of the lock file.
    pub lock: String,
    /// Version of its format.
    pub version: u32,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// Operator.
    pub operator: String,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name and version.
    pub machine: String,
    /// What was measured on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Seed of the search.
    pub seed: u64,
    /// Speed-up that the lock claims; nothing where it claims none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// Tunables by name.
    pub settings: Vec<LockedSetting>,
    /// Rewrites in their order.
    pub steps: Vec<LockedStep>,
    /// Cases by name.
    pub cases: Vec<LockedTime>,
    /// How it did on probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<LockedProbes>,
    /// Hazards that the operator had and still has, one sentence each.
    pub known: Vec<String>,
    /// Outputs that are not what the operator's definition gives, one sentence each.
    pub departures: Vec<String>,
    /// Files whose digests are locked: sources, then what they include.
    pub files: Vec<String>,
    /// What was taken over without a run, oldest first, one sentence each.
    pub accepted: Vec<String>,
    /// Entries of other chips, as `--soc` names them, with what they claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// What two locks differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LockTopic {
    /// Operator, origin, seed, machine description, device, version of the tool or of the format.
    Circumstance,
    /// Value of a tunable.
    Setting,
    /// Latency of a case.
    Latency,
    /// Outputs of a case.
    Output,
    /// A rewrite.
    Step,
    /// Speed-up that is claimed, or seen on probes.
    Claim,
    /// A hazard or departure that is known.
    Known,
    /// A source, an included file or the manifest.
    File,
}

impl LockTopic {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            LockTopic::Circumstance => "circumstance",
            LockTopic::Setting => "setting",
            LockTopic::Latency => "latency",
            LockTopic::Output => "output",
            LockTopic::Step => "step",
            LockTopic::Claim => "claim",
            LockTopic::Known => "known",
            LockTopic::File => "file",
        }
    }
}

/// One thing that two locks differ in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockDifference {
    /// What it is about.
    pub topic: LockTopic,
    /// Which of them: a tunable, a case, a file.
    pub name: String,
    /// As it was; nothing where it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// As it is; nothing where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Latency after over latency before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

/// Result of `lock diff`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockDiff {
    /// The earlier lock: a file, or a revision of git with a file.
    pub before: String,
    /// The later one.
    pub after: String,
    /// What they differ in, by topic.
    pub differences: Vec<LockDifference>,
}

/// Result of `lock verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockVerified {
    /// Path of the lock file.
    pub lock: String,
    /// Operator.
    pub operator: String,
    /// What the digests say.
    pub verdict: Verdict,
    /// What speaks against it.
    pub findings: Vec<CheckFinding>,
    /// What was compared, and so what the verdict is about, one sentence.
    pub proves: String,
    /// What was not looked at, one sentence.
    pub leaves_open: String,
}

/// Result of `lock migrate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockMigrated {
    /// Path of the lock file.
    pub lock: String,
    /// Version that was read.
    pub from: u32,
    /// Version that this tool writes.
    pub to: u32,
    /// Whether the file was written; what is up to date is not.
    pub written: bool,
    /// What became of it, one sentence each.
    pub changes: Vec<String>,
}

/// A step of a recorded result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedStep {
    /// Number, from 1, that `apply --only` takes.
    pub number: usize,
    /// Catalogue id of a rewrite; nothing for the value of a tunable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motif: Option<String>,
    /// What it does, one line.
    pub title: String,
    /// Latency before over latency after; nothing where several steps were tried at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Whether it stands without the others.
    pub alone: bool,
    /// Whether the sources have it now.
    pub applied: bool,
}

/// Result of `undo` and of `apply`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// `undo` or `apply`.
    pub action: String,
    /// Operator.
    pub operator: String,
    /// Files that have another text now, or would have.
    pub files: Vec<String>,
    /// Files that are gone now, or would be: a lock that was not there before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether they were written; `--dry-run` only shows.
    pub written: bool,
    /// Steps of the recorded result.
    pub steps: Vec<RecordedStep>,
    /// What is left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
